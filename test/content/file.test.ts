import { hash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  chooseVersions,
  FILE_BYTES_MAX,
  type FileAsked,
  requireFileSize,
  requireOwnSource,
} from '../../functions/content/file.ts';
import { objectKeyOf } from '../../functions/storage/repository.ts';
import { type BucketWorld, type FileCode, openBucket, READER } from '../storage/bucket-world.ts';

const sha256 = (text: string) => `sha256:${hash('sha256', text)}`;
const upload = (url: string, body: string, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'PUT', body, headers }).then(({ status }) => status);

let world: BucketWorld;
let code: FileCode;
let n = 0;
let file: FileAsked;
let key: string;

beforeAll(async () => {
  world = await openBucket();
  code = await world.as(READER);
});

afterAll(async () => {
  await world?.close();
});

beforeEach(() => {
  file = {
    project_id: '01980000-0000-7000-8000-000000000001',
    app_slug: `app-${(n += 1)}`,
    app_version: '1.0.0-rc.1+build.5',
    artifact_name: 'weights',
    digest: sha256('weights'),
  };
  key = objectKeyOf(file);
});

const find = (more: Partial<FileAsked> = {}) => code.findFile({ ...file, ...more }, new Date());

describe('a file that was uploaded', () => {
  test('is found by its digest, and is that version of the object from then on', async () => {
    const now = new Date();
    const uploads = await code.uploadsFor(file, 60, now);
    expect(uploads).toMatchObject({
      upload_method: 'PUT',
      upload_headers: { 'x-amz-checksum-sha256': hash('sha256', 'weights', 'base64') },
      upload_expires_at: new Date(now.getTime() + 60_000).toISOString(),
    });
    expect(await upload(uploads.secrets.upload_path, 'weights', uploads.upload_headers)).toBe(200);
    const found = await find();
    expect(found).toEqual({
      source_uri: `artifact_store://${key}`,
      media_type: 'application/octet-stream',
      size_bytes: 7,
      object: { key, version_id: expect.any(String) as string },
    });
    await world.put(key, 'something else');
    await expect(find()).rejects.toMatchObject({ code: 'artifact.mismatched' });
    expect(await code.headObject(key, found.object.version_id)).toMatchObject({ digest: file.digest });
  });

  test('without a checksum is digested here', async () => {
    const { digest: _digest, ...unknown } = file;
    const { secrets, upload_headers } = await code.uploadsFor(unknown, 60, new Date());
    expect(upload_headers).toEqual({});
    expect(await upload(secrets.upload_path, 'weights')).toBe(200);
    expect(await find()).toMatchObject({ size_bytes: 7 });
  });

  test.each([
    ['is not there', async () => {}, 'artifact.absent'],
    [
      'was deleted',
      async () => void (await world.put(key, 'weights'), await world.remove(key)),
      'artifact.absent',
    ],
    ['is empty', async () => void (await world.put(key, Buffer.alloc(0))), 'artifact.unfit'],
    [
      'is another, by its checksum',
      async () => void (await world.put(key, 'other', { ChecksumAlgorithm: 'SHA256' })),
      'artifact.mismatched',
    ],
    ['is another, by its bytes', async () => void (await world.put(key, 'other')), 'artifact.mismatched'],
  ])('is refused when it %s', async (_why, prepare, problem) => {
    await prepare();
    await expect(find()).rejects.toMatchObject({ code: problem });
  });

  test('is refused when it lay there for so long that it is about to be removed', async () => {
    await world.put(key, 'weights');
    const later = new Date(Date.now() + 7 * 24 * 3600 * 1000);
    await expect(code.findFile(file, later)).rejects.toMatchObject({ code: 'artifact.absent' });
  });
});

describe('where a file lies', () => {
  test.each([
    (uri: string) => uri.replace(file.project_id, '01980000-0000-7000-8000-000000000002'),
    (uri: string) => uri.replace(file.app_slug, 'other-app'),
    (uri: string) => uri.replace('1.0.0-rc.1', '1.0.0-rc.2'),
    (uri: string) => uri.replace(/weights$/, 'weight'),
    (uri: string) => `${uri}@cpu`,
    (uri: string) => `${uri}/`,
    (uri: string) => `${uri}.jws.sig`,
    (uri: string) => uri.replace('/artifacts/', '/artifacts/../artifacts/'),
    (uri: string) => uri.replace('weights', 'weight%73'),
    (uri: string) => uri.toUpperCase(),
    (uri: string) => uri.replace('artifact_store:', 's3:'),
    () => '',
  ])('is no choice: %s', (change) => {
    const source_uri = change(`artifact_store://${key}`);
    expect(() => requireOwnSource({ ...file, source_uri })).toThrow(
      expect.objectContaining({ code: 'artifact.foreign_source' }) as Error,
    );
  });

  test('need not be said', () => {
    expect(requireOwnSource(file)).toBe(key);
    expect(requireOwnSource({ ...file, source_uri: `artifact_store://${key}` })).toBe(key);
    expect(requireOwnSource({ ...file, variant: 'cpu' })).toBe(`${key}@cpu`);
  });
});

test.each([
  [0, false],
  [1, true],
  [FILE_BYTES_MAX, true],
  [FILE_BYTES_MAX + 1, false],
])('a file of %i bytes is one: %s', (bytes, fits) => {
  const check = () => requireFileSize(bytes);
  if (fits) check();
  else expect(check).toThrow(expect.objectContaining({ code: 'artifact.unfit' }) as Error);
});

const range = (from: number, to: number): number[] =>
  Array.from({ length: from - to + 1 }, (_, index) => from - index);

describe('what lies beside a file', () => {
  const evidence = (version_id: string) => code.findFileEvidence({ id: 'a', object: { key, version_id } });

  test('is nothing at first, then its signatures and its provenance, the newest first', async () => {
    const version = await world.put(key, 'weights');
    expect(await evidence(version)).toEqual({ signatures: [], provenances: [] });
    const { secrets } = await code.uploadsFor(file, 60, new Date());
    for (const body of ['older', 'signature']) await upload(secrets.signature_upload_path, body);
    await upload(secrets.provenance_upload_path, 'provenance');
    const { signatures, provenances, isContentAbsent } = await evidence(version);
    expect(signatures.map(({ mediaType, bytes }) => [mediaType, String(bytes)])).toEqual([
      ['application/jose+json', 'signature'],
      ['application/jose+json', 'older'],
    ]);
    expect(provenances.map(({ mediaType, bytes }) => [mediaType, String(bytes)])).toEqual([
      ['application/vnd.dsse.envelope.v1+json', 'provenance'],
    ]);
    expect(isContentAbsent).toBeUndefined();
  });

  test('is looked at as far as it is new, or came with the file', () => {
    const at = (minute: number) => ({ minute, storedAt: new Date(minute * 60_000) });
    const versions = Array.from({ length: 100 }, (_, minute) => at(minute));
    const chosen = chooseVersions(versions, new Date(30.2 * 60_000)).map(({ minute }) => minute);
    expect(chosen).toEqual([...range(99, 90), ...range(35, 26)]);
    expect(chooseVersions(versions.slice(0, 3), new Date(0)).map(({ minute }) => minute)).toEqual([2, 1, 0]);
    const atOnce = versions
      .map(({ minute }) => ({ minute, storedAt: new Date(minute < 99 ? 0 : 1) }))
      .toReversed();
    expect(chooseVersions(atOnce, new Date(0)).map(({ minute }) => minute)).toEqual([
      ...range(99, 90),
      ...range(9, 0),
    ]);
  });

  test('says when the file itself is gone, though another lies in its place', async () => {
    const version = await world.put(key, 'weights');
    await world.put(key, 'another');
    expect((await evidence(version)).isContentAbsent).toBeUndefined();
    await world.remove(key, version);
    expect((await evidence(version)).isContentAbsent).toBe(true);
  });
});
