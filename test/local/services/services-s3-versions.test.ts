import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketVersioningCommand,
  GetObjectAttributesCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allow, failure, openAwsServices, type AwsServices } from './aws-services-world.ts';

const Bucket = 'versioned';
const arn = 'arn:aws:s3:::versioned';
const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

let world: AwsServices;
let operator: S3Client;

beforeAll(async () => {
  world = await openAwsServices();
  operator = new S3Client(world.asOperator());
  await operator.send(new CreateBucketCommand({ Bucket }));
  await keepVersions(Bucket);
});

afterAll(async () => {
  await world?.close();
});

const keepVersions = (name: string, client = operator) =>
  client.send(
    new PutBucketVersioningCommand({ Bucket: name, VersioningConfiguration: { Status: 'Enabled' } }),
  );
const as = (name: string, ...statements: ReturnType<typeof allow>[]) =>
  new S3Client(world.asRole(name, ...statements));
const put = async (Key: string, Body = Key, more: object = {}) =>
  (await operator.send(new PutObjectCommand({ Bucket, Key, Body, ...more }))).VersionId ?? '';
const read = async (Key: string, VersionId?: string, client = operator) =>
  (await client.send(new GetObjectCommand({ Bucket, Key, VersionId }))).Body?.transformToString();
const remove = (Key: string, VersionId?: string) =>
  operator.send(new DeleteObjectCommand({ Bucket, Key, VersionId }));
const versionsOf = async (Prefix: string) => {
  const { Versions = [], DeleteMarkers = [] } = await operator.send(
    new ListObjectVersionsCommand({ Bucket, Prefix }),
  );
  const all = [...Versions, ...DeleteMarkers.map((mark) => ({ ...mark, Size: undefined }))];
  return all.map(({ Key, VersionId, IsLatest, Size }) => ({ Key, VersionId, IsLatest, Size }));
};

describe('a bucket', () => {
  test('says whether it keeps versions', async () => {
    await operator.send(new CreateBucketCommand({ Bucket: 'plain' }));
    expect((await operator.send(new GetBucketVersioningCommand({ Bucket: 'plain' }))).Status).toBeUndefined();
    expect((await operator.send(new GetBucketVersioningCommand({ Bucket }))).Status).toBe('Enabled');
    const VersioningConfiguration = { Status: 'Suspended' } as const;
    const stop = new PutBucketVersioningCommand({ Bucket, VersioningConfiguration });
    expect((await failure(operator.send(stop))).name).toBe('NotImplemented');
    expect((await failure(keepVersions('nowhere'))).name).toBe('NoSuchBucket');
  });

  test('that begins to keep versions keeps what it has, as the version null', async () => {
    const about = { Bucket: 'grown', Key: 'a & b/c' };
    await operator.send(new CreateBucketCommand({ Bucket: 'grown' }));
    await operator.send(new PutObjectCommand({ ...about, Body: 'old', ChecksumSHA256: sha256('old') }));
    await keepVersions('grown');
    await keepVersions('grown');
    await operator.send(new PutObjectCommand({ ...about, Body: 'new' }));
    const old = await operator.send(
      new GetObjectCommand({ ...about, VersionId: 'null', ChecksumMode: 'ENABLED' }),
    );
    expect(await old.Body?.transformToString()).toBe('old');
    expect(old).toMatchObject({ VersionId: 'null', ChecksumSHA256: sha256('old') });
    const { Versions } = await operator.send(new ListObjectVersionsCommand({ Bucket: 'grown' }));
    expect(Versions?.map(({ Size, IsLatest }) => [Size, IsLatest])).toEqual([
      [3, true],
      [3, false],
    ]);
  });

  test('is deleted only when its last version is', async () => {
    const about = { Bucket: 'short-lived', Key: 'a' };
    await operator.send(new CreateBucketCommand({ Bucket: about.Bucket }));
    await keepVersions(about.Bucket);
    const { VersionId } = await operator.send(new PutObjectCommand({ ...about, Body: 'a' }));
    const mark = await operator.send(new DeleteObjectCommand(about));
    const removal = () => operator.send(new DeleteBucketCommand({ Bucket: about.Bucket }));
    expect((await failure(removal())).name).toBe('BucketNotEmpty');
    for (const id of [VersionId, mark.VersionId])
      await operator.send(new DeleteObjectCommand({ ...about, VersionId: id }));
    await removal();
    await operator.send(new CreateBucketCommand({ Bucket: about.Bucket }));
    expect((await operator.send(new PutObjectCommand({ ...about, Body: 'a' }))).VersionId).toBeUndefined();
  });

  test('shows nothing of how versions are kept', async () => {
    await put('shown/a', 'one');
    await put('shown/a', 'two');
    const { Contents } = await operator.send(new ListObjectsV2Command({ Bucket, Prefix: 'shown/' }));
    expect(Contents?.map(({ Key }) => Key)).toEqual(['shown/a']);
    const { Contents: all = [] } = await operator.send(new ListObjectsCommand({ Bucket }));
    expect(all.filter(({ Key }) => /^[0-9a-f]{32}$/.test(Key ?? ''))).toEqual([]);
    const { Buckets } = await operator.send(new ListBucketsCommand({}));
    expect(Buckets?.map(({ Name }) => Name)).toContain(Bucket);
  });
});

describe('a version', () => {
  test('stays what it was when the object is written again', async () => {
    const [first, second] = [await put('again', 'one'), await put('again', 'two')];
    expect(first).not.toBe(second);
    expect(await read('again')).toBe('two');
    expect(await read('again', first)).toBe('one');
    const head = await operator.send(new HeadObjectCommand({ Bucket, Key: 'again', VersionId: first }));
    expect(head).toMatchObject({ VersionId: first, ContentLength: 3 });
    expect(await versionsOf('again')).toEqual([
      { Key: 'again', VersionId: second, IsLatest: true, Size: 3 },
      { Key: 'again', VersionId: first, IsLatest: false, Size: 3 },
    ]);
  });

  test('has its own checksum, metadata and attributes', async () => {
    const about = { Bucket, Key: 'summed' };
    const first = await put('summed', 'one', { ChecksumSHA256: sha256('one'), Metadata: { n: '1' } });
    const second = await put('summed', 'second');
    const head = (VersionId: string) =>
      operator.send(new HeadObjectCommand({ ...about, VersionId, ChecksumMode: 'ENABLED' }));
    expect(await head(first)).toMatchObject({
      ChecksumSHA256: sha256('one'),
      ChecksumType: 'FULL_OBJECT',
      Metadata: { n: '1' },
    });
    expect((await head(second)).ChecksumSHA256).toBeUndefined();
    const attributes = await operator.send(
      new GetObjectAttributesCommand({ ...about, VersionId: first, ObjectAttributes: ['ObjectSize'] }),
    );
    expect(attributes).toMatchObject({ VersionId: first, ObjectSize: 3 });
  });

  test('that never was is not there', async () => {
    await put('known');
    expect((await failure(read('known', 'unknown'))).name).toBe('NoSuchVersion');
    const other = await put('other');
    expect((await failure(read('known', other))).name).toBe('NoSuchVersion');
  });

  test('is read in ranges', async () => {
    const id = await put('ranged', '0123456789');
    await put('ranged', 'x');
    const { Body } = await operator.send(
      new GetObjectCommand({ Bucket, Key: 'ranged', VersionId: id, Range: 'bytes=2-4' }),
    );
    expect(await Body?.transformToString()).toBe('234');
  });

  test('is made by a copy too, of the latest or of an older one', async () => {
    const older = await put('source', 'older', { ChecksumSHA256: sha256('older') });
    const latest = await put('source', 'latest');
    const copy = (CopySource: string, Key: string) =>
      operator.send(new CopyObjectCommand({ Bucket, Key, CopySource }));
    const first = await copy(`${Bucket}/source`, 'copied');
    expect(first.CopySourceVersionId).toBe(latest);
    const second = await copy(`${Bucket}/source?versionId=${older}`, 'copied');
    expect(await read('copied', first.VersionId)).toBe('latest');
    expect(await read('copied', second.VersionId)).toBe('older');
    const head = new HeadObjectCommand({ Bucket, Key: 'copied', ChecksumMode: 'ENABLED' });
    expect((await operator.send(head)).ChecksumSHA256).toBe(sha256('older'));
    expect((await failure(copy(`${Bucket}/absent`, 'copied'))).name).toBe('NoSuchKey');
  });

  test('is made by an upload in parts, of the key it was begun for', async () => {
    const about = { Bucket, Key: 'parts/a' };
    const before = await put(about.Key, 'before');
    const { UploadId, Key } = await operator.send(new CreateMultipartUploadCommand(about));
    expect(Key).toBe(about.Key);
    const { ETag } = await operator.send(
      new UploadPartCommand({ ...about, UploadId, PartNumber: 1, Body: 'in parts' }),
    );
    const MultipartUpload = { Parts: [{ ETag, PartNumber: 1 }] };
    const complete = (name: string) =>
      operator.send(new CompleteMultipartUploadCommand({ Bucket, Key: name, UploadId, MultipartUpload }));
    expect((await failure(complete('parts/b'))).name).toBe('NoSuchUpload');
    expect(await read(about.Key)).toBe('before');
    const completed = await complete(about.Key);
    expect(completed.Key).toBe(about.Key);
    expect(await read(about.Key, completed.VersionId)).toBe('in parts');
    expect(await read(about.Key, before)).toBe('before');
    const given = await operator.send(new CreateMultipartUploadCommand(about));
    await operator.send(new AbortMultipartUploadCommand({ ...about, UploadId: given.UploadId }));
    const gone = new UploadPartCommand({ ...about, UploadId: given.UploadId, PartNumber: 1, Body: 'x' });
    expect((await failure(operator.send(gone))).name).toBe('NoSuchUpload');
  });

  test('of several that want to be first, one is; after a deletion there is a first again', async () => {
    const write = () =>
      operator.send(new PutObjectCommand({ Bucket, Key: 'first', Body: 'x', IfNoneMatch: '*' }));
    const results = await Promise.allSettled([write(), write(), write()]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    await remove('first');
    await write();
    expect(await versionsOf('first')).toHaveLength(3);
  });
});

describe('a deletion', () => {
  test('hides the object and keeps its versions; taking it back shows the object again', async () => {
    const id = await put('hidden', 'kept');
    const mark = await remove('hidden');
    expect(mark).toMatchObject({ DeleteMarker: true, VersionId: expect.any(String) as string });
    const gone = await failure(read('hidden'));
    expect(gone.name).toBe('NoSuchKey');
    expect(await read('hidden', id)).toBe('kept');
    expect((await failure(read('hidden', mark.VersionId))).$metadata?.httpStatusCode).toBe(405);
    expect(await versionsOf('hidden')).toEqual([
      { Key: 'hidden', VersionId: id, IsLatest: false, Size: 4 },
      { Key: 'hidden', VersionId: mark.VersionId, IsLatest: true, Size: undefined },
    ]);
    const { KeyCount } = await operator.send(new ListObjectsV2Command({ Bucket, Prefix: 'hidden' }));
    expect(KeyCount).toBe(0);
    expect((await remove('hidden', mark.VersionId)).DeleteMarker).toBe(true);
    expect(await read('hidden')).toBe('kept');
  });

  test('of a version is for good, and leaves the one before it', async () => {
    const [first, second] = [await put('worn', 'one'), await put('worn', 'two')];
    expect((await remove('worn', second)).VersionId).toBe(second);
    expect(await read('worn')).toBe('one');
    expect((await failure(read('worn', second))).name).toBe('NoSuchVersion');
    await remove('worn', second);
    await remove('worn', first);
    expect(await versionsOf('worn')).toEqual([]);
  });

  test('of many names versions too', async () => {
    const id = await put('many/a');
    await put('many/b');
    const Objects = [{ Key: 'many/a', VersionId: id }, { Key: 'many/b' }];
    const cleaner = as('cleaner', allow('s3:DeleteObject', `${arn}/*`));
    const { Deleted, Errors } = await cleaner.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Errors).toMatchObject([{ Key: 'many/a', VersionId: id, Code: 'AccessDenied' }]);
    expect(Deleted).toMatchObject([{ Key: 'many/b', DeleteMarker: true }]);
    await operator.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(await versionsOf('many/a')).toEqual([]);
    expect(await versionsOf('many/b')).toHaveLength(3);
  });
});

describe('listings', () => {
  const keys = ['list/a b', 'list/a+b', 'list/deep/1', 'list/deep/2', 'list/é', 'list/z'];

  beforeAll(async () => {
    for (const key of keys) await put(key, 'one');
    for (const key of keys) await put(key, 'two');
    await put('list/gone');
    await remove('list/gone');
  });

  test.each([
    ['ListObjectsV2', undefined],
    ['ListObjectsV2', 'url' as const],
  ])('%s come in pages, encoded: %s', async (_name, EncodingType) => {
    const found: string[] = [];
    let ContinuationToken: string | undefined;
    do {
      const page = await operator.send(
        new ListObjectsV2Command({ Bucket, Prefix: 'list/', MaxKeys: 2, ContinuationToken, EncodingType }),
      );
      const decode = page.EncodingType === 'url' ? decodeURIComponent : String;
      found.push(...(page.Contents ?? []).map(({ Key = '' }) => decode(Key)));
      ContinuationToken = page.NextContinuationToken;
    } while (ContinuationToken !== undefined);
    expect(found).toEqual(['list/a b', 'list/a+b', 'list/deep/1', 'list/deep/2', 'list/z', 'list/é']);
  });

  test('gather what is below a delimiter, once', async () => {
    const seen: string[] = [];
    let Marker: string | undefined;
    do {
      const page = await operator.send(
        new ListObjectsCommand({ Bucket, Prefix: 'list/', Delimiter: '/', MaxKeys: 1, Marker }),
      );
      seen.push(...(page.CommonPrefixes ?? []).map(({ Prefix = '' }) => Prefix));
      seen.push(...(page.Contents ?? []).map(({ Key = '' }) => Key));
      Marker = page.NextMarker;
    } while (Marker !== undefined);
    expect(seen).toEqual(['list/a b', 'list/a+b', 'list/deep/', 'list/z', 'list/é']);
  });

  test('of versions go on in the middle of a key', async () => {
    const seen: string[] = [];
    let marker: { KeyMarker?: string; VersionIdMarker?: string } = {};
    do {
      const page = await operator.send(
        new ListObjectVersionsCommand({ Bucket, Prefix: 'list/', MaxKeys: 3, ...marker }),
      );
      const all = [...(page.Versions ?? []), ...(page.DeleteMarkers ?? [])];
      expect(all.length).toBeLessThanOrEqual(3);
      seen.push(...all.map(({ Key, VersionId }) => `${Key} ${VersionId}`));
      marker = { KeyMarker: page.NextKeyMarker, VersionIdMarker: page.NextVersionIdMarker };
    } while (marker.KeyMarker !== undefined);
    expect(seen).toHaveLength(14);
    expect(new Set(seen).size).toBe(14);
    const wrong = new ListObjectVersionsCommand({ Bucket, VersionIdMarker: 'x' });
    expect((await failure(operator.send(wrong))).name).toBe('InvalidArgument');
  });
});

describe('permissions', () => {
  test('for a version are apart from those for the latest', async () => {
    const id = await put('mine/a', 'one');
    const reader = as('reader', allow('s3:GetObject', `${arn}/*`));
    expect(await read('mine/a', undefined, reader)).toBe('one');
    expect((await failure(read('mine/a', id, reader))).message).toContain('s3:GetObjectVersion');
    const pinned = as('pinned', allow('s3:GetObjectVersion', `${arn}/*`));
    expect(await read('mine/a', id, pinned)).toBe('one');
    expect((await failure(read('mine/a', undefined, pinned))).message).toContain('s3:GetObject on');
    const copy = { Bucket, Key: 'mine/b', CopySource: `${Bucket}/mine/a?versionId=${id}` };
    const writer = as('writer', allow(['s3:PutObject', 's3:GetObject'], `${arn}/*`));
    expect((await failure(writer.send(new CopyObjectCommand(copy)))).message).toContain(
      's3:GetObjectVersion',
    );
    const deleter = as('deleter', allow('s3:DeleteObject', `${arn}/*`));
    const removal = new DeleteObjectCommand({ Bucket, Key: 'mine/a', VersionId: id });
    expect((await failure(deleter.send(removal))).message).toContain('s3:DeleteObjectVersion');
  });

  test('to list versions can be limited to a prefix', async () => {
    const lister = as(
      'lister',
      allow('s3:ListBucketVersions', arn, { StringLike: { 's3:prefix': 'mine/*' } }),
    );
    await lister.send(new ListObjectVersionsCommand({ Bucket, Prefix: 'mine/' }));
    for (const command of [
      new ListObjectVersionsCommand({ Bucket }),
      new ListObjectVersionsCommand({ Bucket, Prefix: 'other/' }),
    ])
      expect((await failure(lister.send(command))).name).toBe('AccessDenied');
  });

  test('decide whether a missing object is told of', async () => {
    const blind = as('blind', allow(['s3:GetObject', 's3:GetObjectVersion'], `${arn}/*`));
    expect((await failure(read('absent', undefined, blind))).name).toBe('AccessDenied');
    expect((await failure(read('absent', 'x', blind))).name).toBe('AccessDenied');
  });
});

test('versions outlive the process, and one that is killed in the middle loses none it told of', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'versions-kill-'));
  const script = join(import.meta.dirname, 'services-s3-process.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const told: { version: string; body: string }[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    told.push(JSON.parse(line) as (typeof told)[number]);
    if (told.length === 25) child.kill('SIGKILL');
  }
  const after = await openAwsServices({ dataDir });
  try {
    const client = new S3Client(after.asOperator());
    const { Versions = [] } = await client.send(new ListObjectVersionsCommand({ Bucket: 'kept' }));
    const listed = new Map(Versions.map((version) => [version.VersionId, version]));
    // All that was told, and at most those that were under way.
    expect(Versions.length).toBeGreaterThanOrEqual(told.length);
    expect(Versions.length).toBeLessThanOrEqual(told.length + 4);
    for (const { version } of told) expect(listed.has(version)).toBe(true);
    for (const { VersionId, Key, Size } of Versions) {
      const answer = await client.send(new GetObjectCommand({ Bucket: 'kept', Key, VersionId }));
      const body = (await answer.Body?.transformToString()) ?? '';
      expect(body).toHaveLength(Size ?? -1);
      const expected = told.find(({ version }) => version === VersionId)?.body;
      if (expected !== undefined) expect(body).toBe(expected);
    }
  } finally {
    await after.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
});
