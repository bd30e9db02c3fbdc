import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { handler as reactInArtifacts } from '../../functions/artifacts/react-to-events.ts';
import { findRelease } from '../../functions/catalog/keep-release.ts';
import { handler as reactInCatalog } from '../../functions/catalog/react-to-events.ts';
import type { Version } from '../../functions/catalog/version.ts';
import type { Actor } from '../../functions/platform/actor.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { type Context, createContext } from '../../functions/platform/context.ts';
import { controlTable } from '../../functions/platform/data/table.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import type { Endpoint } from '../../functions/platform/http/endpoint.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Promotion } from '../../functions/promotion/promotion.ts';
import { ROOT } from '../../lib/bundle.ts';
import type { Roughness } from '../../lib/local/wire/roughness.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startControlTable } from '../control-table.ts';
import {
  errorNamed,
  functionArn,
  openStepFunctionsWorld,
} from '../local/step-functions/step-functions-world.ts';
import { react } from '../react.ts';
import { until } from '../until.ts';

const ADMIN: Actor = { kind: 'user', id: 'an-admin', email: 'admin@example.test' };

/** The functions of each kind's machine, by the name its definition substitutes, and its sweep. */
const KINDS = {
  version: {
    PassGate: () => import('../../functions/manifests/check-version.ts'),
    RunStep: () => import('../../functions/catalog/run-promotion-step.ts'),
    sweep: () => import('../../functions/catalog/sweep-promotions.ts'),
  },
  artifact: {
    PassGate: () => import('../../functions/artifacts/verify-for-promotion.ts'),
    RunStep: () => import('../../functions/artifacts/run-promotion-step.ts'),
    sweep: () => import('../../functions/artifacts/sweep-promotions.ts'),
  },
};

type Handler = (input: Record<string, unknown>) => Promise<unknown>;
type Row = Record<string, unknown>;

// The file as it is, but for how long it pauses before it tries again.
const text = readFileSync(join(ROOT, 'state-machines', 'run-promotion.asl.json'), 'utf8').replaceAll(
  /"IntervalSeconds": \d+/g,
  '"IntervalSeconds": 0.05',
);

interface State {
  Type: string;
  Parameters?: { FunctionName: string; Payload: { run?: string; to?: string } };
}
const STATES = (JSON.parse(text) as { States: Record<string, State> }).States;

/** Which state a function is called for, by what it is told. */
function stateOf(fn: string, { run, to }: Record<string, unknown>): string {
  const [name] =
    Object.entries(STATES).find(
      ([, { Parameters }]) =>
        Parameters?.FunctionName === `\${${fn}}` &&
        Parameters.Payload.run === run &&
        Parameters.Payload.to === to,
    ) ?? [];
  return name ?? fn;
}

/**
 * The real machine on the local engine, its real functions over a real table. What domains do about events is done when
 * the test says so, and each time twice.
 */
export async function openPromotionWorld({
  kind = 'version',
  roughness,
  ...options
}: { kind?: keyof typeof KINDS; secret?: Buffer; roughness?: Roughness } = {}) {
  const table = await startControlTable({ roughness });
  const world = await openStepFunctionsWorld(options);
  const handlers = new Map<string, Handler>();
  const { sweep: loadSweep, ...tasks } = KINDS[kind];
  for (const [name, load] of Object.entries(tasks)) handlers.set(name, (await load()).handler);
  const definition = JSON.parse(
    text.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => functionArn(name)),
  ) as object;
  const machineArn = world.put(definition, { name: `promote-${kind}` });
  const { accessKeyId, secretAccessKey } = world.principals.operator();
  Object.assign(process.env, {
    AWS_ENDPOINT_URL_SFN: world.endpoint,
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    PROMOTION_MACHINE_ARN: machineArn,
  });
  const { handler: sweep } = (await loadSweep()) as { handler: Handler };

  let crashes: Promise<void> = Promise.resolve();
  const kill = (): Promise<never> => {
    crashes = new Promise((resolve) => setTimeout(resolve, 20)).then(() => world.crash());
    return new Promise(() => undefined);
  };

  type Around = (state: string, run: () => Promise<unknown>) => Promise<unknown>;
  let around: Around = (_, run) => run();
  for (const [name, handler] of handlers)
    world.functions[name] = (input: Row) => around(stateOf(name, input), () => handler(input));

  const rowsIn = async (prefix: string): Promise<Row[]> => {
    const rows: Row[] = [];
    const pages = paginateScan(
      { client: dynamo() },
      {
        TableName: controlTable(),
        ConsistentRead: true,
        FilterExpression: 'begins_with(pk, :prefix)',
        ExpressionAttributeValues: { ':prefix': prefix },
      },
    );
    for await (const { Items = [] } of pages) rows.push(...Items);
    return rows;
  };
  const about = (slug: string, row: unknown): boolean => JSON.stringify(row).includes(slug);
  const relayed = new Set<string>();

  async function eventsOf(slug: string): Promise<PlatformEvent[]> {
    const events = (await rowsIn('OUTBOX#')).map(({ event }) => event as PlatformEvent);
    return events.filter((event) => about(slug, event)).sort((a, b) => (a.event_id < b.event_id ? -1 : 1));
  }

  /** What the events lead to, each told twice. */
  async function relay(slug: string): Promise<void> {
    for (const event of await eventsOf(slug)) {
      if (relayed.has(event.event_id)) continue;
      relayed.add(event.event_id);
      for (const handler of [reactInCatalog, reactInArtifacts])
        if (handler.types.includes(event.type)) await react(handler, event, event);
    }
  }

  const find = ({ app_slug, version }: Pick<Version, 'app_slug' | 'version'>) =>
    findRelease({ app_slug, version });

  return {
    ...table,
    world,
    /** Who sweeps comes long after: the index shows everything by then. */
    sweep: async () => {
      await table.indexed();
      return sweep({});
    },
    relay,
    eventsOf,
    find,
    /** Puts something around every call of a function, told which state it is for. */
    around(wrap: Around): void {
      around = wrap;
    },
    /** Disturbs the call of one state, the first time it is made. */
    disturb(state: string, how: Disturbance): void {
      let isDone = false;
      around = (called, run) => {
        if (called !== state || isDone) return run();
        isDone = true;
        return how(run, kill);
      };
    },
    /** Once the process is there again, if it was killed. */
    crashes: () => crashes,
    async auditOf(slug: string): Promise<Row[]> {
      const rows = await rowsIn('AUDIT#');
      return rows
        .filter((row) => about(slug, row))
        .sort((a, b) => (String(a['id']) < String(b['id']) ? -1 : 1));
    },
    /** Calls an endpoint as a platform admin. */
    async ask(endpoint: Endpoint, params: object, body?: object, at: Partial<Context> = {}): Promise<Row> {
      const ctx = { ...createContext(newId()), actor: ADMIN, ...at };
      const { body: reply } = await endpoint.run(ctx, {
        route: '',
        params: params as Record<string, string>,
        query: {},
        bodyText: body && JSON.stringify(body),
        contentType: 'application/json',
        idempotencyKey: newId(),
        ifMatch: undefined,
        sourceIp: '192.0.2.1',
      });
      return reply as Row;
    },
    async promotionAt(version: Version, step: Promotion['step']): Promise<Promotion> {
      return until(async () => {
        const { promotion } = await find(version);
        return promotion?.step === step && promotion;
      }, `${version.app_slug} to come to “${step}”`);
    },
    /** The end of the execution, and the states it entered. */
    async execution(operationId: string): Promise<{ status: string; error?: string; states: string[] }> {
      const arn = `${machineArn.replace(':stateMachine:', ':execution:')}:${operationId}`;
      const { status, error } = await world.end(arn);
      const states = (await world.history(arn)).flatMap(
        ({ stateEnteredEventDetails }) => stateEnteredEventDetails?.name ?? [],
      );
      return { status: status ?? '', error, states };
    },
    async close(): Promise<void> {
      await world.close();
      await table.stop();
    },
  };
}

export type PromotionWorld = Awaited<ReturnType<typeof openPromotionWorld>>;

type Disturbance = (run: () => Promise<unknown>, kill: () => Promise<never>) => Promise<unknown>;

/** Ways in which a step may happen more than once, or not at once. The end is the same. */
export const HARMLESS: [name: string, how: Disturbance][] = [
  ['is killed before it does anything', (_, kill) => kill()],
  ['is killed after it has done everything', async (run, kill) => (await run(), kill())],
  ['is run twice', async (run) => (await run(), run())],
  ['is run twice at once', async (run) => (await Promise.all([run(), run()]))[1]],
  ['finds something unavailable', () => Promise.reject(errorNamed('unavailable'))],
  [
    'loses its answer after it has done everything',
    async (run) => {
      await run();
      throw errorNamed('Lambda.SdkClientException');
    },
  ],
  [
    'runs out of time after it has done everything',
    async (run) => {
      await run();
      throw errorNamed('Sandbox.Timedout');
    },
  ],
];

/** The states of a path that call a function. */
export const taskStates = (path: string[]): string[] =>
  [...new Set(path)].filter((name) => STATES[name]?.Type === 'Task');

/** How often each thing was told, of audit rows or of events. */
export function tallied(names: string[]): Record<string, number> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}
