import { afterAll, beforeAll, expect, test } from 'vitest';
import { openEcrWorld, type EcrWorld } from './ecr-world.ts';
import { MANIFEST_TYPE, OciClient } from './oci-client.ts';

let world: EcrWorld;

beforeAll(async () => {
  world = await openEcrWorld();
  world.ecr.putRepository({ name: 'team/fixed', tagMutability: 'IMMUTABLE' });
});

afterAll(() => world.close());

test('a fixed tag can not be moved however the path to it is spelt', async () => {
  const password = await world.password(world.principals.operator());
  const client = new OciClient(world.registry.url, 'team/fixed', password);
  const accept = { accept: MANIFEST_TYPE };
  const first = await client.push('v1', 'one');
  await client.push('other', 'two');
  const two = await (await client.call('GET', '/manifests/other', undefined, accept)).text();
  for (const path of ['/manifests/v1', '/manifests/%761', '/manifest%73/v1', '/%6danifests/v%31']) {
    const answer = await client.call('PUT', path, two, { 'content-type': MANIFEST_TYPE });
    expect(answer.status, path).toBe(400);
    expect(await answer.text()).toContain('TAG_INVALID');
  }
  const now = await client.call('HEAD', '/manifests/v1', undefined, accept);
  expect(now.headers.get('docker-content-digest')).toBe(first.digest);
});
