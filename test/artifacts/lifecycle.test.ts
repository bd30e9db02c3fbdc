import {
  type ArtifactMove,
  ArtifactMoved,
  moveArtifact,
} from '../../functions/artifacts/artifact-transition.ts';
import { type Artifact, LIFECYCLE_STATES, type LifecycleState } from '../../functions/artifacts/artifact.ts';
import { findAnyArtifact } from '../../functions/artifacts/find-artifact.ts';
import { instanceUseKey } from '../../functions/artifacts/keys.ts';
import { saveArtifact } from '../../functions/artifacts/save-artifact.ts';
import { versionKey } from '../../functions/catalog/keys.ts';
import { artifactKey } from '../../functions/catalog/readiness.ts';
import { planProject, type Project } from '../../functions/identity/project.ts';
import { commit, Conflict } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { FOLLOWING } from '../../functions/promotion/status.ts';
import type { Body } from '../api/recipe.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { planArtifact } from './planned-artifact.ts';
import { releaseVersion } from '../catalog/released.ts';
import { DIGEST } from '../manifests/sample-manifest.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const now = new Date('2026-11-16T04:00:00.000Z');
const PROJECT = planProject('project', 'org', { name: 'A project', slug: 'a-project' }, now);

const planned = (stated: Partial<Artifact>): Artifact =>
  planArtifact(PROJECT, { app_slug: 'sample', trust_state: 'verified', ...stated }, now);

const moveTo = (to: Exclude<LifecycleState, 'draft'>): ArtifactMove =>
  to === 'deprecated' ? { to, graceSeconds: 3600 } : { to };

describe('an artifact', () => {
  const pairs = LIFECYCLE_STATES.flatMap((from) => LIFECYCLE_STATES.map((to) => ({ from, to })));

  test.each(pairs)('that is $from may become $to only if that is drawn', ({ from, to }) => {
    if (to === 'draft') return;
    const move = () => moveArtifact(planned({ lifecycle_state: from }), moveTo(to), now);
    const drawn: readonly LifecycleState[] = FOLLOWING[from];
    if (!drawn.includes(to)) expect(move).toThrow(expect.objectContaining({ code: 'artifact.wrong_state' }));
    else expect(move()).toMatchObject({ lifecycle_state: to, updated_at: now.toISOString() });
  });

  test.each([
    ['draft', 'staged', false],
    ['staged', 'canary', false],
    ['canary', 'active', false],
    ['canary', 'staged', true],
    ['active', 'deprecated', true],
    ['deprecated', 'retired', true],
  ] as const)('without trust moves from %s to %s: %s', (lifecycle_state, to, may) => {
    const unverified = planned({ lifecycle_state, trust_state: 'unverified' });
    const revoked = planned({ lifecycle_state, trust_state: 'revoked' });
    const codes = [unverified, revoked].map((artifact) => {
      try {
        return moveArtifact(artifact, moveTo(to), now).lifecycle_state;
      } catch (error) {
        return (error as { code: string }).code;
      }
    });
    expect(codes).toEqual(may ? [to, to] : ['artifact.untrusted', 'artifact.revoked']);
  });

  test('keeps its dates, and is not retired before its grace period is over', () => {
    const active = moveArtifact(planned({ lifecycle_state: 'canary' }), { to: 'active' }, now);
    expect(active.activated_at).toBe(now.toISOString());
    const deprecated = moveArtifact(active, { to: 'deprecated', graceSeconds: 3600 }, now);
    expect(deprecated).toMatchObject({
      activated_at: now.toISOString(),
      deprecated_at: now.toISOString(),
      retire_after: '2026-11-16T05:00:00.000Z',
    });
    expect(() => moveArtifact(deprecated, { to: 'retired' }, now)).toThrow(/grace period lasts until/);
    expect(ArtifactMoved(active, deprecated).type).toBe('apps.artifact.deprecated');
    const staged = planned({ lifecycle_state: 'staged' });
    expect(ArtifactMoved(planned({ lifecycle_state: 'canary' }), staged).type).toBe(
      'apps.artifact.rolled_back',
    );
  });
});

let world: World;
let scene: Scene;
let admin: string;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  admin = (await scene.platformAdmin()).token;
});
afterAll(() => world.close());

async function ask(
  verb: string,
  { id, project_id }: Pick<Artifact, 'id' | 'project_id'>,
  body: object = { reason: 'Because.' },
) {
  const answer = await world.call(`POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/${verb}`, {
    params: { project_id, artifact_id: id },
    body,
    token: admin,
    headers: { 'x-idempotency-key': newId() },
  });
  return { ...answer, body: answer.body as Body };
}

const look = async ({ id, project_id }: Artifact, token = admin) =>
  (
    await world.call('GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/promotion', {
      params: { project_id, artifact_id: id },
      token,
    })
  ).body as Body;

const stateOf = async ({ id }: Artifact): Promise<string | undefined> =>
  (await findAnyArtifact(id))?.lifecycle_state;

/** A version in some status over an artifact in some state. */
async function overArtifact(
  project: Project,
  version: 'draft' | 'staged' | 'canary' | 'active' | 'deprecated' | 'retired',
  lifecycle_state: LifecycleState,
): Promise<Artifact> {
  const app_slug = scene.slug();
  const status = version === 'retired' ? 'deprecated' : version;
  await releaseVersion({ owner: project, slug: app_slug, status, artifact: null });
  if (version === 'retired') await world.set(versionKey(app_slug, '1.0.0'), 'status', 'retired');
  if (version === 'retired') await world.set({ pk: 'CATALOG', sk: `APP#${app_slug}` }, 'versions', {});
  return scene.artifact(project, { app_slug, digest: DIGEST, lifecycle_state, trust_state: 'verified' });
}

describe('a version', () => {
  test.each([
    ['draft', 'active', 'deprecate', 200],
    ['staged', 'active', 'deprecate', 409],
    ['canary', 'active', 'deprecate', 409],
    ['active', 'active', 'deprecate', 409],
    ['deprecated', 'active', 'deprecate', 200],
    ['retired', 'active', 'deprecate', 200],
    ['draft', 'canary', 'rollback', 200],
    ['staged', 'canary', 'rollback', 200],
    ['canary', 'canary', 'rollback', 409],
    ['draft', 'deprecated', 'retire', 202],
    ['deprecated', 'deprecated', 'retire', 409],
    ['retired', 'deprecated', 'retire', 202],
  ] as const)(
    'that is %s over an artifact that is %s: %s answers %d',
    async (version, state, verb, status) => {
      const { project } = await scene.place();
      const artifact = await overArtifact(project, version, state);
      const { body, ...answer } = await ask(verb, artifact);
      expect(answer.status, answer.text).toBe(status);
      if (status !== 409) return;
      expect(body).toMatchObject({ code: 'artifact.in_use' });
      expect(body['detail']).toContain(`Version 1.0.0 of ${artifact.app_slug} is ${version}`);
      expect(await stateOf(artifact)).toBe(state);
    },
  );

  test('of the app that names another build does not hold this one', async () => {
    const { project } = await scene.place();
    const { app_slug } = await overArtifact(project, 'active', 'active');
    const other = await scene.artifact(project, {
      app_slug,
      lifecycle_state: 'active',
      trust_state: 'verified',
    });
    expect((await ask('deprecate', other)).status).toBe(200);
  });
});

describe('a promotion', () => {
  test('is accepted, and says where to look and what it waits for', async () => {
    const { project, admin: owner } = await scene.place();
    const artifact = await scene.artifact(project);
    const { status, headers, body } = await ask('promote', artifact, {
      target: 'active',
      reason: 'Because.',
      bake_seconds: 60,
    });
    expect(status).toBe(202);
    const path = `/api/v1/projects/${project.id}/app-artifacts/${artifact.id}`;
    expect(headers['location']).toBe(`${path}/promotion`);
    const told = {
      artifact_id: artifact.id,
      lifecycle_state: 'draft',
      from: 'draft',
      target: 'active',
      status: 'running',
      step: 'verifying',
      canary: { bake_seconds: 60 },
      waiting_for: 'The signature and the provenance are being verified.',
    };
    expect(body).toMatchObject(told);
    expect(await look(artifact, owner.token)).toEqual(body);
  });

  test('is asked for with a reason, and without an audience: who gets it first is said of versions', async () => {
    const artifact = await scene.artifact((await scene.place()).project);
    for (const body of [
      { target: 'active' },
      { target: 'active', reason: 'Because.', canary: { percent: 5 } },
      { target: 'retired', reason: 'Because.' },
    ])
      expect((await ask('promote', artifact, body)).body).toMatchObject({ code: 'request.invalid' });
  });

  test.each([
    ['active', 'staged', 'artifact.wrong_state'],
    ['canary', 'staged', 'artifact.wrong_state'],
    ['retired', 'active', 'artifact.wrong_state'],
  ] as const)('of a %s artifact to %s is refused', async (lifecycle_state, target, code) => {
    const { project } = await scene.place();
    const artifact = await scene.artifact(project, { lifecycle_state, trust_state: 'verified' });
    expect((await ask('promote', artifact, { target, reason: 'Because.' })).body).toMatchObject({ code });
  });

  test('of a revoked artifact is refused, its retirement is not', async () => {
    const { project } = await scene.place();
    const artifact = await scene.artifact(project, { lifecycle_state: 'active', trust_state: 'revoked' });
    const body = { target: 'canary', reason: 'Because.' };
    expect((await ask('promote', artifact, body)).body).toMatchObject({ code: 'artifact.wrong_state' });
    const draft = await scene.artifact(project, { trust_state: 'revoked' });
    expect((await ask('promote', draft, body)).body).toMatchObject({ code: 'artifact.revoked' });
    expect((await ask('deprecate', artifact, { reason: 'Because.', grace_seconds: 0 })).status).toBe(200);
    expect((await ask('retire', artifact)).status).toBe(202);
  });

  test('is nobody else’s to see or to ask for', async () => {
    const artifact = await scene.artifact((await scene.place()).project);
    const { project, admin: other } = await scene.place();
    const elsewhere = { ...artifact, project_id: project.id };
    const absent = { ...elsewhere, id: newId() };
    expect(await look(elsewhere, other.token)).toMatchObject({ status: 404, code: 'artifact.unknown' });
    const body = { target: 'active', reason: 'Because.' };
    const answers = [await ask('promote', elsewhere, body), await ask('promote', absent, body)].map(
      (each) => ({ ...each.body, correlation_id: undefined }),
    );
    expect(answers[0]).toMatchObject({ status: 404, code: 'artifact.unknown' });
    expect(answers[1]).toEqual(answers[0]);
  });
});

describe('a retirement', () => {
  test('is refused while an instance of the app runs the bytes, and says how many do', async () => {
    const { project } = await scene.place();
    const artifact = await scene.artifact(project, { lifecycle_state: 'deprecated' });
    const { digest, app_slug } = artifact;
    const run = (slug: string) => {
      const app_instance_id = newId();
      return world.put({
        ...instanceUseKey(digest, app_instance_id),
        app_instance_id,
        org_id: newId(),
        project_id: newId(),
        app_slug: slug,
        app_version: '2.0.0',
        started_at: now.toISOString(),
      });
    };
    await run('another-app');
    await run(app_slug);
    expect((await ask('retire', artifact)).body).toMatchObject({
      code: 'artifact.in_use',
      detail: 'One instance runs the artifact.',
    });
    await run(app_slug);
    expect((await ask('retire', artifact)).body).toMatchObject({
      code: 'artifact.in_use',
      detail: '2 instances run the artifact.',
    });
  });

  test('waits out the grace period, and says until when', async () => {
    const { project } = await scene.place();
    const artifact = await scene.artifact(project, { lifecycle_state: 'active', trust_state: 'verified' });
    const { body: deprecated } = await ask('deprecate', artifact, { reason: 'Because.', grace_seconds: 600 });
    const { body } = await ask('retire', artifact);
    expect(body['waiting_for']).toBe(
      `Waiting for the grace period to end at ${String(deprecated['retire_after'])}.`,
    );
  });
});

test('an artifact that was never promoted says so', async () => {
  const { project } = await scene.place();
  expect(await look(await scene.artifact(project))).toMatchObject({ code: 'promotion.unknown' });
});

test('what is written about an artifact is conditional on what was read', async () => {
  const { project } = await scene.place();
  const artifact = await scene.artifact(project, { lifecycle_state: 'active', trust_state: 'verified' });
  const answers = await Promise.all(Array.from({ length: 5 }, () => ask('deprecate', artifact)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect((await world.get(artifactKey(artifact.id)))?.['revision']).toBe(2);
  await expect(commit(saveArtifact(artifact, artifact))).rejects.toBeInstanceOf(Conflict);
});
