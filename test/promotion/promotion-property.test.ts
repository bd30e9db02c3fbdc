import fc from 'fast-check';
import { QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { answerSmoke } from '../../functions/catalog/answer-smoke.ts';
import type { App } from '../../functions/catalog/app.ts';
import { deprecateVersion } from '../../functions/catalog/deprecate-version.ts';
import { observeInstance } from '../../functions/catalog/judge-canary.ts';
import { findArtifactsOf, findRelease } from '../../functions/catalog/keep-release.ts';
import { versionCounterKey, versionKey } from '../../functions/catalog/keys.ts';
import { promoteVersion } from '../../functions/catalog/promote-version.ts';
import { publishVersion } from '../../functions/catalog/publish-version.ts';
import { artifactKey, boundIdOf } from '../../functions/catalog/readiness.ts';
import { putPromotionPolicy } from '../../functions/catalog/put-promotion-policy.ts';
import { retireVersion } from '../../functions/catalog/retire-version.ts';
import { rollBackVersion } from '../../functions/catalog/roll-back-version.ts';
import { handler as runStep } from '../../functions/catalog/run-promotion-step.ts';
import { subjectOfPromotion } from '../../functions/catalog/version-promotion.ts';
import { type ExpectedArtifact, subjectOfVersion, type Version } from '../../functions/catalog/version.ts';
import { planProject } from '../../functions/identity/project.ts';
import { InstanceFailed, InstanceRunning } from '../../functions/instances/instance-events.ts';
import { handler as checkVersion } from '../../functions/manifests/check-version.ts';
import { cancellations } from '../../functions/platform/aws-errors.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { createContext } from '../../functions/platform/context.ts';
import { commit, Conflict, requireThat, update } from '../../functions/platform/data/commit.ts';
import { addTo } from '../../functions/platform/data/counters.ts';
import { auditKey, outboxKey } from '../../functions/platform/data/keys.ts';
import { controlTable } from '../../functions/platform/data/table.ts';
import { Refusal } from '../../functions/platform/errors.ts';
import type { Endpoint } from '../../functions/platform/http/endpoint.ts';
import { newId } from '../../functions/platform/ids.ts';
import { FOLLOWING, type Status, STATUSES } from '../../functions/promotion/status.ts';
import { releaseVersion } from '../catalog/released.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';
import { DEEP } from '../deep.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';

// Whatever people, the workflow, instances and artifacts do, in whatever order, at once and again: only the drawn
// transitions happen, and what is true at one place is true at the others.

const RUNS = DEEP ? 100 : 12;
const NUMBERS = ['1.0.0', '1.1.0', '2.0.0'];
const ACTORS = ['ada', 'ben', 'eve'];

let table: ControlTable;
beforeAll(async () => {
  table = await startControlTable();
});
afterAll(() => table.stop());

type Act = (scene: Scene) => Promise<unknown>;

interface Scene {
  /** Where each version stood at first. */
  first: Record<string, Status>;
  slug: string;
  place: string;
  find: (number: string) => ReturnType<typeof findRelease>;
}

const number = fc.constantFrom(...NUMBERS);
const REASON = { reason: 'Because.' };

/** A call by one of the platform's people. */
function ask(endpoint: Endpoint, actor: string, version: string, body: object): Act {
  return ({ slug }) =>
    endpoint.run(
      { ...createContext(newId()), actor: { kind: 'user', id: actor } },
      {
        route: '',
        params: { app_slug: slug, version },
        query: {},
        bodyText: JSON.stringify(body),
        contentType: 'application/json',
        idempotencyKey: newId(),
        ifMatch: undefined,
        sourceIp: '192.0.2.1',
      },
    );
}

const asked = fc.oneof(
  fc
    .record({
      number,
      actor: fc.constantFrom(...ACTORS),
      target: fc.constantFrom('staged', 'canary', 'active'),
    })
    .map(({ number, actor, target }) =>
      ask(promoteVersion, actor, number, { ...REASON, target, bake_seconds: 0, instances_min: 1 }),
    ),
  fc
    .record({
      number,
      actor: fc.constantFrom(...ACTORS),
      how: fc.constantFrom(
        [publishVersion, { ...REASON, bake_seconds: 0, instances_min: 1 }] as const,
        [rollBackVersion, REASON] as const,
        [deprecateVersion, { ...REASON, grace_seconds: 0 }] as const,
        [retireVersion, REASON] as const,
        [answerSmoke, { verdict: 'passed' }] as const,
        [answerSmoke, { verdict: 'failed' }] as const,
      ),
    })
    .map(({ number, actor, how: [endpoint, body] }) => ask(endpoint, actor, number, body)),
);

/** What takes a version on: the workflow's next step, the verdict it waits for, or the next thing to be asked. */
const workOn =
  (number: string): Act =>
  async (scene) => {
    const { slug, find } = scene;
    const { promotion, version } = await find(number);
    if (promotion?.status !== 'running') return next(version)(scene);
    const step = { subject: subjectOfPromotion(slug, number), operation_id: promotion.operation_id };
    switch (promotion.step) {
      case 'checking':
        await checkVersion(step);
        return promotion.smoke?.gate === 'automatic'
          ? undefined
          : runStep({ run: 'request_smoke', ...step, task_token: newId() });
      case 'awaiting_smoke':
        return ask(answerSmoke, 'ada', number, { verdict: 'passed' })(scene);
      case 'smoke_answered':
      case 'staging':
        return runStep({ run: 'advance', ...step, to: 'staged' });
      case 'beginning_canary':
        return runStep({ run: 'advance', ...step, to: 'canary' });
      case 'baking':
        return runStep({ run: 'advance', ...step, to: 'active' });
      default:
        return runStep({ run: 'advance', ...step, to: 'retired' });
    }
  };

const work = number.map(workOn);

/** The platform changes its mind, also about what is under way. */
const policy = fc.constantFrom('automatic', 'person').map((gate): Act => {
  const body = { ...REASON, smoke: { gate }, grace_seconds: 0 };
  return ask(putPromotionPolicy, 'ada', '', body);
});

function next({ version, status }: Version): Act {
  if (status === 'active') return ask(deprecateVersion, 'ben', version, { ...REASON, grace_seconds: 0 });
  if (status === 'deprecated') return ask(retireVersion, 'ben', version, REASON);
  return ask(publishVersion, 'ben', version, { ...REASON, bake_seconds: 0 });
}

/** A step nobody should have asked for: the wrong one, or of an operation that is over. */
const stray = fc
  .record({ number, to: fc.constantFrom('staged', 'canary', 'active', 'retired'), isStale: fc.boolean() })
  .map(({ number, to, isStale }): Act => async ({ slug, find }) => {
    const { promotion } = await find(number);
    const operation_id = isStale ? newId() : (promotion?.operation_id ?? newId());
    return runStep({ run: 'advance', subject: subjectOfPromotion(slug, number), operation_id, to });
  });

const failure = number.map((number): Act => async ({ slug, find }) => {
  const { promotion } = await find(number);
  const operation_id = promotion?.operation_id ?? newId();
  return runStep({
    run: 'fail',
    subject: subjectOfPromotion(slug, number),
    operation_id,
    error: { Error: 'States.TaskFailed' },
  });
});

const instance = fc
  .record({
    number,
    type: fc.constantFrom(InstanceRunning.type, InstanceRunning.type, InstanceFailed.type),
  })
  .map(
    ({ number, type }): Act =>
      ({ slug }) =>
        observeInstance(createContext(newId()), {
          type,
          version: 1,
          data: { app_instance_id: newId(), app_slug: slug, app_version: number },
          event_id: newId(),
          occurred_at: new Date().toISOString(),
          actor: 'platform:nodes',
          correlation_id: newId(),
        }),
  );

/** As whoever runs things will count: up while the version can be launched, down at any time. */
const use = fc.record({ number, isMore: fc.boolean() }).map(
  ({ number, isMore }): Act =>
    ({ slug }) =>
      commit([
        requireThat(versionKey(slug, number), {
          condition: isMore ? '#status IN (:canary, :active)' : 'NOT #status IN (:canary, :active)',
          names: { '#status': 'status' },
          values: { ':canary': 'canary', ':active': 'active' },
        }),
        isMore
          ? addTo(versionCounterKey(slug, number), 1)
          : update(versionCounterKey(slug, number), {
              update: 'ADD #count :less',
              condition: '#count > :none',
              names: { '#count': 'count' },
              values: { ':less': -1, ':none': 0 },
            }),
      ]).catch(unlessConflict),
);

/** It was not the moment for it. */
function unlessConflict(error: unknown): void {
  if (!(error instanceof Conflict)) throw error;
}

/** As artifacts will be moved: never away from under an active version. */
const artifact = fc
  .record({
    number,
    lifecycle_state: fc.constantFrom<Status[]>('draft', 'staged', 'canary', 'active', 'active', 'active'),
    trust_state: fc.constantFrom('verified', 'verified', 'verified', 'revoked'),
  })
  .map(({ number, lifecycle_state, trust_state }): Act => async ({ slug, find }) => {
    const { version } = await find(number);
    const id = boundIdOf(version, version.artifacts[0] as ExpectedArtifact) ?? '';
    const set = {
      Update: {
        TableName: controlTable(),
        Key: artifactKey(id),
        UpdateExpression: 'SET lifecycle_state = :state, trust_state = :trust',
        ExpressionAttributeValues: { ':state': lifecycle_state, ':trust': trust_state },
      },
    };
    const unlessActive = {
      ConditionCheck: {
        TableName: controlTable(),
        Key: versionKey(slug, number),
        ConditionExpression: '#status <> :active',
        ExpressionAttributeNames: { '#status': 'status' },
        ExpressionAttributeValues: { ':active': 'active' },
      },
    };
    try {
      await dynamo().send(new TransactWriteCommand({ TransactItems: [set, unlessActive] }));
    } catch (error) {
      if (cancellations(error).length === 0) throw error;
    }
  });

const act = fc.oneof(
  { weight: 12, arbitrary: work },
  { weight: 5, arbitrary: asked },
  { weight: 1, arbitrary: policy },
  { weight: 1, arbitrary: stray },
  { weight: 1, arbitrary: failure },
  { weight: 1, arbitrary: instance },
  { weight: 1, arbitrary: use },
  { weight: 1, arbitrary: artifact },
);

/** Several things at once, some of them twice. */
const moment = fc.array(fc.record({ act, times: fc.constantFrom(1, 1, 1, 2) }), {
  minLength: 1,
  maxLength: 3,
});

async function happen(scene: Scene, acts: { act: Act; times: number }[]): Promise<void> {
  const racing = acts.flatMap(({ act, times }) => Array.from({ length: times }, () => act(scene)));
  for (const ended of await Promise.allSettled(racing))
    if (ended.status === 'rejected' && !(ended.reason instanceof Refusal)) throw ended.reason;
}

const rowsOf = async (pk: string): Promise<Record<string, unknown>[]> =>
  (
    await dynamo().send(
      new QueryCommand({
        TableName: controlTable(),
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': pk },
        ConsistentRead: true,
      }),
    )
  ).Items ?? [];

const TELLS_MOVE = /^apps\.version\.(staged|canary_began|activated|deprecated|retired|rolled_back)$/;

async function expectAgreement(scene: Scene): Promise<Record<string, Status>> {
  const found = await Promise.all(NUMBERS.map((number) => scene.find(number)));
  const versions = found.map(({ version }) => version);
  const app = found[0]?.app as App;
  const standing = Object.fromEntries(versions.map(({ version, status }) => [version, status]));

  const listed = Object.entries(app.versions).map(([version, { status }]) => [version, status]);
  const unretired = versions.filter(({ status }) => status !== 'retired');
  expect(Object.fromEntries(listed)).toEqual(
    Object.fromEntries(unretired.map(({ version, status }) => [version, status])),
  );
  const active = versions.filter(({ status }) => status === 'active');
  expect(active.length).toBeLessThanOrEqual(1);
  for (const version of active) await expectActiveArtifacts(version);

  const running = found.flatMap(({ promotion }) =>
    promotion?.status === 'running'
      ? [
          [
            String(promotion.subject['version']),
            { operation_id: promotion.operation_id, target: promotion.target },
          ],
        ]
      : [],
  );
  expect(await replay(scene)).toEqual({ statuses: standing, running: Object.fromEntries(running) });
  return standing;
}

async function expectActiveArtifacts(version: Version): Promise<void> {
  const { found } = await findArtifactsOf(version, undefined);
  expect(found).toEqual(
    version.artifacts.map(() => ({
      app_slug: version.app_slug,
      lifecycle_state: 'active',
      trust_state: 'verified',
    })),
  );
}

interface AuditRow {
  subject: string;
  actor: string;
  reason?: string;
  before?: { status: string };
  after: { status: string; operation_id?: string; app_version?: string; target?: string };
}

/** What the audit says became of every version and its promotions, each step checked against what is drawn. */
async function replay({ first, slug, place }: Scene): Promise<Told> {
  const statuses = { ...first };
  const running: Told['running'] = {};
  let moves = 0;
  for (const row of (await rowsOf(auditKey(place, '').pk)) as unknown as AuditRow[]) {
    expect(row.actor).toMatch(/^(user:(ada|ben|eve)|platform:canary-guard)$/);
    const { operation_id, app_version: promoted = '', target = '', status } = row.after;
    if (operation_id !== undefined) {
      // Only one at a time is under way for a version.
      if (!row.before) expect(running[promoted]).toBeUndefined();
      else expect(running[promoted]?.operation_id).toBe(operation_id);
      if (status === 'running') running[promoted] = { operation_id, target };
      else delete running[promoted];
      continue;
    }
    const number = NUMBERS.find((each) => row.subject === subjectOfVersion(slug, each)) ?? '';
    expect(row.before?.status).toBe(statuses[number]);
    expect(FOLLOWING[statuses[number] as Status]).toContain(status);
    expect(row.reason).toMatch(/./);
    const isBack = statuses[number] === 'canary' && status === 'staged';
    if (isBack || running[number]?.target === status) delete running[number];
    statuses[number] = status as Status;
    moves += 1;
  }
  const events = (await rowsOf(outboxKey(place, '').pk)).map(({ event }) => (event as { type: string }).type);
  expect(events.filter((type) => TELLS_MOVE.test(type))).toHaveLength(moves);
  return { statuses, running };
}

interface Told {
  statuses: Record<string, Status>;
  running: Record<string, { operation_id: string; target: string }>;
}

/** Where three versions of an app may stand. */
const begun = fc.tuple(
  fc.constantFrom('draft', 'active', 'deprecated'),
  fc.constantFrom('draft', 'staged', 'canary'),
  fc.constantFrom('draft', 'staged', 'canary'),
);

/** One that comes all the way: what chance leaves out must not leave the others unproved. */
const UNDISTURBED: [['draft', 'staged', 'canary'], { act: Act; times: 1 }[][]] = [
  ['draft', 'staged', 'canary'],
  Array.from({ length: 14 }, () => [{ act: workOn('1.0.0'), times: 1 as const }]),
];

test(
  'a version only ever moves as drawn, whatever happens, at once and again',
  { timeout: 600_000 },
  async () => {
    const reached = new Set<Status>();
    const moments = fc.array(moment, { minLength: 10, maxLength: 30, size: 'max' });
    await fc.assert(
      fc.asyncProperty(begun, moments, async (statuses, moments) => {
        const owner = planProject(newId(), newId(), { name: 'A project', slug: 'a-project' }, new Date());
        let slug: string | undefined;
        const first: Scene['first'] = {};
        for (const [index, version] of NUMBERS.entries()) {
          const released = await releaseVersion({ owner, slug, version, status: statuses[index] });
          slug = released.app_slug;
          first[version] = released.status;
        }
        const app_slug = String(slug);
        const find = (version: string) => findRelease({ app_slug, version });
        const scene = { first, slug: app_slug, place: owner.id, find };
        for (const acts of moments) {
          await happen(scene, acts);
          for (const status of Object.values(await expectAgreement(scene))) reached.add(status);
        }
      }),
      { numRuns: RUNS + 1, examples: [UNDISTURBED], endOnFailure: true },
    );
    // Nothing would be proved by versions that never got anywhere.
    expect([...reached].sort()).toEqual([...STATUSES].sort());
  },
);
