import { hash } from 'node:crypto';
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Bucket, type BucketWorld, CLEANER, type FileCode, openBucket, READER } from './bucket-world.ts';

const sha256 = (text: string | Buffer) => `sha256:${hash('sha256', text)}`;

let world: BucketWorld;
let store: FileCode;

beforeAll(async () => {
  world = await openBucket();
  store = await world.as(READER);
});

afterAll(async () => {
  await world?.close();
});

let n = 0;
let key = '';
beforeEach(() => {
  key = `projects/p/artifacts/app/1.0.0+build.${(n += 1)}/weights@cpu`;
});

const put = (body: string | Buffer, more: object = {}) => world.put(key, body, more);
const digest = async (versionId?: string) => {
  const object = await store.headObject(key, versionId);
  return object && store.digestObject(key, object);
};
const upload = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body, headers }).then(({ status }) => status);

describe('what is known of an object', () => {
  test('is its version, its length and the checksum it was uploaded with', async () => {
    const versionId = await put('weights', { ChecksumAlgorithm: 'SHA256' });
    expect(await store.headObject(key)).toEqual({
      versionId,
      sizeBytes: 7,
      storedAt: expect.any(Date) as Date,
      digest: sha256('weights'),
    });
  });

  test('is no digest where it was uploaded without one', async () => {
    await put('weights');
    expect(await store.headObject(key)).not.toHaveProperty('digest');
  });

  test('is no digest where the checksum is one of parts', async () => {
    const ChecksumAlgorithm = 'SHA256';
    const about = { Bucket, Key: key };
    const { UploadId } = await world.operator.send(
      new CreateMultipartUploadCommand({ ...about, ChecksumAlgorithm }),
    );
    const part = { PartNumber: 1, Body: 'weights', ChecksumAlgorithm } as const;
    const { ETag, ChecksumSHA256 } = await world.operator.send(
      new UploadPartCommand({ ...about, UploadId, ...part }),
    );
    const Parts = [{ ETag, ChecksumSHA256, PartNumber: 1 }];
    await world.operator.send(
      new CompleteMultipartUploadCommand({ ...about, UploadId, MultipartUpload: { Parts } }),
    );
    expect(await store.headObject(key)).not.toHaveProperty('digest');
    expect(await digest()).toBe(sha256('weights'));
  });

  test('is nothing where there is none, it was deleted, or its version is gone', async () => {
    expect(await store.headObject(key)).toBeUndefined();
    expect(await store.readObject(key, 10)).toBeUndefined();
    const versionId = await put('weights');
    const mark = await world.remove(key);
    expect(await store.headObject(key)).toBeUndefined();
    expect(await store.headObject(key, mark)).toBeUndefined();
    expect(await store.headObject(key, versionId)).toMatchObject({ versionId });
    await world.remove(key, versionId);
    expect(await store.headObject(key, versionId)).toBeUndefined();
    expect(await store.digestObject(key, { versionId, sizeBytes: 7 })).toBeUndefined();
  });

  test('stays true of a version when the object is written again', async () => {
    const versionId = await put('first');
    await put('second');
    expect(await store.headObject(key, versionId)).toMatchObject({ versionId, sizeBytes: 5 });
    expect(await digest(versionId)).toBe(sha256('first'));
  });
});

describe('reading', () => {
  test('ends where it is told to', async () => {
    await put('0123456789', { ChecksumAlgorithm: 'SHA256' });
    expect(String(await store.readObject(key, 10))).toBe('0123456789');
    expect(String(await store.readObject(key, 4))).toBe('0123');
  });

  test('digests the bytes that were uploaded, not what their encoding stands for', async () => {
    const { gzipSync } = await import('node:zlib');
    const body = gzipSync('weights');
    await put(body, { ContentEncoding: 'gzip' });
    expect(await digest()).toBe(sha256(body));
  });

  test('thirty megabytes are digested without being kept', async () => {
    const body = Buffer.alloc(30 * 1024 * 1024, 'w');
    await put(body);
    expect(await digest()).toBe(sha256(body));
  });

  test('what the role may not read is no absence', async () => {
    await put('weights');
    const blind = await world.as([]);
    await expect(blind.headObject(key)).rejects.toMatchObject({ code: 'store.unavailable' });
    await world.as(READER);
  });
});

describe('uploads', () => {
  test('go to the signed address, and to no other', async () => {
    const { url, headers } = await store.presignPut(key, { seconds: 60, now: new Date() });
    expect(headers).toEqual({});
    expect(await upload(url, 'weights')).toBe(200);
    expect(await store.headObject(key)).toMatchObject({ sizeBytes: 7 });
    expect(await upload(url.replace('weights', 'other'), 'weights')).toBe(403);
    expect((await fetch(url)).status).toBe(403);
  });

  test('are of the file that was agreed on, where its digest was', async () => {
    const asked = { seconds: 60, now: new Date(), digest: sha256('agreed') };
    const { url, headers } = await store.presignPut(key, asked);
    expect(await upload(url, 'agreed')).toBe(400);
    expect(await upload(url, 'something else', headers)).toBe(400);
    expect(await upload(url, 'agreed', headers)).toBe(200);
    expect(await store.headObject(key)).toMatchObject({ digest: sha256('agreed') });
  });

  test('end when their time is over', async () => {
    const now = new Date(Date.now() - 61_000);
    const { url } = await store.presignPut(key, { seconds: 60, now });
    expect(await upload(url, 'late')).toBe(403);
  });
});

describe('versions', () => {
  test('are listed page by page, deletions among them, and go one by one', async () => {
    const cleaner = await world.as(CLEANER);
    const prefix = key.slice(0, key.lastIndexOf('/') + 1);
    const ids = [await put('one'), await put('two')];
    await world.remove(key);
    const { files, next } = await cleaner.listObjectVersions(prefix);
    expect(next).toBeUndefined();
    expect(files.map(({ key: listed, sizeBytes }) => [listed, sizeBytes])).toEqual([
      [key, 0],
      [key, 3],
      [key, 3],
    ]);
    const after = { key, versionId: files[0]?.versionId ?? '' };
    expect((await cleaner.listObjectVersions(prefix, after)).files).toHaveLength(2);
    for (const id of [...ids, ...ids]) await cleaner.deleteVersion(key, id);
    expect((await cleaner.listObjectVersions(prefix)).files.map(({ sizeBytes }) => sizeBytes)).toEqual([0]);
  });
});

test('in the cloud the bucket stands in the host', async () => {
  vi.stubEnv('AWS_ENDPOINT_URL', undefined);
  vi.resetModules();
  const inTheCloud = await import('../../functions/storage/object-store.ts');
  try {
    const { url } = await inTheCloud.presignPut('projects/p/a b', { seconds: 60, now: new Date(0) });
    expect(url).toMatch(/^https:\/\/files\.s3\.us-east-1\.amazonaws\.com\/projects\/p\/a%20b\?/);
    expect(new URL(url).searchParams.get('X-Amz-Date')).toBe('19700101T000000Z');
  } finally {
    vi.stubEnv('AWS_ENDPOINT_URL', world.url);
  }
});
