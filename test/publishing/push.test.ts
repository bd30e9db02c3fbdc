import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Project } from '../../functions/identity/project.ts';
import { newId } from '../../functions/platform/ids.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { digestOf, MANIFEST_TYPE, OciClient } from '../local/registry/oci-client.ts';

// What the credential of a publish intent is good for at a real registry that asks for the same rights as ECR.

const INTENTS = 'POST /api/v1/projects/{project_id}/app-artifacts/publish-intents';

let world: World;
let scene: Scene;
let project: Project;
let admin: Person;

beforeAll(async () => {
  world = await openWorld({ registry: 'real' });
  scene = openScene(world);
  ({ project, admin } = await scene.place());
});

afterEach(() => vi.useRealTimers());

afterAll(() => world.close());

interface Credential {
  repository: string;
  password: string;
  expires_at: string;
}

async function obtain(): Promise<Credential> {
  const post = async (route: string, params: Record<string, string>, body: object) =>
    (
      await world.call(route, {
        params: { project_id: project.id, ...params },
        body,
        token: admin.token,
        headers: { 'x-idempotency-key': newId() },
      })
    ).body as Credential & { id: string; wrapping_token: string };
  const wanted = { app_slug: scene.slug(), app_version: '1.0.0', artifact_name: 'runtime' };
  const { id, wrapping_token } = await post(INTENTS, {}, wanted);
  return post(`${INTENTS}/{intent_id}/unwrap`, { intent_id: id }, { wrapping_token });
}

const clientOf = ({ password }: Credential, repository: string): OciClient =>
  new OciClient(world.services.registry.url, repository, password);

test('a client that asks before it pushes finds what it pushed, and cannot read a layer', async () => {
  const credential = await obtain();
  const client = clientOf(credential, credential.repository);
  const digest = await client.pushAskingFirst('v1', 'a layer');
  const found = await client.call('GET', '/manifests/v1', undefined, { accept: MANIFEST_TYPE });
  expect([found.status, digestOf(await found.text())]).toEqual([200, digest]);
  for (const path of [`/blobs/${digestOf('a layer')}`, '/tags/list'])
    expect((await client.call('GET', path)).status, path).toBe(403);
  expect((await client.call('DELETE', `/manifests/${digest}`)).status).toBe(403);
});

test('the credential of one repository is good for nothing in another', async () => {
  const [credential, sibling] = [await obtain(), await obtain()];
  const digest = await clientOf(sibling, sibling.repository).pushAskingFirst('v1', 'a layer');
  const client = clientOf(credential, sibling.repository);
  for (const path of ['/manifests/v1', `/manifests/${digest}`, `/blobs/${digestOf('a layer')}`])
    for (const method of ['HEAD', 'GET'])
      expect((await client.call(method, path)).status, `${method} ${path}`).toBe(403);
  await expect(client.pushAskingFirst('v2', 'a layer')).rejects.toThrow('403');
});

test('a credential that has expired is refused, to ask as well as to push', async () => {
  const credential = await obtain();
  const client = clientOf(credential, credential.repository);
  await client.pushAskingFirst('v1', 'a layer');
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse(credential.expires_at) });
  expect((await client.call('HEAD', '/manifests/v1')).status).toBe(403);
  expect((await client.push('v2', 'a layer')).status).toBe(403);
});
