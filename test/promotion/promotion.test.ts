import { observeInstance } from '../../functions/catalog/judge-canary.ts';
import { findRelease, findReleaseAtOnce } from '../../functions/catalog/keep-release.ts';
import { manifestKey, versionCounterKey, versionKey } from '../../functions/catalog/keys.ts';
import { promotableVersion } from '../../functions/catalog/version-kind.ts';
import { subjectOfPromotion } from '../../functions/catalog/version-promotion.ts';
import type { Version } from '../../functions/catalog/version.ts';
import { InstanceFailed, InstanceRunning } from '../../functions/instances/instance-events.ts';
import { createContext } from '../../functions/platform/context.ts';
import { commit, Conflict } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { savePromotion } from '../../functions/promotion/keep-promotion.ts';
import { promotionKey } from '../../functions/promotion/keys.ts';
import { DEFAULT_POLICY } from '../../functions/promotion/promotion-policy.ts';
import { planPromotion } from '../../functions/promotion/promotion-plan.ts';
import {
  failureOf,
  LAST_INSTANCE_SECONDS_MAX,
  repairOf,
  SMOKE_SECONDS_MAX,
} from '../../functions/promotion/promotion-steps.ts';
import { BAKE_SECONDS_MAX, type Promotion } from '../../functions/promotion/promotion.ts';
import { GRACE_SECONDS_MAX } from '../../functions/promotion/status.ts';
import { ROOT } from '../../lib/bundle.ts';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Body } from '../api/recipe.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { releaseAwaitingSmoke, releaseVersion } from '../catalog/released.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let world: World;
let scene: Scene;
let token: string;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  ({ token } = await scene.platformAdmin());
});
afterAll(() => world.close());

const ADMIN = 'POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}';
const REASON = { reason: 'Because.' };

const paramsOf = ({ app_slug, version }: Version) => ({ app_slug, version });

async function ask(verb: string, version: Version, body: object = REASON) {
  const answer = await world.call(`${ADMIN}/${verb}`, {
    params: paramsOf(version),
    body,
    token,
    headers: { 'x-idempotency-key': newId() },
  });
  return { ...answer, body: answer.body as Body };
}

function requestAt(now: Date) {
  const { correlationId, traceparent } = createContext(newId());
  const actor = { kind: 'user', id: 'somebody' } as const;
  return { operationId: newId(), correlationId, traceparent, actor, ...REASON, now };
}

async function look(version: Version, by = token) {
  const answer = await world.call('GET /api/v1/apps/catalog/{app_slug}/versions/{version}/promotion', {
    params: paramsOf(version),
    token: by,
  });
  return { ...answer, body: answer.body as Body };
}

test('a promotion and its version are read as they are at one moment', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 15; round += 1) {
    const { app_slug, version } = await releaseVersion({ status: 'canary' });
    let isDone = false;
    const watch = async (): Promise<void> => {
      while (!isDone) {
        const found = await findReleaseAtOnce({ app_slug, version });
        seen.add(`${found.version?.status}, ${found.promotion?.status}`);
      }
    };
    const watchers = Array.from({ length: 8 }, watch);
    await ask('rollback', { app_slug, version } as Version);
    isDone = true;
    await Promise.all(watchers);
  }
  expect(seen).toEqual(new Set(['canary, succeeded', 'staged, rolled_back']));
});

describe('a request to promote', () => {
  test('is accepted, and says where to look', async () => {
    const version = await releaseVersion();
    const { status, headers, body } = await ask('promote', version, { ...REASON, target: 'canary' });
    expect(status).toBe(202);
    expect(headers['location']).toBe(`/api/v1/apps/catalog/${version.app_slug}/versions/1.0.0/promotion`);
    expect(body).toMatchObject({
      from: 'draft',
      target: 'canary',
      status: 'running',
      step: 'checking',
      canary: { percent: 10, project_ids: [], failure_percent_max: 20, instances_min: 3 },
    });
    expect((await findRelease(version)).version.status).toBe('draft');
  });

  test.each([
    ['staged', 'staged'],
    ['canary', 'staged'],
    ['active', 'canary'],
    ['deprecated', 'active'],
  ] as const)('of a %s version to %s is refused: it lies behind', async (status, target) => {
    const version = await releaseVersion({ status });
    expect((await ask('promote', version, { ...REASON, target })).body).toMatchObject({
      status: 409,
      code: 'version.wrong_status',
    });
  });

  test.each([
    ['is not registered', null, 'is not registered.'],
    ['is not verified', { trust_state: 'unverified' }, 'is unverified.'],
    ['was revoked', { trust_state: 'revoked' }, 'is revoked.'],
    ['is in draft', { lifecycle_state: 'draft' }, 'is draft, not staged.'],
    ['has another digest', { digest: `sha256:${'0'.repeat(64)}` }, 'is not registered.'],
  ] as const)('is refused when an artifact %s, and says which and where', async (_, artifact, what) => {
    const version = await releaseVersion({ artifact });
    const [{ repository, digest } = {}] = version.artifacts;
    const detail = `The artifact “runtime” (${repository}@${digest}, version 1.0.0) ${what}`;
    expect((await ask('publish', version)).body).toMatchObject({
      code: 'version.artifacts_unready',
      detail,
      errors: [{ pointer: '/artifacts/0', detail, hint: expect.any(String) as string }],
    });
    expect((await findRelease(version)).promotion).toBeUndefined();
  });

  test('is refused with every artifact that is not ready, and only those', async () => {
    const version = await releaseVersion();
    const [artifact] = version.artifacts;
    await world.set(versionKey(version.app_slug, version.version), 'artifacts', [
      { ...artifact, name: 'gateway' },
      artifact,
      { ...artifact, name: 'worker', variant: 'cpu' },
    ]);
    const { body } = await ask('publish', version);
    expect(body).toMatchObject({
      code: 'version.artifacts_unready',
      errors: [{ pointer: '/artifacts/0' }, { pointer: '/artifacts/2' }],
    });
    expect(body['detail']).toMatch(/“gateway” \(.+\) is not registered\. .+“worker” for cpu \(.+\) is not/);
  });

  test('is refused when an artifact has no digest', async () => {
    const version = await releaseVersion();
    await world.set(versionKey(version.app_slug, version.version), 'artifacts', [
      { name: 'weights', artifact_kind: 'blob' },
    ]);
    expect((await ask('publish', version)).body).toMatchObject({
      code: 'version.artifacts_unready',
      detail: `The artifact “weights” (version ${version.version}) has no digest yet.`,
    });
  });

  test('asks no more of artifacts than the next status does', async () => {
    const version = await releaseVersion({ artifact: { lifecycle_state: 'staged' } });
    expect((await ask('publish', version)).status).toBe(202);
  });

  test('goes on with a canary that has begun, and cannot choose anew who gets it', async () => {
    const version = await releaseVersion({ status: 'canary' });
    const { promotion } = await findRelease(version);
    const other = { ...REASON, canary: { percent: 50 } };
    expect((await ask('publish', version, other)).body).toMatchObject({ code: 'version.wrong_status' });
    const { status, body } = await ask('publish', version, { ...REASON, bake_seconds: 60 });
    expect(status).toBe(202);
    expect(body).toMatchObject({ step: 'baking', canary: { began_at: promotion?.canary?.began_at } });
    const bakes = Date.parse(body['canary'].bake_until) - Date.parse(body['canary'].began_at);
    expect(bakes).toBe(60_000);
  });

  test('of an unknown app or version is told so', async () => {
    const version = await releaseVersion();
    expect((await ask('publish', { ...version, version: '9.0.0' })).body).toMatchObject({
      code: 'version.unknown',
    });
    expect((await ask('publish', { ...version, app_slug: 'nothing' })).body).toMatchObject({
      code: 'app.unknown',
    });
  });

  test('finds a version however it is spelled', async () => {
    const version = await releaseVersion({ version: '24.05.0' });
    const { status, body } = await ask(
      'promote',
      { ...version, version: '24.5' },
      { ...REASON, target: 'staged' },
    );
    expect(status).toBe(202);
    expect(body).toMatchObject({ version: '24.05.0' });
  });
});

test('a promotion does not begin when the draft is replaced, or the version moves on, meanwhile', async () => {
  const version = await releaseVersion();
  const key = versionKey(version.app_slug, version.version);
  const at = promotableVersion(await findRelease(version));
  const planned = planPromotion(at, { target: 'active' }, DEFAULT_POLICY, requestAt(new Date()));
  const writing = () => commit([savePromotion(undefined, planned), ...at.hold(planned)]);
  await world.set(key, 'manifest_digest', 'sha256:of-another');
  await expect(writing()).rejects.toMatchObject({ name: 'Conflict' });
  await world.set(key, 'manifest_digest', version.manifest_digest);
  await world.set(key, 'status', 'staged');
  await expect(writing()).rejects.toMatchObject({ name: 'Conflict' });
  await world.set(key, 'status', 'draft');
  await expect(writing()).resolves.toBeUndefined();
});

describe('a retirement', () => {
  test.each(['draft', 'staged', 'canary', 'active'] as const)(
    'of a %s version is refused',
    async (status) => {
      const version = await releaseVersion({ status });
      expect((await ask('retire', version)).body).toMatchObject({ code: 'version.wrong_status' });
    },
  );

  test('is refused while somebody uses the version, and says how many do', async () => {
    const version = await releaseVersion({ status: 'deprecated' });
    await world.put({ ...versionCounterKey(version.app_slug, version.version), count: 2 });
    expect((await ask('retire', version)).body).toMatchObject({
      code: 'version.in_use',
      detail: '2 instances use the version.',
    });
  });

  test('waits out the grace period, and says until when', async () => {
    const version = await releaseVersion({ status: 'deprecated', graceSeconds: 3600 });
    const { body } = await ask('retire', version);
    expect(body).toMatchObject({ target: 'retired', step: 'awaiting_grace' });
    expect(body['waiting_for']).toBe(`Waiting for the grace period to end at ${version.retire_after}.`);
  });
});

describe('a rollback', () => {
  test('takes a canary back at once and ends the promotion it belongs to', async () => {
    const version = await releaseVersion({ status: 'canary' });
    await ask('publish', version);
    const { status, body } = await ask('rollback', version, { reason: 'It smells.' });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'staged' });
    const { app, promotion } = await findRelease(version);
    expect(app.versions['1.0.0']).toEqual({ status: 'staged', internal: false });
    expect(promotion).toMatchObject({
      status: 'rolled_back',
      canary: { ended_at: expect.any(String) as string },
    });
    expect((await look(version)).body).toMatchObject({ status: 'rolled_back', waiting_for: null });
  });

  test('leaves the version free to be promoted again, with another audience', async () => {
    const version = await releaseVersion({ status: 'canary' });
    await tell(version, InstanceFailed, 'a');
    await ask('rollback', version);
    const again = { ...REASON, canary: { percent: 50, project_ids: [newId()] } };
    const { status, body } = await ask('publish', version, again);
    expect(status).toBe(202);
    expect(body).toMatchObject({ step: 'beginning_canary', canary: { ...again.canary, observed: 0 } });
  });
});

type Told = typeof InstanceRunning | typeof InstanceFailed;

const tell = ({ app_slug, version }: Version, { type }: Told, id: string, at = new Date()) =>
  observeInstance(createContext(newId()), {
    type,
    version: 1,
    data: { app_instance_id: id, app_slug, app_version: version },
    event_id: newId(),
    occurred_at: at.toISOString(),
    actor: 'platform:instances',
    correlation_id: newId(),
  });

describe('the guard of a canary', () => {
  test('rolls it back by itself when too many instances fail, and says why', async () => {
    const version = await releaseVersion({ status: 'canary' });
    for (const id of ['a', 'b', 'c']) await tell(version, InstanceRunning, id);
    expect((await findRelease(version)).version.status).toBe('canary');
    await tell(version, InstanceFailed, 'c');
    const after = await findRelease(version);
    expect(after.version.status).toBe('staged');
    const words = 'Too many instances failed: 1 of 3 instances failed (33 %, the limit is 20 %).';
    expect(after.promotion).toMatchObject({
      status: 'rolled_back',
      error: { code: 'canary.failing', detail: words },
    });
    const rows = (await world.items('AUDIT#')).filter(({ subject }) =>
      String(subject).includes(version.app_slug),
    );
    expect(rows).toMatchObject([
      {
        actor: 'platform:canary-guard',
        action: 'catalog.version.roll_back',
        before: { status: 'canary' },
        after: { status: 'staged' },
        reason: words,
      },
    ]);
  });

  test('counts an instance once, however often it is told', async () => {
    const version = await releaseVersion({ status: 'canary' });
    for (let times = 0; times < 5; times += 1) await tell(version, InstanceFailed, 'a');
    const { body } = await look(version);
    expect(body).toMatchObject({
      version_status: 'canary',
      canary: { observed: 1, failed: 1, failure_percent: 100 },
    });
  });

  test('minds nothing that happened before the canary, or in no canary', async () => {
    const version = await releaseVersion({ status: 'canary' });
    for (const id of ['a', 'b', 'c']) await tell(version, InstanceFailed, id, new Date(0));
    expect((await look(version)).body).toMatchObject({ version_status: 'canary', canary: { observed: 0 } });
    const active = await releaseVersion({ status: 'active' });
    for (const id of ['a', 'b', 'c']) await tell(active, InstanceFailed, id);
    expect((await findRelease(active)).version.status).toBe('active');
    await tell({ ...version, app_slug: 'nothing' }, InstanceFailed, 'a');
  });

  test('acts once when many fail at the same moment', async () => {
    const version = await releaseVersion({ status: 'canary' });
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((id) => tell(version, InstanceFailed, id)));
    expect((await findRelease(version)).version.status).toBe('staged');
    const rows = (await world.items('AUDIT#')).filter(({ subject }) =>
      String(subject).includes(version.app_slug),
    );
    expect(rows).toHaveLength(1);
  });
});

describe('where a promotion stands', () => {
  test('is told in words', async () => {
    const version = await releaseAwaitingSmoke();
    const { status, body } = await look(version);
    expect(status).toBe(200);
    expect(body['waiting_for']).toMatch(
      `: POST /api/v1/admin/apps/catalog/${version.app_slug}/versions/1.0.0/smoke`,
    );
    const baking = await releaseVersion({ status: 'canary' });
    await ask('publish', baking, { ...REASON, bake_seconds: 600 });
    await tell(baking, InstanceRunning, 'a');
    const { promotion } = await findRelease(baking);
    expect((await look(baking)).body['waiting_for']).toBe(
      `In canary until ${promotion?.canary?.bake_until}; 0 of 1 instances failed (0 %, the limit is 20 %); the limit applies from 3 instances.`,
    );
  });

  test('is told to its publisher without who the canary is for, and without the token', async () => {
    const { project, admin } = await scene.place();
    const version = await releaseAwaitingSmoke({ owner: project });
    const { body, text } = await look(version, admin.token);
    expect(body).toMatchObject({ step: 'awaiting_smoke', canary: { percent: 10 } });
    expect(body['canary']).not.toHaveProperty('project_ids');
    expect(text).not.toContain('task_token');
    expect((await look(version)).body['canary']).toHaveProperty('project_ids');
  });

  test('is told to nobody else, as if there were none', async () => {
    const version = await releaseAwaitingSmoke({ owner: (await scene.place()).project });
    const absent = { ...version, app_slug: 'nothing' };
    const by = (await scene.place()).admin.token;
    const answers = await Promise.all([
      look(version, by),
      look(absent, by),
      look(await releaseVersion(), by),
    ]);
    const told = answers.map(({ body }) => ({ ...body, correlation_id: undefined }));
    expect(told[0]).toMatchObject({ status: 404, code: 'promotion.unknown' });
    expect(told[1]).toEqual(told[0]);
    expect(told[2]).toEqual(told[0]);
  });
});

describe('a check that fails', () => {
  test('is kept with every problem it found', async () => {
    const { handler } = await import('../../functions/manifests/check-version.ts');
    const version = await releaseVersion();
    await ask('publish', version);
    await world.set(manifestKey(version.app_slug, version.version), 'manifest', { app: {}, version: {} });
    const { promotion } = await findRelease(version);
    const subject = subjectOfPromotion(version.app_slug, version.version);
    const step = { subject, operation_id: promotion?.operation_id };
    await expect(handler(step)).rejects.toMatchObject({ name: 'manifest.invalid' });
    const { body } = await look(version);
    expect(body['gates'].lint).toMatchObject({ verdict: 'failed' });
    expect(body['gates'].lint.problems.length).toBeGreaterThan(0);
  });
});

describe('the verdict of a smoke run', () => {
  test('is given once', async () => {
    const version = await releaseAwaitingSmoke();
    expect((await ask('smoke', version, { verdict: 'failed' })).status).toBe(200);
    const { body } = await ask('smoke', version, { verdict: 'passed' });
    expect(body['code']).toBe('promotion.not_waiting');
    expect((await findRelease(version)).promotion?.gates.smoke).toMatchObject({ verdict: 'failed' });
  });

  test('is not overwritten by a step that read the promotion before', async () => {
    const version = await releaseAwaitingSmoke();
    const { promotion: before } = await findRelease(version);
    if (!before) throw new Error('There is no promotion.');
    await ask('smoke', version, { verdict: 'passed' });
    await expect(commit([savePromotion(before, before)])).rejects.toBeInstanceOf(Conflict);
    expect((await findRelease(version)).promotion?.step).toBe('smoke_answered');
  });
});

test('a step that is asked for though a gate has not let the version through is refused', async () => {
  const { handler } = await import('../../functions/catalog/run-promotion-step.ts');
  const version = await releaseAwaitingSmoke();
  await ask('smoke', version, { verdict: 'failed' });
  const { promotion } = await findRelease(version);
  expect(promotion?.step).toBe('smoke_answered');
  const subject = subjectOfPromotion(version.app_slug, version.version);
  const step = { run: 'advance', subject, operation_id: promotion?.operation_id, to: 'staged' };
  await expect(handler(step)).rejects.toMatchObject({ name: 'manifest.invalid' });
  expect((await findRelease(version)).version.status).toBe('draft');
});

describe('the sweep', () => {
  const begun = new Date('2026-11-16T04:00:00.000Z');
  const after = (seconds: number) => new Date(begun.getTime() + seconds * 1000);
  let planned: Promotion;
  beforeAll(async () => {
    const at = promotableVersion(await findRelease(await releaseVersion()));
    planned = planPromotion(at, { target: 'active' }, DEFAULT_POLICY, requestAt(begun));
  });

  test.each<[string, Partial<Promotion>, number, number, string]>([
    ['gives the stream time to start a promotion', {}, 0, 59, 'wait'],
    ['starts one the stream missed', {}, 0, 61, 'start'],
    ['leaves one alone that was started', { started_at: begun.toISOString() }, 0, 61, 'wait'],
    ['ends one that hangs', { started_at: begun.toISOString() }, 0, 3601, 'fail'],
    ['leaves one alone that has ended', { status: 'succeeded', step: 'ended' }, 0, 3601, 'wait'],
    [
      'answers for a verdict that is there',
      { started_at: begun.toISOString(), step: 'smoke_answered', task_token: 't' },
      0,
      61,
      'answer',
    ],
    [
      'waits for instances that are there',
      { started_at: begun.toISOString(), step: 'awaiting_last_instance', task_token: 't' },
      1,
      61,
      'wait',
    ],
    [
      'answers once the last instance is gone',
      { started_at: begun.toISOString(), step: 'awaiting_last_instance', task_token: 't' },
      0,
      61,
      'answer',
    ],
  ])('%s', (_, change, instance_count, seconds, decision) => {
    expect(repairOf({ ...planned, ...change }, { instance_count }, after(seconds))).toBe(decision);
  });
});

describe('what the workflow caught', () => {
  test.each([
    [
      'a refusal',
      { Error: 'version.artifacts_unready', Cause: '{"errorMessage":"It is revoked."}' },
      'version.artifacts_unready',
      'It is revoked.',
    ],
    [
      'silence',
      { Error: 'States.HeartbeatTimeout', Cause: '' },
      'promotion.timed_out',
      'The promotion timed out while it was waiting.',
    ],
    [
      'a fault of ours',
      { Error: 'TypeError', Cause: '{"errorMessage":"x.y is not a function"}' },
      'internal',
      'A step failed on our side; the log has the details under the correlation id.',
    ],
  ])('is told as people may read it: %s', (_, error, code, detail) => {
    expect(failureOf(error)).toEqual({ code, detail });
  });
});

describe('the workflow', () => {
  const machine = JSON.parse(
    readFileSync(join(ROOT, 'state-machines', 'run-promotion.asl.json'), 'utf8'),
  ) as { TimeoutSeconds: number; States: Record<string, { TimeoutSeconds: number }> };

  test('waits as long as the rules say, and lives long enough for it', () => {
    expect(machine.States['AwaitSmokeVerdict']?.TimeoutSeconds).toBe(SMOKE_SECONDS_MAX);
    expect(machine.States['AwaitLastInstance']?.TimeoutSeconds).toBe(LAST_INSTANCE_SECONDS_MAX);
    const longest = Math.max(
      SMOKE_SECONDS_MAX + BAKE_SECONDS_MAX,
      GRACE_SECONDS_MAX + LAST_INSTANCE_SECONDS_MAX,
    );
    expect(machine.TimeoutSeconds).toBeGreaterThan(longest + 24 * 3600);
    // The interpreter on this machine counts milliseconds in 31 bits.
    expect(machine.TimeoutSeconds).toBeLessThan(2 ** 31 / 1000);
  });
});

test('a promotion that runs is found by the sweep, and no longer once it has ended', async () => {
  const version = await releaseVersion({ status: 'canary' });
  await ask('publish', version);
  const key = promotionKey(subjectOfPromotion(version.app_slug, version.version));
  expect(await world.get(key)).toMatchObject({ gsi1pk: 'PROMOTIONS#OPEN#version' });
  await ask('rollback', version);
  expect(await world.get(key)).not.toHaveProperty('gsi1pk');
});
