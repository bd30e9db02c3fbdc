import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { artifactKind } from '../../functions/artifacts/artifact-kind.ts';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { findRelease } from '../../functions/catalog/keep-release.ts';
import { versionKind } from '../../functions/catalog/version-kind.ts';
import type { Version } from '../../functions/catalog/version.ts';
import { commit, Conflict } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { savePromotionPolicy } from '../../functions/promotion/keep-policy.ts';
import { DEFAULT_POLICY, type PromotionPolicy } from '../../functions/promotion/promotion-policy.ts';
import { recordLint } from '../../functions/promotion/promotion-steps.ts';
import type { Promotion } from '../../functions/promotion/promotion.ts';
import type { Body } from '../api/recipe.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { releaseVersion } from '../catalog/released.ts';

let world: World;
let scene: Scene;
let token: string;

beforeAll(async () => {
  world = await openWorld();
});
beforeEach(async () => {
  await world.clear();
  scene = openScene(world);
  ({ token } = await scene.platformAdmin());
});
afterAll(() => world.close());

const POLICY = '/api/v1/admin/apps/promotion-policy';
const REASON = { reason: 'Because.' };
const DEFAULTS = {
  smoke: { gate: 'person' },
  versions: { canary: { percent: 10 }, bake_seconds: 3600, failure_percent_max: 20, instances_min: 3 },
  artifacts: { bake_seconds: 0 },
  grace_seconds: 604_800,
};
const OTHER = {
  smoke: { gate: 'automatic' },
  versions: { canary: { percent: 50 }, bake_seconds: 60, failure_percent_max: 5, instances_min: 7 },
  artifacts: { bake_seconds: 30 },
  grace_seconds: 120,
} as const;

async function call(route: string, body?: object, more: { params?: object; headers?: object } = {}) {
  const headers = { 'x-idempotency-key': newId(), ...more.headers };
  const params = more.params as Record<string, string> | undefined;
  const answer = await world.call(route, { params, body, token, headers });
  return { ...answer, body: answer.body as Body };
}
const put = (policy: object, headers?: object) =>
  call(`PUT ${POLICY}`, { ...policy, ...REASON }, { headers });
const get = () => call(`GET ${POLICY}`);

describe('the policy', () => {
  test('that nobody has set is the platform’s default', async () => {
    const { status, headers, body } = await get();
    expect([status, headers['etag'], body]).toEqual([200, '"0"', { ...DEFAULTS, version: 0 }]);
  });

  test('is set as a whole: what is left out has its default again', async () => {
    expect((await put(OTHER)).body).toMatchObject(OTHER);
    const { body } = await put({ versions: { bake_seconds: 0 } });
    expect(body).toMatchObject({
      ...DEFAULTS,
      versions: { ...DEFAULTS.versions, bake_seconds: 0 },
      version: 2,
    });
    expect((await get()).body).toEqual(body);
  });

  test('that was changed meanwhile is not overwritten, from the first time on', async () => {
    const both = await Promise.all([put(OTHER, { 'if-match': '"0"' }), put({}, { 'if-match': '"0"' })]);
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([200, 412]));
    expect((await put({}, { 'if-match': '"0"' })).body).toMatchObject({ code: 'precondition.failed' });
    const { status, headers } = await put({}, { 'if-match': '"1"' });
    expect([status, headers['etag']]).toEqual([200, '"2"']);
  });

  test('takes the place of the one that was read, and of no other', async () => {
    const first = { ...OTHER, version: 1 };
    for (const [before, after] of [
      [DEFAULT_POLICY, first],
      [first, { ...OTHER, version: 2 }],
    ] as const) {
      await commit([savePromotionPolicy(before, after, undefined)]);
      await expect(commit([savePromotionPolicy(before, after, undefined)])).rejects.toThrow(Conflict);
    }
  });

  test('is audited with before, after and reason, and told', async () => {
    await put(OTHER);
    const [row, ...rows] = await world.items('AUDIT#');
    expect(rows).toEqual([]);
    expect(row).toMatchObject({
      action: 'catalog.promotion_policy.put',
      subject: 'promotion_policy',
      before: { ...DEFAULTS, version: 0 },
      after: { ...OTHER, version: 1 },
      ...REASON,
    });
    const events = (await world.items('OUTBOX#')).map(({ event }) => event);
    expect(events).toMatchObject([{ type: 'apps.promotion.policy_changed', data: { ...OTHER, version: 1 } }]);
  });

  test.each<[string, object, string]>([
    ['a gate for which hosts would have to run commands', { smoke: { gate: 'host' } }, '/smoke/gate'],
    ['no gate at all', { smoke: {} }, '/smoke/gate'],
    ['more than everybody', { versions: { canary: { percent: 101 } } }, '/versions/canary/percent'],
    ['projects by name', { versions: { canary: { project_ids: [] } } }, '/versions/canary/project_ids'],
    ['a bake of more than a week', { versions: { bake_seconds: 604_801 } }, '/versions/bake_seconds'],
    ['a bake that ended before', { artifacts: { bake_seconds: -1 } }, '/artifacts/bake_seconds'],
    ['an audience of artifacts', { artifacts: { instances_min: 1 } }, '/artifacts/instances_min'],
    ['a limit above all', { versions: { failure_percent_max: 101 } }, '/versions/failure_percent_max'],
    ['a judgement of nothing', { versions: { instances_min: 0 } }, '/versions/instances_min'],
    ['a grace of more than two weeks', { grace_seconds: 1_209_601 }, '/grace_seconds'],
  ])('cannot ask for %s', async (_, policy, pointer) => {
    expect((await put(policy)).body).toMatchObject({ code: 'request.invalid', errors: [{ pointer }] });
    expect((await get()).body).toMatchObject({ version: 0 });
  });

  test('needs a reason', async () => {
    expect((await call(`PUT ${POLICY}`, OTHER)).body).toMatchObject({ errors: [{ pointer: '/reason' }] });
  });
});

describe('what a promotion takes over from it', () => {
  const KINDS = { version: versionKind, artifact: artifactKind };
  const policy: PromotionPolicy = { ...OTHER, version: 1 };
  const { percent } = OTHER.versions.canary;
  const { canary: _, ...judged } = OTHER.versions;
  const canary = { percent, project_ids: [], ...judged };

  test.each([
    ['version', 'draft', 'staged', { smoke: OTHER.smoke }],
    ['version', 'draft', 'canary', { smoke: OTHER.smoke, canary }],
    ['version', 'draft', 'active', { smoke: OTHER.smoke, canary, grace_seconds: 120 }],
    ['version', 'staged', 'canary', { canary }],
    ['version', 'canary', 'active', { canary, grace_seconds: 120 }],
    ['artifact', 'draft', 'staged', {}],
    ['artifact', 'draft', 'active', { canary: OTHER.artifacts }],
  ] as const)('of a %s from %s to %s', (kind, from, target, terms) => {
    expect(KINDS[kind].termsOf(policy, from, target)).toEqual(terms);
  });

  test.each([
    ['draft', 'automatic', 'staging'],
    ['draft', 'person', 'awaiting_smoke'],
    // It was requested before there were policies.
    ['draft', undefined, 'awaiting_smoke'],
    ['staged', undefined, 'beginning_canary'],
  ] as const)('and where it goes on from %s with the gate %s: %s', (from, gate, step) => {
    expect(versionKind.afterGate({ from, ...(gate && { smoke: { gate } }) })).toBe(step);
  });

  const PROBLEM = { pointer: '/name', detail: 'Expected a name.' };

  test.each([
    ['automatic', [], 'staging', 'passed'],
    ['automatic', [PROBLEM], 'checking', undefined],
    ['person', [], 'checking', undefined],
    [undefined, [], 'checking', undefined],
  ] as const)('and how the gate %s decides after the check', (gate, problems, step, verdict) => {
    const checking = { step: 'checking', gates: {}, ...(gate && { smoke: { gate } }) } as Promotion;
    const after = recordLint(checking, [...problems], new Date());
    expect(after).toMatchObject({ step, gates: { lint: { verdict: problems[0] ? 'failed' : 'passed' } } });
    expect(after.gates.smoke?.verdict).toBe(verdict);
  });
});

describe('under a policy', () => {
  beforeEach(async () => void (await put(OTHER)));

  const ask = ({ app_slug, version }: Version, verb: string, body: object = REASON) =>
    call(`POST /api/v1/admin/apps/catalog/{app_slug}/versions/{version}/${verb}`, body, {
      params: { app_slug, version },
    });
  const askOf = ({ project_id, id }: Artifact, verb: string, body: object = REASON) =>
    call(`POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/${verb}`, body, {
      params: { project_id, artifact_id: id },
    });
  const graceOf = ({ body }: { body: Body }): number =>
    (Date.parse(String(body['retire_after'])) - Date.parse(String(body['deprecated_at']))) / 1000;
  const artifactAt = async (lifecycle_state: Artifact['lifecycle_state']) =>
    scene.artifact((await scene.place()).project, { trust_state: 'verified', lifecycle_state });

  test('a version is promoted as it says, and the promotion shows it', async () => {
    const { body } = await ask(await releaseVersion(), 'publish');
    expect(body).toMatchObject({
      smoke: { gate: 'automatic' },
      canary: { percent: 50, bake_seconds: 60, failure_percent_max: 5, instances_min: 7 },
      grace_seconds: 120,
    });
  });

  test('what the request says counts', async () => {
    const said = { canary: { percent: 1 }, bake_seconds: 2, failure_percent_max: 3, instances_min: 4 };
    const { body } = await ask(await releaseVersion(), 'publish', { ...REASON, ...said });
    const { canary, ...judged } = said;
    expect(body).toMatchObject({ canary: { ...canary, ...judged } });
    const { body: other } = await askOf(await artifactAt('draft'), 'promote', {
      ...REASON,
      target: 'active',
      bake_seconds: 2,
    });
    expect(other).toMatchObject({ canary: { bake_seconds: 2 } });
  });

  test('a canary that has begun goes on as it began', async () => {
    const version = await releaseVersion({ status: 'canary' });
    expect((await ask(version, 'publish')).body).toMatchObject({
      canary: { percent: 10, bake_seconds: 3600, failure_percent_max: 20, instances_min: 3 },
    });
  });

  test('the promotion after the next knows nothing of the one before', async () => {
    const version = await releaseVersion();
    await ask(version, 'publish');
    const { promotion } = await findRelease(version);
    expect(promotion?.smoke).toEqual({ gate: 'automatic' });
    const { handler } = await import('../../functions/catalog/run-promotion-step.ts');
    const { subject, operation_id } = promotion as Promotion;
    await handler({ run: 'fail', subject, operation_id, error: { Error: 'States.TaskFailed' } });
    await put({});
    await ask(version, 'promote', { ...REASON, target: 'staged' });
    const { promotion: next } = await findRelease(version);
    expect(next).toMatchObject({ smoke: { gate: 'person' } });
    expect(next).not.toHaveProperty('grace_seconds');
  });

  test('an artifact bakes as long as it says', async () => {
    const { body } = await askOf(await artifactAt('draft'), 'promote', { ...REASON, target: 'active' });
    expect(body).toMatchObject({ canary: { bake_seconds: 30 } });
    expect(body).not.toHaveProperty('smoke');
  });

  test('what is deprecated has its grace period, unless the request says another', async () => {
    const active = { status: 'active' } as const;
    const other = { ...REASON, grace_seconds: 7 };
    expect([
      graceOf(await ask(await releaseVersion(active), 'deprecate')),
      graceOf(await ask(await releaseVersion(active), 'deprecate', other)),
      graceOf(await askOf(await artifactAt('active'), 'deprecate')),
      graceOf(await askOf(await artifactAt('active'), 'deprecate', other)),
    ]).toEqual([120, 7, 120, 7]);
  });

  test('artifacts of another project stay unknown', async () => {
    const artifact = await artifactAt('active');
    const { project } = await scene.place();
    for (const verb of ['promote', 'deprecate']) {
      const body = verb === 'promote' ? { ...REASON, target: 'active' } : REASON;
      expect((await askOf({ ...artifact, project_id: project.id }, verb, body)).body).toMatchObject({
        code: 'artifact.unknown',
      });
    }
  });
});
