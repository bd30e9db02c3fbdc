import type { RouteKey } from '../../functions/routes.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { forgetWorld } from '../forget-world.ts';
import { until } from '../until.ts';
import { LAMBDA_LOG_BYTES, openMeter, type Taken } from './meter.ts';

/** Something that happens, and what it takes. */
export interface Flow extends Taken {
  what: string;
  requests: number;
  invocations: number;
  transitions: number;
}

const IN_PROJECT = '/api/v1/projects/{project_id}';
const VERSION = '/api/v1/admin/apps/catalog/{app_slug}/versions/{version}';

/** What it takes until a version of an app can be launched, in order. */
const CALLS: [what: string, recipe: string][] = [
  ['a manifest is submitted', `POST ${IN_PROJECT}/apps/manifests`],
  ['its submission is approved', 'POST /api/v1/admin/apps/submissions/{submission_id}/approve'],
  ['a publish intent is made', `POST ${IN_PROJECT}/app-artifacts/publish-intents, for a file`],
  ['its credential is unwrapped', `POST ${IN_PROJECT}/app-artifacts/publish-intents/{intent_id}/unwrap`],
  ['the artifact is registered', `POST ${IN_PROJECT}/app-artifacts`],
  ['the artifact is verified', `POST ${IN_PROJECT}/app-artifacts/{artifact_id}/verify`],
  ['its promotion is requested', `POST ${IN_PROJECT}/app-artifacts/{artifact_id}/promote`],
  ['the promotion of the version is requested', `POST ${VERSION}/promote, of a project’s app`],
  ['its smoke run is answered', `POST ${VERSION}/smoke`],
  ['a project is entitled to the app', `PUT ${IN_PROJECT}/apps/entitlements/{app_slug}`],
];
const LAUNCH_CHECK = 'GET /api/v1/projects/{project_id}/apps/catalog';

/** With what Lambda writes into the log about it. */
const flow = (
  what: string,
  { logBytes, ...taken }: Taken,
  { requests = 0, invocations = 1, transitions = 0 } = {},
): Flow => ({
  what,
  ...taken,
  requests,
  invocations,
  transitions,
  logBytes: logBytes + invocations * LAMBDA_LOG_BYTES,
});

/** Every call as a warm function answers it. */
export async function countCalls(): Promise<Flow[]> {
  forgetWorld();
  const { openWorld } = await import('../api/world.ts');
  const { openScene } = await import('../api/scene.ts');
  const { commands, reads } = await import('../api/recipes.ts');
  const { dynamo } = await import('../../functions/platform/clients.ts');
  const world = await openWorld({ roughness: SMOOTH });
  try {
    const measure = openMeter(dynamo());
    const scene = openScene(world);
    const count = async (what: string, route: RouteKey, call: Parameters<typeof world.call>[1]) => {
      await world.call(route, { ...call, query: { unheard_of: '' } });
      const key = { 'x-idempotency-key': crypto.randomUUID() };
      const taken = await measure(async () => {
        const { status, text } = await world.call(route, { ...call, headers: { ...call?.headers, ...key } });
        if (status >= 300) throw new Error(`${route} answered ${status}: ${text}`);
      });
      return flow(what, taken, { requests: 1 });
    };
    const flows: Flow[] = [];
    for (const [what, name] of CALLS) {
      const [, command] = commands.find(([each]) => each === name) ?? [];
      if (!command) throw new Error(`There is no recipe for ${name}.`);
      flows.push(await count(what, command.route, (await command.prepare(scene)).call));
    }
    const [route, prepare] = reads.find(([each]) => each === LAUNCH_CHECK) ?? [];
    if (!route || !prepare) throw new Error('There is no recipe for a launch check.');
    // Somebody has looked at the catalogue since it changed last.
    const call = await prepare(scene);
    await world.call(route, call);
    return [...flows, await count('a project looks at what it may launch', route, call)];
  } finally {
    await world.close();
  }
}

/** The promotion of a version from draft to active, by its real machine. */
export async function countPromotion(): Promise<Flow[]> {
  forgetWorld();
  const { openPromotionWorld } = await import('../promotion/promotion-world.ts');
  const { releaseVersion } = await import('../catalog/released.ts');
  const { publishVersion } = await import('../../functions/catalog/publish-version.ts');
  const { answerSmoke } = await import('../../functions/catalog/answer-smoke.ts');
  const { handler: reactInCatalog } = await import('../../functions/catalog/react-to-events.ts');
  const { dynamo } = await import('../../functions/platform/clients.ts');
  const { react } = await import('../react.ts');
  const world = await openPromotionWorld({ roughness: SMOOTH });
  try {
    const measure = openMeter(dynamo());
    const version = await releaseVersion();
    const steps: Taken[] = [];
    world.around(async (_, run) => {
      let output: unknown;
      steps.push(await measure(async () => (output = await run())));
      return output;
    });
    const told: Taken[] = [];
    const tell = async (): Promise<void> => {
      const event = (await world.eventsOf(version.app_slug)).findLast(({ type }) =>
        reactInCatalog.types.includes(type),
      );
      if (event) told.push(await measure(() => react(reactInCatalog, event)));
    };
    const { operation_id } = await world.ask(publishVersion, version, {
      reason: 'It works.',
      bake_seconds: 0,
    });
    await tell();
    await world.promotionAt(version, 'awaiting_smoke');
    await world.ask(answerSmoke, version, { verdict: 'passed' });
    await tell();
    const { states } = await world.execution(String(operation_id));
    const run = flow('the version is promoted, draft to active', sumOf(steps), {
      invocations: steps.length,
      transitions: states.length,
    });
    return [run, flow('a workflow is started or answered by an event', told[0] ?? sumOf([]))];
  } finally {
    await world.close();
  }
}

/** One event on its way, to nobody who listens. */
export async function countEvent(): Promise<Flow[]> {
  forgetWorld();
  const { openRelayWorld } = await import('../events/relay-world.ts');
  const { dynamo } = await import('../../functions/platform/clients.ts');
  const world = await openRelayWorld({ roughness: SMOOTH });
  try {
    const measure = openMeter(dynamo());
    const place = { project_id: crypto.randomUUID() };
    const say = async () => {
      await world.say(place, 'a.b.reacted');
      return until(async () => {
        const records = await world.take();
        return records.length > 0 && records;
      }, 'the stream to tell of the event');
    };
    await world.handler({ Records: await say() });
    const Records = await say();
    const relayed = await measure(() => world.handler({ Records }));
    const dispatched = await measure(() => world.dispatch({ Records }));
    return [flow('an event is relayed', relayed), flow('an event is dispatched', dispatched)];
  } finally {
    await world.close();
  }
}

const sumOf = (all: Taken[]): Taken =>
  all.reduce(
    (sum, each) => ({
      reads: sum.reads + each.reads,
      writes: sum.writes + each.writes,
      events: sum.events + each.events,
      logBytes: sum.logBytes + each.logBytes,
    }),
    { reads: 0, writes: 0, events: 0, logBytes: 0 },
  );
