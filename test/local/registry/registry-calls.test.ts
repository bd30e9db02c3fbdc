import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readCall } from '../../../lib/local/registry/registry-calls.ts';
import { openEcrWorld, type EcrWorld } from './ecr-world.ts';
import { digestOf, MANIFEST_TYPE, OciClient } from './oci-client.ts';

// Every request a registry is sent, and the permissions without which ECR refuses it.

const LAYER = 'a layer';
const BLOB = `/blobs/${digestOf(LAYER)}`;
const START = ['ecr:InitiateLayerUpload', 'ecr:BatchCheckLayerAvailability'];

const CALLS: [string, string, string, string[]][] = [
  ['HEAD', '/manifests/v1', '', ['ecr:BatchGetImage']],
  ['GET', '/manifests/v1', '', ['ecr:BatchGetImage']],
  ['PUT', '/manifests/v2', 'manifest', ['ecr:PutImage']],
  ['HEAD', BLOB, '', ['ecr:BatchCheckLayerAvailability']],
  ['GET', BLOB, '', ['ecr:GetDownloadUrlForLayer']],
  ['POST', '/blobs/uploads/', '', START],
  ['PATCH', '/blobs/uploads/an-upload', 'bytes', ['ecr:UploadLayerPart']],
  ['PUT', '/blobs/uploads/an-upload', '', ['ecr:CompleteLayerUpload']],
  ['PUT', '/blobs/uploads/an-upload', 'bytes', ['ecr:CompleteLayerUpload', 'ecr:UploadLayerPart']],
  ['GET', '/tags/list', '', ['ecr:ListImages']],
  ['GET', `/referrers/${digestOf('none')}`, '', ['ecr:BatchGetImage']],
  ['DELETE', `/manifests/${digestOf('none')}`, '', ['ecr:BatchDeleteImage']],
];
const EVERYTHING = [...new Set(CALLS.flatMap(([, , , permissions]) => permissions))];

let world: EcrWorld;

beforeAll(async () => {
  world = await openEcrWorld();
  world.ecr.putRepository({ name: 'team/app', tagMutability: 'MUTABLE' });
  await (await as(EVERYTHING)).push('v1', LAYER);
});

afterAll(() => world.close());

const as = async (permissions: string[]): Promise<OciClient> => {
  const password = await world.password(world.session(permissions, ['team/app']));
  return new OciClient(world.registry.url, 'team/app', password);
};

describe.each(CALLS)('%s %s %s', (method, path, body, permissions) => {
  const send = async (granted: string[]): Promise<Response> =>
    (await as(granted)).call(method, path, body || undefined, { accept: MANIFEST_TYPE });

  test(`takes no more than ${permissions.join(' and ')}`, async () => {
    expect((await send(permissions)).status).not.toBe(403);
  });

  test.each(permissions)('is denied without %s', async (missing) => {
    const answer = await send(EVERYTHING.filter((permission) => permission !== missing));
    expect(answer.status).toBe(403);
    if (method === 'HEAD') return;
    expect(await answer.json()).toEqual({
      errors: [
        {
          code: 'DENIED',
          message: expect.stringContaining(`is not authorized to perform: ${missing} on resource:`) as string,
        },
      ],
    });
  });
});

test.each([
  ['a list of all repositories', 'GET', '/v2/_catalog', 'unknown_path'],
  ['a path outside the API', 'GET', '/debug/vars', 'unknown_path'],
  ['the deletion of a layer', 'DELETE', `/v2/team/app${BLOB}`, 'unknown_method'],
])('%s is not served', (_, method, path, why) => {
  expect(readCall(method, path, false)).toBe(why);
});

test('a tag is of a manifest that is put, and a digest is none', () => {
  expect(readCall('PUT', '/v2/team/app/manifests/v1', true)).toMatchObject({ tag: 'v1' });
  expect(readCall('GET', '/v2/team/app/manifests/v1', false)).not.toHaveProperty('tag');
  expect(readCall('PUT', `/v2/team/app/manifests/${digestOf('x')}`, true)).not.toHaveProperty('tag');
});
