import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetBucketPolicyCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { allow, failure, openAwsServices, type AwsServices } from './aws-services-world.ts';

const Bucket = 'artifacts';
const bucketArn = 'arn:aws:s3:::artifacts';

let world: AwsServices;
let operator: S3Client;

beforeAll(async () => {
  world = await openAwsServices();
  operator = new S3Client(world.asOperator());
  await operator.send(new CreateBucketCommand({ Bucket }));
});

afterAll(async () => {
  await world?.close();
});

const as = (name: string, ...statements: ReturnType<typeof allow>[]) =>
  new S3Client(world.asRole(name, ...statements));
const put = (Key: string, Body: string | Buffer = Key) =>
  operator.send(new PutObjectCommand({ Bucket, Key, Body }));
const read = async (client: S3Client, Key: string) =>
  (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToString();

describe('objects', () => {
  test.each([
    'plain',
    'a/b/c',
    'with space & "quotes" + plus/ünïcode/日本',
    '../up/./and/..down',
    'percent%2Fencoded',
    "marks!'()*;:@=$,?#[]",
    'health',
    `long/${'k'.repeat(900)}`,
  ])('are kept under the key %j', async (Key) => {
    await put(Key, `body of ${Key}`);
    expect(await read(operator, Key)).toBe(`body of ${Key}`);
    const { Contents } = await operator.send(new ListObjectsV2Command({ Bucket, Prefix: Key }));
    expect(Contents?.map((object) => object.Key)).toEqual([Key]);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['thirty megabytes', Buffer.alloc(30 * 1024 * 1024, 'x')],
  ])('may hold %s', async (_what, body) => {
    await operator.send(new PutObjectCommand({ Bucket, Key: 'sized', Body: body }));
    const { ContentLength } = await operator.send(new HeadObjectCommand({ Bucket, Key: 'sized' }));
    expect(ContentLength).toBe(body.length);
  });

  test('may be streamed, with a trailing checksum, and keep their metadata', async () => {
    const Body = Readable.from([Buffer.from('first '), Buffer.from('second')]);
    const Metadata = { digest: 'sha256:1' };
    await operator.send(
      new PutObjectCommand({
        Bucket,
        Key: 'streamed',
        Body,
        ContentLength: 12,
        ContentEncoding: 'identity',
        Metadata,
      }),
    );
    const answer = await operator.send(new GetObjectCommand({ Bucket, Key: 'streamed' }));
    expect(await answer.Body?.transformToString()).toBe('first second');
    expect(answer.Metadata).toEqual(Metadata);
    expect(answer.ContentEncoding).toBe('identity');
  });

  test('of any content type are stored as they are', async () => {
    const ContentType = 'application/x-www-form-urlencoded';
    await operator.send(new PutObjectCommand({ Bucket, Key: 'form', Body: 'a=1&b=2', ContentType }));
    expect(await read(operator, 'form')).toBe('a=1&b=2');
  });

  test('can be read in ranges and uploaded in parts', async () => {
    const Key = 'parts';
    const { UploadId } = await operator.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    const bodies = [Buffer.alloc(5 * 1024 * 1024, 'a'), Buffer.from('end')];
    const Parts = [];
    for (const [index, Body] of bodies.entries()) {
      const PartNumber = index + 1;
      const { ETag } = await operator.send(
        new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }),
      );
      Parts.push({ ETag, PartNumber });
    }
    await operator.send(
      new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
    );
    const Range = `bytes=${5 * 1024 * 1024 - 1}-`;
    const { Body } = await operator.send(new GetObjectCommand({ Bucket, Key, Range }));
    expect(await Body?.transformToString()).toBe('aend');
  });
});

describe('permissions', () => {
  test('reading, writing and listing are granted apart', async () => {
    await put('mine/a');
    await put('other/a');
    const reader = as('reader', allow('s3:GetObject', `${bucketArn}/mine/*`));
    expect(await read(reader, 'mine/a')).toBe('mine/a');
    await reader.send(new HeadObjectCommand({ Bucket, Key: 'mine/a' }));
    const denied = await failure(reader.send(new GetObjectCommand({ Bucket, Key: 'other/a' })));
    expect(denied.name).toBe('AccessDenied');
    expect(denied.$metadata?.httpStatusCode).toBe(403);
    expect(denied.message).toContain(`s3:GetObject on resource: ${bucketArn}/other/a`);
    for (const refused of [
      () => reader.send(new PutObjectCommand({ Bucket, Key: 'mine/b', Body: 'x' })),
      () => reader.send(new DeleteObjectCommand({ Bucket, Key: 'mine/a' })),
      () => reader.send(new ListObjectsV2Command({ Bucket })),
      () => reader.send(new ListBucketsCommand({})),
    ]) {
      expect((await failure(refused())).name).toBe('AccessDenied');
    }
    expect((await failure(reader.send(new HeadBucketCommand({ Bucket })))).$metadata?.httpStatusCode).toBe(
      403,
    );
  });

  test('an upload in parts is a PutObject, giving it up is not', async () => {
    const Key = 'uploads/1';
    const writer = as('writer', allow('s3:PutObject', `${bucketArn}/uploads/*`));
    const { UploadId } = await writer.send(new CreateMultipartUploadCommand({ Bucket, Key }));
    await writer.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: 'x' }));
    const abort = new AbortMultipartUploadCommand({ Bucket, Key, UploadId });
    expect((await failure(writer.send(abort))).message).toContain('s3:AbortMultipartUpload');
    await as('aborter', allow('s3:AbortMultipartUpload', `${bucketArn}/uploads/*`)).send(abort);
  });

  test('a copy needs to read what it copies', async () => {
    await put('secret/a');
    const copy = new CopyObjectCommand({ Bucket, Key: 'copies/a', CopySource: `${Bucket}/secret/a` });
    const writer = as('copier', allow('s3:PutObject', `${bucketArn}/copies/*`));
    expect((await failure(writer.send(copy))).message).toContain(
      `s3:GetObject on resource: ${bucketArn}/secret/a`,
    );
    await as(
      'copier',
      allow('s3:PutObject', `${bucketArn}/copies/*`),
      allow('s3:GetObject', `${bucketArn}/secret/*`),
    ).send(copy);
    expect(await read(operator, 'copies/a')).toBe('secret/a');
  });

  test('of several objects to delete those go that may, the others are named', async () => {
    await Promise.all(['batch/a', 'batch/b', 'kept/a'].map((key) => put(key)));
    const cleaner = as('cleaner', allow('s3:DeleteObject', `${bucketArn}/batch/*`));
    const Objects = ['batch/a', 'kept/a', 'batch/b'].map((Key) => ({ Key }));
    const { Deleted, Errors } = await cleaner.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects } }));
    expect(Deleted?.map(({ Key }) => Key)).toEqual(['batch/a', 'batch/b']);
    expect(Errors).toMatchObject([{ Key: 'kept/a', Code: 'AccessDenied' }]);
    expect(await read(operator, 'kept/a')).toBe('kept/a');
    expect((await failure(read(operator, 'batch/a'))).name).toBe('NoSuchKey');
  });

  test('who may not list the bucket does not learn that an object is missing', async () => {
    const Key = 'absent';
    const reader = as('blind', allow('s3:GetObject', `${bucketArn}/*`));
    expect((await failure(read(reader, Key))).name).toBe('AccessDenied');
    const lister = as('seeing', allow('s3:GetObject', `${bucketArn}/*`), allow('s3:ListBucket', bucketArn));
    expect((await failure(read(lister, Key))).name).toBe('NoSuchKey');
    expect((await failure(lister.send(new HeadObjectCommand({ Bucket, Key })))).name).toBe('NotFound');
  });

  test('listing can be limited to a prefix', async () => {
    const lister = as('prefix', allow('s3:ListBucket', bucketArn, { StringLike: { 's3:prefix': 'mine/*' } }));
    await lister.send(new ListObjectsV2Command({ Bucket, Prefix: 'mine/x' }));
    expect((await failure(lister.send(new ListObjectsV2Command({ Bucket, Prefix: '' })))).name).toBe(
      'AccessDenied',
    );
  });

  test('a version is read with its own permission; only the current one is kept', async () => {
    await put('versioned');
    const version = (VersionId: string) => new GetObjectCommand({ Bucket, Key: 'versioned', VersionId });
    expect(
      (await failure(as('current', allow('s3:GetObject', '*')).send(version('null')))).message,
    ).toContain('s3:GetObjectVersion');
    const reader = as('versions', allow('s3:GetObjectVersion', '*'));
    await reader.send(version('null'));
    expect((await failure(reader.send(version('older')))).name).toBe('NoSuchVersion');
  });
});

describe('integrity', () => {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');

  test('a body that is not the one its checksum speaks of is refused', async () => {
    const good = { Bucket, Key: 'summed', Body: 'good', ChecksumSHA256: sha256('good') };
    await operator.send(new PutObjectCommand(good));
    const { ChecksumSHA256 } = await operator.send(
      new GetObjectCommand({ Bucket, Key: 'summed', ChecksumMode: 'ENABLED' }),
    );
    expect(ChecksumSHA256).toBe(sha256('good'));
    const error = await failure(
      operator.send(new PutObjectCommand({ ...good, ChecksumSHA256: sha256('bad') })),
    );
    expect(error.name).toBe('BadDigest');
    const md5 = createHash('md5').update('bad').digest('base64');
    expect((await failure(operator.send(new PutObjectCommand({ ...good, ContentMD5: md5 })))).name).toBe(
      'BadDigest',
    );
  });

  test('of two writers that both want to be first, one is', async () => {
    const write = (Body: string) =>
      operator.send(new PutObjectCommand({ Bucket, Key: 'first', Body, IfNoneMatch: '*' }));
    const results = await Promise.allSettled([write('one'), write('two'), write('three')]);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    const refused = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as Error] : [],
    );
    expect(refused.map(({ name }) => name)).toEqual(['PreconditionFailed', 'PreconditionFailed']);
  });

  test('a write may insist on the version it replaces', async () => {
    const { ETag } = await put('etag', 'one');
    const replace = (IfMatch: string | undefined, Key = 'etag') =>
      operator.send(new PutObjectCommand({ Bucket, Key, Body: 'two', IfMatch }));
    await replace(ETag);
    expect((await failure(replace(ETag))).name).toBe('PreconditionFailed');
    expect((await failure(replace(ETag, 'etag-absent'))).name).toBe('NoSuchKey');
  });
});

describe('presigned URLs', () => {
  test('let anyone upload and download for a while, under the name they were given', async () => {
    const client = as('presigner', allow(['s3:GetObject', 's3:PutObject'], `${bucketArn}/shared/*`));
    const Key = 'shared/a b';
    const upload = await getSignedUrl(client, new PutObjectCommand({ Bucket, Key }), { expiresIn: 60 });
    expect((await fetch(upload, { method: 'PUT', body: 'from a browser' })).status).toBe(200);
    const ResponseContentDisposition = 'attachment; filename="a.txt"';
    const download = await getSignedUrl(
      client,
      new GetObjectCommand({ Bucket, Key, ResponseContentDisposition }),
      { expiresIn: 60 },
    );
    const answer = await fetch(download);
    expect(await answer.text()).toBe('from a browser');
    expect(answer.headers.get('content-disposition')).toBe(ResponseContentDisposition);
    const broken = new GetObjectCommand({ Bucket, Key, ResponseContentDisposition: 'a\r\nset-cookie: b' });
    expect((await fetch(await getSignedUrl(client, broken))).status).toBe(400);
    expect((await fetch(download.replace('a%20b', 'b'))).status).toBe(403);
    expect((await fetch(download, { method: 'DELETE' })).status).toBe(403);
  });

  test('give no more than the one who signed them has', async () => {
    await put('private');
    const url = await getSignedUrl(as('outsider'), new GetObjectCommand({ Bucket, Key: 'private' }));
    const answer = await fetch(url);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('<Code>AccessDenied</Code>');
  });

  test('expire', async () => {
    await put('private');
    const signingDate = new Date(Date.now() - 61_000);
    const url = await getSignedUrl(operator, new GetObjectCommand({ Bucket, Key: 'private' }), {
      expiresIn: 60,
      signingDate,
    });
    const answer = await fetch(url);
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('<Message>Request has expired</Message>');
  });

  test('bind the upload to a checksum when it is signed as a header', async () => {
    const ChecksumSHA256 = createHash('sha256').update('agreed').digest('base64');
    const unhoistableHeaders = new Set(['x-amz-checksum-sha256']);
    const command = new PutObjectCommand({ Bucket, Key: 'bound', ChecksumSHA256 });
    const url = await getSignedUrl(operator, command, { expiresIn: 60, unhoistableHeaders });
    const upload = async (body: string, checksum = ChecksumSHA256) => {
      const answer = await fetch(url, {
        method: 'PUT',
        body,
        headers: { 'x-amz-checksum-sha256': checksum },
      });
      return `${answer.status} ${/<Code>(\w+)/.exec(await answer.text())?.[1] ?? ''}`;
    };
    expect(await upload('something else')).toBe('400 BadDigest');
    const other = createHash('sha256').update('something else').digest('base64');
    expect(await upload('something else', other)).toBe('403 SignatureDoesNotMatch');
    expect(await upload('agreed')).toBe('200 ');
    expect(await read(operator, 'bound')).toBe('agreed');
  });
});

test('what the engine cannot do is said, not mistaken for something else', async () => {
  const error = await failure(operator.send(new GetBucketPolicyCommand({ Bucket })));
  expect(error.name).toBe('NotImplemented');
  expect(error.message).toBe('S3 here has no GET of a bucket with policy.');
});

test('the pages of the engine behind are no buckets', async () => {
  const error = await failure(operator.send(new GetObjectCommand({ Bucket: '_fauxqs', Key: 'queues' })));
  expect(error.name).toBe('InvalidBucketName');
});

test('objects outlive the process', async () => {
  const before = await openAwsServices();
  const client = new S3Client(before.asOperator());
  await client.send(new CreateBucketCommand({ Bucket: 'kept' }));
  await client.send(new PutObjectCommand({ Bucket: 'kept', Key: 'a', Body: 'kept' }));
  await before.stop();
  const after = await openAwsServices({ dataDir: before.dataDir });
  try {
    const again = new S3Client(after.asOperator());
    const { Body } = await again.send(new GetObjectCommand({ Bucket: 'kept', Key: 'a' }));
    expect(await Body?.transformToString()).toBe('kept');
  } finally {
    await after.close();
  }
});
