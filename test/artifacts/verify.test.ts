import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { findAnyArtifact } from '../../functions/artifacts/find-artifact.ts';
import { dueKey, trustPolicyKey } from '../../functions/artifacts/keys.ts';
import { signatureKeyOf } from '../../functions/storage/repository.ts';
import type { Project } from '../../functions/identity/project.ts';
import { appKey } from '../../functions/catalog/keys.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Body } from '../api/recipe.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { releaseVersion } from '../catalog/released.ts';
import { signFile } from './signed-file.ts';

let world: World;
let scene: Scene;
let project: Project;
let owner: Person;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  ({ project, admin: owner } = await scene.place());
});
afterAll(() => world.close());

async function verify({ id, project_id }: Artifact, token = owner.token) {
  const answer = await world.call('POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/verify', {
    params: { project_id, artifact_id: id },
    token,
  });
  return { ...answer, body: answer.body as Body };
}

const recordsOf = async ({ id }: Artifact) => ({
  audit: (await world.items('AUDIT#')).filter(({ subject }) => subject === `artifact:${id}`),
  events: (await world.items('OUTBOX#'))
    .map(({ event }) => event as Body)
    .filter(({ data }) => (data as Body)['artifact_id'] === id),
});

/** A file of its own, registered. */
async function register(stated: Partial<Artifact> & { signed?: boolean; content?: string } = {}) {
  const { signed: _signed, content: _content, ...rest } = stated;
  return scene.artifact(project, { ...(await scene.file(project, stated)), ...rest });
}

test('a signed file is verified, and what was found is kept', async () => {
  const artifact = await register({ signed: true });
  const { status, body } = await verify(artifact);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    trust_state: 'verified',
    lifecycle_state: 'draft',
    verification: {
      verdict: 'verified',
      policy: { name: 'tests', version: 1 },
      signer: { subject: expect.stringContaining('O=Example') as string },
    },
  });
  expect(body).not.toHaveProperty('revision');
  expect(await findAnyArtifact(artifact.id)).toMatchObject({ ...body, revision: 2 });
  expect(await recordsOf(artifact)).toMatchObject({
    audit: [{ before: { trust_state: 'unverified' }, after: { trust_state: 'verified' } }],
    events: [{ type: 'apps.artifact.verified', data: { trust_state: 'verified' } }],
  });
});

test('one that is not signed is refused with the reason, which is kept, told and audited', async () => {
  const artifact = await register();
  const { status, body } = await verify(artifact);
  expect(status).toBe(422);
  expect(body).toMatchObject({
    code: 'artifact.untrusted',
    retryable: false,
    detail: expect.stringMatching(/^signature\.none: /) as string,
  });
  expect(await findAnyArtifact(artifact.id)).toMatchObject({
    trust_state: 'unverified',
    verification: { verdict: 'refused', fault: { code: 'signature.none' } },
  });
  expect(await recordsOf(artifact)).toMatchObject({
    audit: [{ after: { fault: { code: 'signature.none' } } }],
    events: [{ type: 'apps.artifact.verification_failed', data: { fault: { code: 'signature.none' } } }],
  });
});

test.each([
  ['was revoked', { trust_state: 'revoked' }, 'artifact.revoked'],
  ['is retired', { lifecycle_state: 'retired' }, 'artifact.wrong_state'],
] as const)('one that %s is not looked at', async (_, stated, code) => {
  const artifact = await register({ ...stated, signed: true });
  expect((await verify(artifact)).body).toMatchObject({ status: 409, code });
  expect(await recordsOf(artifact)).toEqual({ audit: [], events: [] });
});

test('where nothing answers, nothing changes and the caller may try again', async () => {
  // There is no registry in this world.
  const image = await scene.artifact(project);
  const { body, headers } = await verify(image);
  expect(body).toMatchObject({ status: 503, code: 'registry.unavailable', retryable: true });
  expect(headers['retry-after']).toBeDefined();
  expect(await findAnyArtifact(image.id)).toEqual(image);
  expect(await recordsOf(image)).toEqual({ audit: [], events: [] });
});

describe('trust that is lost', () => {
  const OTHER = 'sha256:none';

  /** An active version over a verified artifact, which a project may launch. */
  async function launchable(): Promise<Artifact> {
    const app_slug = scene.slug();
    const content = newId();
    const file = await scene.file(project, { app_slug, artifact_name: 'runtime', signed: true, content });
    await releaseVersion({
      owner: project,
      slug: app_slug,
      status: 'active',
      digest: file.digest,
      artifact: null,
    });
    const artifact = await scene.artifact(project, { ...file, lifecycle_state: 'active' });
    expect((await verify(artifact)).status).toBe(200);
    await world.call('PUT /api/v1/projects/{project_id}/apps/entitlements/{app_slug}', {
      params: { project_id: project.id, app_slug },
      body: { enabled: true },
      token: owner.token,
    });
    return artifact;
  }

  const offered = async ({ app_slug }: Artifact) => {
    const { body } = await world.call('GET /api/v1/projects/{project_id}/apps/catalog', {
      params: { project_id: project.id },
      query: { search: app_slug },
      token: owner.token,
    });
    return (body as { items: Body[] }).items[0];
  };

  test('blocks launches at once, and no longer once it is found again', async () => {
    const artifact = await launchable();
    expect(await offered(artifact)).toMatchObject({ launchable: true, launch_version: '1.0.0' });
    const policy = await world.get(trustPolicyKey('tests'));
    await world.set(trustPolicyKey('tests'), 'identities', ['O=Somebody else']);
    expect((await verify(artifact)).body).toMatchObject({ code: 'artifact.untrusted' });
    expect(await offered(artifact)).toMatchObject({
      launchable: false,
      launch_version: null,
      reasons: [
        {
          code: 'artifact.untrusted',
          detail: 'Version 1.0.0 cannot be launched: its artifact “runtime” is unverified.',
        },
      ],
    });
    // It is tried again within the hour.
    const due = await world.get(dueKey(artifact.id));
    expect(Date.parse(String(due?.['gsi1sk']))).toBeLessThan(Date.now() + 3_700_000);
    await world.put(policy ?? {});
    expect((await verify(artifact)).status).toBe(200);
    expect(await offered(artifact)).toMatchObject({ launchable: true, reasons: [] });
    expect((await world.get(appKey(artifact.app_slug)))?.['versions']).toEqual({
      '1.0.0': { status: 'active', internal: false },
    });
  });

  test('is not lost by what is uploaded over its signature: the next build has the same names', async () => {
    const artifact = await launchable();
    const key = signatureKeyOf(artifact.object?.key ?? '');
    await world.putObject(key, await signFile(OTHER, new Date()));
    expect(await verify(artifact)).toMatchObject({ status: 200, body: { trust_state: 'verified' } });
    expect(await offered(artifact)).toMatchObject({ launchable: true });
  });

  test('of an artifact no version names concerns no app', async () => {
    const named = await launchable();
    const other = await register({
      app_slug: named.app_slug,
      artifact_name: 'other',
      lifecycle_state: 'active',
    });
    expect((await verify(other)).status).toBe(422);
    expect(await offered(named)).toMatchObject({ launchable: true });
  });
});

test('two who verify at once both get an answer, and each look is told', async () => {
  const artifact = await register({ signed: true });
  const answers = await Promise.all([verify(artifact), verify(artifact), verify(artifact)]);
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  const { revision } = (await findAnyArtifact(artifact.id)) ?? {};
  expect((await recordsOf(artifact)).audit).toHaveLength((revision ?? 0) - 1);
});
