import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { type Counted, countRequests } from '../api/request-counts.ts';
import { openWorld } from '../api/world.ts';
import { measureApart, report, type Row } from './measure.ts';

/** DynamoDB requests a call, over every route. In a process of its own, for what the functions log. */
export const measureRequests = (): Promise<Row[]> => measureApart(import.meta.filename);

async function measure(): Promise<Row[]> {
  const world = await openWorld({ roughness: SMOOTH });
  try {
    return rowsOf(await countRequests(world));
  } finally {
    await world.close();
  }
}

function rowsOf(counted: Counted[]): Row[] {
  const reads = counted.filter(({ kind }) => kind === 'read');
  const reading = reads.filter(({ warm }) => warm.reads > 0);
  const commands = counted.filter(({ kind }) => kind === 'command');
  const authorized = counted.filter(({ authorization }) => authorization.cold > 0);
  const most = (each: Counted[], count: (counted: Counted) => number): number => Math.max(...each.map(count));
  const share = (reads: number): string =>
    `${commands.filter(({ warm }) => warm.reads === reads).length} with ${reads}`;
  const mostReads = most(commands, ({ warm }) => warm.reads);
  return [
    {
      what: 'DynamoDB requests of a read, at most',
      value: most(reading, ({ warm }) => warm.reads),
      unit: '',
      must: 1.2,
      aim: 1,
      note: `${reading.length} routes; ${reads.length - reading.length} more answer without any`,
    },
    {
      what: 'DynamoDB transactions of a command, at most',
      value: most(commands, ({ warm }) => warm.transactions),
      unit: '',
      must: 1.2,
      aim: 1,
      note: `${commands.length} commands`,
    },
    {
      what: 'reads of a command besides, at most',
      value: mostReads,
      unit: '',
      note: Array.from({ length: mostReads + 1 }, (_, reads) => share(reads)).join(', '),
    },
    {
      what: 'DynamoDB requests of authorization, warm, at most',
      value: most(authorized, ({ authorization }) => authorization.warm),
      unit: '',
      must: 0,
      aim: 0,
      note: `cold ${most(authorized, ({ authorization }) => authorization.cold)}; ${authorized.length} routes`,
    },
  ];
}

if (import.meta.main) report(await measure());
