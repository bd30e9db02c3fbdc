import { compactVerify, importJWK } from 'jose';
import * as v from 'valibot';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { trustPolicyKey } from '../../functions/artifacts/keys.ts';
import { readHostRevision } from '../../functions/artifacts/read-trust.ts';
import { hostKey } from '../../functions/nodes/host-key.ts';
import { TrustDocument } from '../../functions/tasks/agent-api.ts';
import { planTrustDocument } from '../../functions/tasks/trust-document.ts';
import type { TrustPolicy } from '../../functions/trust/trust-policy.ts';
import { policyOfTests } from '../artifacts/signed-file.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { type Host, openTaskScene, type TaskScene } from './task-scene.ts';

let world: World;
let scene: Scene;
let tasks: TaskScene;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  tasks = openTaskScene(world, scene);
});
beforeEach(() => world.clear());
afterAll(() => world.close());

async function trustOf(host: Host): Promise<{ document: TrustDocument; typ?: string }> {
  const { body } = await tasks.say(host, 'GET /trust');
  const { publicKey } = await hostKey();
  const { payload, protectedHeader } = await compactVerify(
    body['document'] as string,
    await importJWK(publicKey, 'ES256'),
    { algorithms: ['ES256'] },
  );
  const document = v.parse(TrustDocument, JSON.parse(Buffer.from(payload).toString('utf8')));
  return { document, typ: protectedHeader.typ };
}

describe('the trust document of a host', () => {
  test('is signed for it, for an hour, and names every image it was asked to run', async () => {
    const { host, artifact } = await tasks.launched();
    const { document, typ } = await trustOf(host);
    expect(typ).toBe('gpuaas-trust+jwt');
    const { repository, digest } = artifact;
    expect(document).toMatchObject({
      node_id: host.id,
      revision: await readHostRevision(),
      assigned: [{ repository, digest, status: 'approved' }],
      allow_root_without_remap: false,
    });
    expect(document.exp - document.iat).toBe(3600);
    const idle = await tasks.host();
    expect((await trustOf(idle)).document).toMatchObject({ assigned: [], policies: [] });
    expect((await tasks.say(idle, 'GET /trust', { as: host.id })).body).toMatchObject({
      code: 'node.unknown',
    });
  });

  test('says what was revoked, under a later number than before, which the next task names', async () => {
    const { host, artifact, project, task } = await tasks.launched();
    const before = (await trustOf(host)).document;
    const { token } = await scene.platformAdmin();
    await world.call('POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke', {
      params: { project_id: project.id, artifact_id: artifact.id },
      body: { reason: 'It phones home.' },
      token,
    });
    const after = (await trustOf(host)).document;
    expect(after.revision).toBe(before.revision + 1);
    expect(after.assigned).toMatchObject([{ status: 'revoked' }]);
    await tasks.relay(task['id'] as string);
    expect(await tasks.received(host)).toMatchObject([
      { trust_revision: after.revision },
      { trust_revision: after.revision },
    ]);
    const again = await tasks.ask(host, 'oci.launch', tasks.launchOf(artifact, project));
    expect(again.body).toMatchObject({ code: 'task.image_unknown' });
  });

  test('of another project with the same bytes is not touched by a revocation', async () => {
    const { host, artifact } = await tasks.launched();
    const { project: elsewhere } = await scene.place();
    const same = await tasks.image(elsewhere, { digest: artifact.digest });
    await tasks.ask(host, 'oci.launch', tasks.launchOf(same, elsewhere));
    const { token } = await scene.platformAdmin();
    await world.call('POST /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/revoke', {
      params: { project_id: elsewhere.id, artifact_id: same.id },
      body: { reason: 'It phones home.' },
      token,
    });
    const { assigned } = (await trustOf(host)).document;
    expect(Object.fromEntries(assigned.map(({ repository, status }) => [repository, status]))).toEqual({
      [artifact.repository]: 'approved',
      [same.repository]: 'revoked',
    });
  });

  test('has the policies that count for its images, and no others', async () => {
    const { host, artifact } = await tasks.launched();
    const { pk: _pk, sk: _sk, ...any } = policyOfTests(new Date());
    const policies = [
      { ...any, name: 'any', repository_pattern: '*' },
      { ...any, name: 'own', repository_pattern: artifact.repository },
      { ...any, name: 'other', repository_pattern: 'gpuaas/apps/other/*' },
    ];
    for (const policy of policies) await world.put({ ...trustPolicyKey(policy.name), ...policy });
    expect((await trustOf(host)).document.policies.map(({ name }) => name)).toEqual(['own']);
  });
});

test('a document is made of what its images need', () => {
  const policy = { name: 'any', repository_pattern: '*' } as TrustPolicy;
  const image = {
    repository: 'gpuaas/apps/a/b',
    digest: `sha256:${'0'.repeat(64)}`,
    publisher_project_id: 'p',
  };
  const made = (images: object[]) =>
    planTrustDocument(
      {
        node_id: 'n',
        trust: { revision: 7, policies: [policy], revoked: [] },
        images: images as [],
        allowRootWithoutRemap: true,
      },
      new Date('2026-01-01T00:00:00.999Z'),
    );
  expect(made([])).toEqual({
    node_id: 'n',
    revision: 7,
    policies: [],
    revoked_certificates: [],
    assigned: [],
    iat: Date.UTC(2026) / 1000,
    exp: Date.UTC(2026) / 1000 + 3600,
    allow_root_without_remap: true,
  });
  expect(made([{ ...image, isRevoked: true }])).toMatchObject({
    policies: [policy],
    assigned: [{ status: 'revoked' }],
  });
});
