import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { findAnyArtifact } from '../../functions/artifacts/find-artifact.ts';
import { dueKey, instanceUseKey } from '../../functions/artifacts/keys.ts';
import { readHostRevision, readHostTrust, readTrust } from '../../functions/artifacts/read-trust.ts';
import { handler as reactToEvents } from '../../functions/artifacts/react-to-events.ts';
import { appKey } from '../../functions/catalog/keys.ts';
import type { Project } from '../../functions/identity/project.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import { newId } from '../../functions/platform/ids.ts';
import { putItem } from '../../functions/platform/data/table.ts';
import type { Body } from '../api/recipe.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { takeSnapshot } from '../api/snapshot.ts';
import { openWorld, type World } from '../api/world.ts';
import { releaseVersion } from '../catalog/released.ts';
import { DIGEST } from '../manifests/sample-manifest.ts';
import { react } from '../react.ts';
import { promoteOne } from './promoted.ts';

let world: World;
let scene: Scene;
let project: Project;
let owner: Person;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
});
beforeEach(async () => {
  ({ project, admin: owner } = await scene.place());
});
afterAll(() => world.close());

const ROUTE = 'POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke';
const BECAUSE = { reason: 'It phones home.' };

async function revoke({ id, project_id }: Artifact, body: object = BECAUSE, token = owner.token) {
  const answer = await world.call(ROUTE, { params: { project_id, artifact_id: id }, body, token });
  return { ...answer, body: answer.body as Body };
}

async function preview({ id, project_id }: Artifact, token = owner.token) {
  const answer = await world.call(`${ROUTE}/dry-run`, {
    params: { project_id, artifact_id: id },
    body: { ...BECAUSE, stop_instances: true },
    token,
  });
  return { ...answer, body: answer.body as Body };
}

const rowsAbout = async (prefix: string, text: string) =>
  (await world.items(prefix)).filter((row) => JSON.stringify(row).includes(text));

const eventsAbout = async (text: string): Promise<PlatformEvent[]> =>
  (await rowsAbout('OUTBOX#', text)).map(({ event }) => event as PlatformEvent);

/** What the relay leads to, twice. */
async function relay(artifact: Artifact): Promise<void> {
  const told = (await eventsAbout(artifact.id)).filter(({ type }) => type === 'apps.artifact.revoked');
  await react(reactToEvents, ...told, ...told);
}

interface Run {
  app_instance_id: string;
  org_id: string;
  project_id: string;
}

async function run(artifact: Artifact, stated: object = {}): Promise<Run> {
  const { digest, app_slug, app_version } = artifact;
  const row = {
    app_instance_id: newId(),
    org_id: newId(),
    project_id: newId(),
    app_slug,
    app_version,
    started_at: new Date().toISOString(),
    ...stated,
  };
  await putItem({ ...instanceUseKey(digest, row.app_instance_id), ...row });
  return row;
}

test('a revoked artifact is revoked for good: who, when and why is kept', async () => {
  const artifact = await scene.artifact(project, { lifecycle_state: 'active', trust_state: 'verified' });
  expect(await world.get(dueKey(artifact.id))).toBeDefined();
  const { status, body } = await revoke(artifact);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: artifact.id,
    lifecycle_state: 'active',
    trust_state: 'revoked',
    revoked: { by: `user:${owner.id}`, reason: 'It phones home.' },
    revoked_with: [],
  });
  const kept = await findAnyArtifact(artifact.id);
  const { revoked_with: _, ...view } = body;
  expect(kept).toEqual({ ...view, org_id: project.org_id, revision: 2 });
  // Nobody looks at it again.
  expect(await world.get(dueKey(artifact.id))).toBeUndefined();
});

test('the number hosts go by rises with a revocation, once, and with a policy, and nothing is verified again', async () => {
  const [hosts, artifacts] = [await readHostRevision(), (await readTrust()).revision];
  const artifact = await scene.artifact(project);
  await revoke(artifact);
  expect(await readHostTrust()).toMatchObject({ revision: hosts + 1 });
  await revoke(artifact);
  expect([await readHostRevision(), (await readTrust()).revision]).toEqual([hosts + 1, artifacts]);
  const { token } = await scene.platformAdmin();
  const params = { fingerprint: hash('sha256', newId()) };
  await world.call('PUT /api/v1/admin/artifacts/revoked-certificates/{fingerprint}', {
    params,
    body: BECAUSE,
    token,
  });
  expect([await readHostRevision(), (await readTrust()).revision]).toEqual([hosts + 2, artifacts + 1]);
});

test('revocations and changes of trust at one moment are all counted', async () => {
  const before = await readHostRevision();
  const artifacts: Artifact[] = [];
  while (artifacts.length < 6) artifacts.push(await scene.artifact(project));
  const { token } = await scene.platformAdmin();
  const answers = await Promise.all([
    ...artifacts.map((artifact) => revoke(artifact)),
    ...Array.from({ length: 4 }, () =>
      world.call('PUT /api/v1/admin/artifacts/revoked-certificates/{fingerprint}', {
        params: { fingerprint: hash('sha256', newId()) },
        body: BECAUSE,
        token,
      }),
    ),
  ]);
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  expect(await readHostRevision()).toBe(before + 10);
});

test('all artifacts of the same bytes in the project go with it, in one moment, and nobody else’s', async () => {
  const app_slug = scene.slug();
  const one = await scene.artifact(project, { app_slug, digest: DIGEST, artifact_name: 'a' });
  const others = [
    await scene.artifact(project, { app_slug, digest: DIGEST, artifact_name: 'b' }),
    await scene.artifact(project, { app_slug, digest: DIGEST, artifact_name: 'c' }),
  ];
  const { project: elsewhere } = await scene.place();
  const foreign = await scene.artifact(elsewhere, { digest: DIGEST, trust_state: 'verified' });
  const { body } = await revoke(one);
  expect(body['revoked_with'].sort()).toEqual(others.map(({ id }) => id).sort());
  for (const { id } of [one, ...others])
    expect(await findAnyArtifact(id)).toMatchObject({ trust_state: 'revoked', revision: 2 });
  expect(await findAnyArtifact(foreign.id)).toEqual(foreign);
  for (const { id } of [one, ...others]) {
    expect((await eventsAbout(id)).map(({ type }) => type)).toEqual(['apps.artifact.revoked']);
    expect(await rowsAbout('AUDIT#', `artifact:${id}`)).toMatchObject([
      { action: 'artifacts.artifact.revoke', after: { trust_state: 'revoked' }, reason: 'It phones home.' },
    ]);
  }
});

test('as many as may be the same are revoked in one transaction, each with an app of its own', async () => {
  const same = [];
  for (let count = 0; count < 18; count += 1) {
    const app_slug = scene.slug();
    await releaseVersion({ owner: project, slug: app_slug, status: 'active', artifact: null });
    same.push(
      await scene.artifact(project, {
        app_slug,
        digest: DIGEST,
        lifecycle_state: 'active',
        trust_state: 'verified',
      }),
    );
  }
  await expect(scene.artifact(project, { digest: DIGEST })).rejects.toMatchObject({
    code: 'artifact.too_many',
  });
  const [first] = same;
  expect((await revoke(first as Artifact)).status).toBe(200);
  for (const { app_slug } of same)
    expect((await world.get(appKey(app_slug)))?.['versions']).toMatchObject({
      '1.0.0': { status: 'active', untrusted: { runtime: 'revoked' } },
    });
});

test('revoked bytes are not registered again in the project, under no name', async () => {
  const artifact = await scene.artifact(project, { digest: DIGEST });
  await revoke(artifact);
  await expect(scene.artifact(project, { digest: DIGEST, app_version: '2.0.0' })).rejects.toMatchObject({
    code: 'artifact.revoked',
  });
});

test('bytes that are registered once more at that moment are revoked with it', async () => {
  const artifact = await scene.artifact(project, { digest: DIGEST });
  let other: Promise<Artifact> | undefined;
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const isOurs = JSON.stringify(args.input).includes(artifact.id);
        if (commandName === 'TransactWriteItemsCommand' && isOurs)
          await (other ??= scene.artifact(project, { digest: DIGEST, app_version: '2.0.0' }));
        return next(args);
      },
    { step: 'initialize', name: 'registerInBetween' },
  );
  const { status, body } = await revoke(artifact);
  dynamo().middlewareStack.remove('registerInBetween');
  const { id } = (await other) ?? {};
  expect({ status, body }).toMatchObject({ status: 200, body: { revoked_with: [id] } });
  expect(await findAnyArtifact(String(id))).toMatchObject({ trust_state: 'revoked' });
});

test('revoking again changes nothing and answers the same', async () => {
  const artifact = await scene.artifact(project);
  const { body } = await revoke(artifact);
  const again = await revoke(artifact, { reason: 'Another reason.' });
  expect(again).toMatchObject({ status: 200, body });
  expect(await findAnyArtifact(artifact.id)).toMatchObject({ revision: 2, revoked: BECAUSE });
  expect(await eventsAbout(artifact.id)).toHaveLength(1);
});

test('many who revoke at once revoke it once', async () => {
  const artifact = await scene.artifact(project);
  const answers = await Promise.all(Array.from({ length: 6 }, () => revoke(artifact)));
  for (const { status, body } of answers) expect(status, JSON.stringify(body)).toBe(200);
  expect(await findAnyArtifact(artifact.id)).toMatchObject({ revision: 2 });
  expect(await eventsAbout(artifact.id)).toHaveLength(1);
});

test('its promotion ends with that as the reason, and its retirement goes on', async () => {
  const artifact = await promoteOne(await scene.artifact(project));
  await revoke(artifact);
  await relay(artifact);
  const look = async ({ id }: Artifact) =>
    (
      await world.call('GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/promotion', {
        params: { project_id: project.id, artifact_id: id },
        token: owner.token,
      })
    ).body;
  expect(await look(artifact)).toMatchObject({
    status: 'failed',
    error: { code: 'artifact.revoked', detail: 'The artifact was revoked: It phones home.' },
  });
  expect(
    (await eventsAbout(artifact.id)).filter(({ type }) => type === 'apps.artifact.promotion_failed'),
  ).toHaveLength(1);
  const leaving = await scene.artifact(project, { lifecycle_state: 'deprecated' });
  const admin = await scene.platformAdmin();
  await world.call(ROUTE.replace('/revoke', '/retire'), {
    params: { project_id: project.id, artifact_id: leaving.id },
    body: BECAUSE,
    token: admin.token,
    headers: { 'x-idempotency-key': newId() },
  });
  await revoke(leaving);
  await relay(leaving);
  expect(await look(leaving)).toMatchObject({ status: 'running', target: 'retired' });
});

describe('a dry run', () => {
  test('lists what would be touched and changes nothing', async () => {
    const app_slug = scene.slug();
    await releaseVersion({ owner: project, slug: app_slug, status: 'active', artifact: null });
    const artifact = await scene.artifact(project, { app_slug, digest: DIGEST, lifecycle_state: 'active' });
    const same = await scene.artifact(project, { app_slug, digest: DIGEST, artifact_name: 'other' });
    const own = await run(artifact, { project_id: project.id });
    const foreign = await run(artifact);
    await run(artifact, { app_version: '9.0.0' });
    const before = await takeSnapshot(world);
    const { status, body } = await preview(artifact);
    expect(status).toBe(200);
    expect(body).toEqual({
      artifact_ids: [artifact.id, same.id],
      digest: DIGEST,
      versions: [{ app_slug, version: '1.0.0', status: 'active' }],
      projects: [{ project_id: project.id, is_registered: true, instance_count: 1 }],
      instances: [expect.objectContaining({ app_instance_id: own.app_instance_id, project_id: project.id })],
      others: { project_count: 1, instance_count: 1 },
      truncated: false,
    });
    const { body: inFull } = await preview(artifact, (await scene.platformAdmin()).token);
    expect(inFull['instances'].map((each: Run) => each.app_instance_id).sort()).toEqual(
      [own.app_instance_id, foreign.app_instance_id].sort(),
    );
    expect(inFull['others']).toEqual({ project_count: 0, instance_count: 0 });
    expect(await takeSnapshot(world)).toEqual(before);
  });

  test('is for those who may revoke', async () => {
    const artifact = await scene.artifact(project);
    const operator = await scene.member({ org_id: project.org_id, project_id: project.id }, 'app_operator');
    expect((await preview(artifact, operator.token)).status).toBe(403);
    expect((await revoke(artifact, BECAUSE, operator.token)).status).toBe(403);
  });
});
