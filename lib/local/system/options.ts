import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { DYNAMODB_ENGINES, type DynamoDbEngine } from '../engines/dynamodb.ts';

export interface LocalOptions {
  port: number | undefined;
  dataDir: string;
  readyFile: string;
  fresh: boolean;
  /** A cloud assembly made elsewhere; without it the CDK app of this repository is synthesized. */
  assembly: string | undefined;
  /** Left out, the data folder and the machine decide. */
  dynamodb: DynamoDbEngine | undefined;
  /** The seed of what AWS does now and then; left out, nothing of it happens. */
  rough: string | undefined;
  /** Whether this machine becomes a host of its own platform. */
  host: boolean;
  /** What the CDK app is told besides what this machine decides. */
  context: Record<string, string>;
}

export const PORT_DEFAULT = 4280;

export const USAGE = `Runs the platform on this machine.

  npm start -- [options]

  --port <n>            where to listen (default ${PORT_DEFAULT}, or a free port when that is taken)
  --data <folder>       where state is kept between starts (default .data)
  --ready-file <path>   JSON written when everything answers (default <data>/ready.json)
  --fresh               forget all state first
  --assembly <folder>   provision this cloud assembly instead of synthesizing the CDK app
  --context <name=value>
                        a context value of the CDK app, as cdk deploy -c takes it; may be given again
  --dynamodb <engine>   dynoxide (default where there is one for the machine) or aws (DynamoDB Local, needs Java)
  --rough <seed>        do what AWS does now and then: throttle, answer batches in part, show writes late in an index,
                        deliver twice; the same seed gives the same chances
  --no-host             start without making this machine a host
  --help                this text
`;

/** Reads the command line; a word it does not know is told, not ignored. */
export function parseOptions(args: string[]): LocalOptions | { help: string } | { error: string } {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: {
        port: { type: 'string' },
        data: { type: 'string', default: '.data' },
        'ready-file': { type: 'string' },
        fresh: { type: 'boolean', default: false },
        assembly: { type: 'string' },
        dynamodb: { type: 'string' },
        rough: { type: 'string' },
        'no-host': { type: 'boolean', default: false },
        context: { type: 'string', short: 'c', multiple: true, default: [] },
        help: { type: 'boolean', short: 'h', default: false },
      },
    }));
  } catch (error) {
    return { error: (error as Error).message };
  }
  if (values.help) return { help: USAGE };
  const port = values.port === undefined ? undefined : Number(values.port);
  if (port !== undefined && (!Number.isInteger(port) || port < 0 || port > 65_535)) {
    return { error: `--port takes a number from 0 to 65535 (0: any free one), not "${values.port}".` };
  }
  const dynamodb = DYNAMODB_ENGINES.find((name) => name === values.dynamodb);
  if (values.dynamodb !== undefined && dynamodb === undefined) {
    return { error: `--dynamodb takes ${DYNAMODB_ENGINES.join(' or ')}, not "${values.dynamodb}".` };
  }
  const context = values.context.map((pair) => /^([^=]+)=(.*)$/s.exec(pair)?.slice(1) ?? []);
  if (context.some((pair) => pair.length === 0)) {
    return { error: `--context takes name=value, not "${values.context.join(' ')}".` };
  }
  const dataDir = resolve(values.data);
  return {
    port,
    dataDir,
    readyFile: resolve(values['ready-file'] ?? `${dataDir}/ready.json`),
    fresh: values.fresh,
    assembly: values.assembly === undefined ? undefined : resolve(values.assembly),
    dynamodb,
    rough: values.rough,
    host: !values['no-host'],
    context: Object.fromEntries(context) as Record<string, string>,
  };
}
