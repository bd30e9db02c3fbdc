import { artifactKey } from '../../functions/catalog/readiness.ts';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Body } from '../api/recipe.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { registrationOf } from './signed-file.ts';
import { withoutBucket } from '../storage/absent-bucket.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const ARTIFACTS = '/api/v1/projects/{project_id}/app-artifacts';

let world: World;
let scene: Scene;
let place: Awaited<ReturnType<Scene['place']>>;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  place = await scene.place();
});

afterAll(async () => {
  await world?.close();
});

const post = async (
  path: string,
  body?: object,
  params: Record<string, string> = {},
  key: string = crypto.randomUUID(),
) => {
  const {
    status,
    headers,
    body: answered,
  } = await world.call(`POST ${ARTIFACTS}${path}`, {
    params: { project_id: place.project.id, ...params },
    token: place.admin.token,
    headers: { 'x-idempotency-key': key },
    ...(body && { body }),
  });
  return { status, headers, body: answered as Body };
};
const register = (file: Parameters<typeof registrationOf>[0], key?: string) =>
  post('', registrationOf(file), {}, key);
const verify = (artifact_id: string) => post('/{artifact_id}/verify', undefined, { artifact_id });

describe('a file', () => {
  test('that somebody trusted has signed is registered, verified, and stays what it was', async () => {
    const file = await scene.file(place.project, { signed: true, content: 'weights' });
    const registered = await register(file);
    expect(registered).toMatchObject({
      status: 201,
      body: {
        artifact_kind: 'blob',
        lifecycle_state: 'draft',
        trust_state: 'unverified',
        size_bytes: 7,
        object: file.object,
      },
    });
    const id = registered.body['id'] as string;
    expect(await verify(id)).toMatchObject({ status: 200, body: { trust_state: 'verified' } });
    await world.putObject(file.object.key, 'something else');
    expect(await verify(id)).toMatchObject({
      status: 200,
      body: { digest: file.digest, object: file.object },
    });
    await world.removeObject(file.object.key, file.object.version_id);
    expect(await verify(id)).toMatchObject({ status: 422, body: { code: 'artifact.untrusted' } });
    expect(await world.get(artifactKey(id))).toMatchObject({
      trust_state: 'unverified',
      verification: { fault: { code: 'content.absent' } },
    });
  });

  test('keeps its trust while its next builds are uploaded and signed under the same name', async () => {
    const app_slug = scene.slug();
    const first = await scene.file(place.project, { app_slug, signed: true, content: 'first build' });
    const { body } = await register(first);
    for (let build = 2; build <= 25; build += 1)
      await scene.file(place.project, { app_slug, signed: true, content: `build ${build}` });
    const last = await register(await scene.file(place.project, { app_slug, signed: true, content: 'last' }));
    for (const id of [body['id'], last.body['id']])
      expect(await verify(id as string)).toMatchObject({ status: 200, body: { trust_state: 'verified' } });
  });

  test.each([
    ['nobody has signed', {}, 'signature.none'],
    ['was signed before it was changed', { signed: 'other' }, 'signature.target'],
  ])('that %s is not trusted', async (_why, { signed }: { signed?: string }, fault) => {
    const app_slug = scene.slug();
    if (signed !== undefined) await scene.file(place.project, { app_slug, signed: true, content: signed });
    const file = await scene.file(place.project, { app_slug });
    const { body } = await register(file);
    expect(await verify(body['id'] as string)).toMatchObject({ status: 422 });
    expect(await world.get(artifactKey(body['id'] as string))).toMatchObject({
      trust_state: 'unverified',
      verification: { fault: { code: fault } },
    });
  });

  test('of another project cannot be registered here', async () => {
    const file = await scene.file((await scene.place()).project);
    expect(await register(file)).toMatchObject({ status: 422, body: { code: 'artifact.foreign_source' } });
  });
});

test('while the bucket does not answer nothing is registered, and the same request succeeds when it does', async () => {
  const hostile = createServer((_, response) => response.writeHead(503).end());
  await new Promise<void>((resolve) => hostile.listen(0, '127.0.0.1', resolve));
  const file = await scene.file(place.project);
  const key = crypto.randomUUID();
  const rows = async () =>
    (await Promise.all(['ARTIFACT#', 'CONTENT#', 'AUDIT#', 'OUTBOX#'].map((pk) => world.items(pk)))).flat()
      .length;
  const before = await rows();
  const { port } = hostile.address() as AddressInfo;
  const refused = await withoutBucket(() => register(file, key), port);
  hostile.close();
  expect(refused).toMatchObject({
    status: 503,
    headers: { 'retry-after': '5' },
    body: { code: 'store.unavailable', retryable: true },
  });
  expect(await rows()).toBe(before);
  expect(await register(file, key)).toMatchObject({ status: 201 });
});
