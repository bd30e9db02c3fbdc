import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatchDeleteImageCommand, CreateRepositoryCommand, ECRClient } from '@aws-sdk/client-ecr';
import { afterAll, expect, test } from 'vitest';
import { type AwsServices, openAwsServices } from '../services/aws-services-world.ts';
import { digestOf, MANIFEST_TYPE, OciClient } from './oci-client.ts';

const REPOSITORY = 'team/app';

const dataDir = mkdtempSync(join(tmpdir(), 'registry-garbage-'));

afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const pushing = ({ tokens, principals, registry }: AwsServices): OciClient =>
  new OciClient(registry.url, REPOSITORY, tokens.passwordFor(principals.operator()).password);

const isOnDisk = (content: string): boolean => {
  const hex = digestOf(content).slice('sha256:'.length);
  return (
    globSync(join(dataDir, 'registry/storage/docker/registry/v2/blobs/sha256/*', hex, 'data')).length > 0
  );
};

test('the space of a deleted image is free after the next start, and the others are whole', async () => {
  const first = await openAwsServices({ dataDir, registry: 'real' });
  const ecr = new ECRClient(first.asOperator());
  await ecr.send(new CreateRepositoryCommand({ repositoryName: REPOSITORY }));
  const before = pushing(first);
  const kept = await before.push('kept', 'a layer that stays');
  const deleted = await before.push('deleted', 'a layer that goes');
  // What is attached to an image is no part of it, and no tag needs to point to it.
  await before.pushBlob('{}');
  await before.pushBlob('a signature');
  const part = (content: string) => ({
    mediaType: 'application/octet-stream',
    digest: digestOf(content),
    size: content.length,
  });
  const attached = JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: part('{}'),
    layers: [part('a signature')],
    subject: { mediaType: MANIFEST_TYPE, digest: kept.digest, size: 1 },
  });
  expect((await before.putManifest(digestOf(attached), attached)).status).toBe(201);
  const imageIds = [{ imageDigest: deleted.digest }];
  await ecr.send(new BatchDeleteImageCommand({ repositoryName: REPOSITORY, imageIds }));
  expect(isOnDisk('a layer that goes')).toBe(true);
  await first.stop();

  const second = await openAwsServices({ dataDir, registry: 'real' });
  const after = pushing(second);
  expect(isOnDisk('a layer that goes')).toBe(false);
  for (const digest of [kept.digest, digestOf(attached)]) {
    expect(
      (await after.call('GET', `/manifests/${digest}`, undefined, { accept: MANIFEST_TYPE })).status,
    ).toBe(200);
  }
  for (const content of ['a layer that stays', 'a signature', '{}'])
    expect((await after.call('GET', `/blobs/${digestOf(content)}`)).status).toBe(200);
  // What was freed can be pushed again.
  expect((await after.push('again', 'a layer that goes')).status).toBe(201);
  await second.close();
});
