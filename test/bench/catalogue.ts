import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { appKey, catalogHeadKey } from '../../functions/catalog/keys.ts';
import { listApps } from '../../functions/catalog/list-apps.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Request } from '../../functions/platform/http/request.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { planApp } from '../catalog/entitled.ts';
import { createControlTable, startControlTable } from '../control-table.ts';
import { interleave, measureApart, quantile, report, type Row } from './measure.ts';

const ROUNDS = 60;
const WARM_UP_ROUNDS = 20;
const CALLS = 20;
const FEW = 10;
const MANY = 500;
const VERSIONS_EACH = 10;

/** Whether a page of the catalogue costs more where the catalogue is larger. In a process of its own, for the log. */
export const measureCatalogue = (): Promise<Row[]> => measureApart(import.meta.filename);

async function measure(): Promise<Row[]> {
  const table = await startControlTable({ roughness: SMOOTH });
  try {
    for (const count of [FEW, MANY]) await stock(count);
    const side =
      (count: number, query: Record<string, string> = {}) =>
      () =>
        read(count, query);
    const search = { search: 'what it does' };
    const sides = {
      few: side(FEW),
      many: side(MANY),
      searchFew: side(FEW, search),
      searchMany: side(MANY, search),
    };
    await interleave(WARM_UP_ROUNDS, sides);
    const samples = await interleave(ROUNDS, sides);
    return [
      rowOf('a page of the catalogue', samples['many'], samples['few'], 1.1),
      rowOf('a search in the catalogue', samples['searchMany'], samples['searchFew']),
    ];
  } finally {
    await table.stop();
  }
}

function rowOf(what: string, many: number[] | undefined, few: number[] | undefined, must?: number): Row {
  const ratios = many?.map((ms, round) => ms / (few?.[round] ?? Number.NaN));
  const ms = (samples: number[] | undefined): string => `${quantile(samples, 0.5).toFixed(2)} ms`;
  return {
    what: `${what}, ${MANY} apps ÷ ${FEW}`,
    value: quantile(ratios, 0.5),
    unit: '×',
    ...(must !== undefined && { must }),
    aim: 1,
    note: `${ms(many)} ÷ ${ms(few)}; ${VERSIONS_EACH} versions each`,
  };
}

const tableOf = (count: number): string => `control-${count}`;

async function stock(count: number): Promise<void> {
  const table = tableOf(count);
  await createControlTable(table);
  const versions = Object.fromEntries(
    Array.from({ length: VERSIONS_EACH }, (_, n) => [
      `1.${n}.0`,
      { status: 'staged', internal: false } as const,
    ]),
  );
  const apps = Array.from({ length: count }, () => planApp({ versions }));
  const rows = [
    // The number tells the two apart: each is fetched when a measurement begins, and kept until it ends.
    { ...catalogHeadKey(), revision: count },
    ...apps.map((app) => ({ ...appKey(app.slug), ...app })),
  ];
  for (let at = 0; at < rows.length; at += 25) {
    const puts = rows.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } }));
    await dynamo().send(new BatchWriteCommand({ RequestItems: { [table]: puts } }));
  }
}

async function read(count: number, query: Record<string, string>): Promise<number> {
  process.env['CONTROL_TABLE'] = tableOf(count);
  const call = async (): Promise<void> => {
    const { body } = await listApps.run(createContext(newId()), requestOf({ ...query, limit: String(FEW) }));
    if ((body as { items: unknown[] }).items.length !== FEW) throw new Error('The page is not full.');
  };
  await call();
  const begunMs = performance.now();
  for (let made = 0; made < CALLS; made += 1) await call();
  return (performance.now() - begunMs) / CALLS;
}

const requestOf = (query: Record<string, string>): Request => ({
  route: 'GET /api/v1/apps/catalog',
  params: {},
  query,
  bodyText: undefined,
  contentType: '',
  idempotencyKey: undefined,
  ifMatch: undefined,
  sourceIp: '',
});

if (import.meta.main) report(await measure());
