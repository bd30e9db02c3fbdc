import { AwsError, type Access, type AwsRequest } from '../wire/aws.ts';
import { splitUrl } from '../wire/wire.ts';

export interface S3Target {
  bucket: string;
  /** Decoded; empty for the bucket itself. */
  key: string;
}

export interface S3Operation {
  name: string;
  target: S3Target;
  access: Access[];
}

type Shape = (request: AwsRequest, target: S3Target) => Access[];

const bucketAction =
  (action: string): Shape =>
  (_request, { bucket }) => [{ action, resource: bucketArn(bucket) }];

const objectAction =
  (action: string): Shape =>
  (_request, target) => [{ action, resource: objectArn(target) }];

/**
 * What the engine can do, by method, subresource (a query parameter that changes what is meant) and whether a key
 * is named. A request for anything else is refused: the engine would take `GET /bucket?policy` for a listing.
 */
const operations = new Map<string, { name: string; access: Shape }>([
  ['GET service', { name: 'ListBuckets', access: () => [{ action: 's3:ListAllMyBuckets', resource: '*' }] }],
  ['PUT bucket', { name: 'CreateBucket', access: bucketAction('s3:CreateBucket') }],
  ['HEAD bucket', { name: 'HeadBucket', access: bucketAction('s3:ListBucket') }],
  ['DELETE bucket', { name: 'DeleteBucket', access: bucketAction('s3:DeleteBucket') }],
  ['GET bucket', { name: 'ListObjects', access: listAccess }],
  ['GET bucket list-type', { name: 'ListObjectsV2', access: listAccess }],
  ['GET bucket versions', { name: 'ListObjectVersions', access: listVersionsAccess }],
  ['PUT bucket versioning', { name: 'PutBucketVersioning', access: bucketAction('s3:PutBucketVersioning') }],
  ['GET bucket versioning', { name: 'GetBucketVersioning', access: bucketAction('s3:GetBucketVersioning') }],
  // Asked for each key in turn, as AWS does: those that may be deleted are, the others are reported.
  ['POST bucket delete', { name: 'DeleteObjects', access: () => [] }],
  [
    'PUT bucket lifecycle',
    { name: 'PutBucketLifecycleConfiguration', access: bucketAction('s3:PutLifecycleConfiguration') },
  ],
  [
    'GET bucket lifecycle',
    { name: 'GetBucketLifecycleConfiguration', access: bucketAction('s3:GetLifecycleConfiguration') },
  ],
  [
    'DELETE bucket lifecycle',
    { name: 'DeleteBucketLifecycle', access: bucketAction('s3:PutLifecycleConfiguration') },
  ],
  ['GET object', { name: 'GetObject', access: objectAction('s3:GetObject') }],
  ['GET object partNumber', { name: 'GetObject', access: objectAction('s3:GetObject') }],
  ['GET object versionId', { name: 'GetObject', access: objectAction('s3:GetObjectVersion') }],
  ['GET object attributes', { name: 'GetObjectAttributes', access: attributesAccess('Object') }],
  [
    'GET object attributes versionId',
    { name: 'GetObjectAttributes', access: attributesAccess('ObjectVersion') },
  ],
  ['HEAD object', { name: 'HeadObject', access: objectAction('s3:GetObject') }],
  ['HEAD object partNumber', { name: 'HeadObject', access: objectAction('s3:GetObject') }],
  ['HEAD object versionId', { name: 'HeadObject', access: objectAction('s3:GetObjectVersion') }],
  ['PUT object', { name: 'PutObject', access: putAccess }],
  ['PUT object partNumber uploadId', { name: 'UploadPart', access: putAccess }],
  ['POST object uploads', { name: 'CreateMultipartUpload', access: objectAction('s3:PutObject') }],
  ['POST object uploadId', { name: 'CompleteMultipartUpload', access: objectAction('s3:PutObject') }],
  ['DELETE object', { name: 'DeleteObject', access: objectAction('s3:DeleteObject') }],
  ['DELETE object versionId', { name: 'DeleteObject', access: objectAction('s3:DeleteObjectVersion') }],
  [
    'DELETE object uploadId',
    { name: 'AbortMultipartUpload', access: objectAction('s3:AbortMultipartUpload') },
  ],
]);

/** Query parameters that only refine an operation, or belong to the signature. */
const refinement =
  /^(x-id|prefix|delimiter|max-keys|marker|key-marker|version-id-marker|continuation-token|start-after|encoding-type|fetch-owner|response-.*|x-amz-.*)$/i;

export function readOperation(request: AwsRequest): S3Operation {
  const target = readTarget(request.path);
  const kind = target.bucket === '' ? 'service' : target.key === '' ? 'bucket' : 'object';
  const subresources = [...new Set(request.query.keys())].filter((name) => !refinement.test(name)).sort();
  const operation = operations.get([request.method, kind, ...subresources].join(' '));
  if (operation === undefined) {
    const asked = `${request.method} of ${kind === 'service' ? 'the service' : `a ${kind}`}`;
    const detail = subresources.length === 0 ? '' : ` with ${subresources.join(', ')}`;
    throw new AwsError('NotImplemented', `S3 here has no ${asked}${detail}.`, 501);
  }
  return { name: operation.name, target, access: operation.access(request, target) };
}

export function listBucket(target: S3Target): Access {
  return { action: 's3:ListBucket', resource: bucketArn(target.bucket) };
}

function listAccess({ query }: AwsRequest, target: S3Target): Access[] {
  const context = { 's3:prefix': query.get('prefix') ?? '', 's3:delimiter': query.get('delimiter') ?? '' };
  return [{ ...listBucket(target), context }];
}

function listVersionsAccess(request: AwsRequest, target: S3Target): Access[] {
  return listAccess(request, target).map((access) => ({ ...access, action: 's3:ListBucketVersions' }));
}

function attributesAccess(what: 'Object' | 'ObjectVersion'): Shape {
  return (_request, target) =>
    [`s3:Get${what}`, `s3:Get${what}Attributes`].map((action) => ({ action, resource: objectArn(target) }));
}

function putAccess({ headers }: AwsRequest, target: S3Target): Access[] {
  if (headers['x-amz-tagging'] !== undefined)
    throw new AwsError('NotImplemented', 'S3 here keeps no object tags.', 501);
  const put = { action: 's3:PutObject', resource: objectArn(target) };
  const source = readCopySource(headers);
  if (source === undefined) return [put];
  const action = source.versionId === null ? 's3:GetObject' : 's3:GetObjectVersion';
  return [put, { action, resource: objectArn(source.target) }];
}

/** What a PUT copies, if it does. */
export function readCopySource(
  headers: AwsRequest['headers'],
): { target: S3Target; versionId: string | null } | undefined {
  const header = headers['x-amz-copy-source'];
  if (header === undefined) return undefined;
  const { path, search } = splitUrl(header.startsWith('/') ? header : `/${header}`);
  return { target: readTarget(path), versionId: new URLSearchParams(search).get('versionId') };
}

function readTarget(path: string): S3Target {
  const decoded = decode(path.slice(1));
  const slash = decoded.indexOf('/');
  const target =
    slash < 0
      ? { bucket: decoded, key: '' }
      : { bucket: decoded.slice(0, slash), key: decoded.slice(slash + 1) };
  // The engine has pages of its own beside the buckets; none of them has a name like this.
  if (path !== '/' && !/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(target.bucket)) {
    throw new AwsError('InvalidBucketName', `The specified bucket is not valid: '${target.bucket}'.`);
  }
  return target;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new AwsError('InvalidURI', `Couldn't parse the specified URI.`);
  }
}

function bucketArn(bucket: string): string {
  return `arn:aws:s3:::${bucket}`;
}

export function objectArn({ bucket, key }: S3Target): string {
  return `${bucketArn(bucket)}/${key}`;
}
