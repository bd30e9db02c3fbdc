import { AwsError, type AwsRequest, type AwsResponse } from '../wire/aws.ts';
import { escapeXml, xmlAnswer } from '../wire/wire.ts';
import { listLatest, listVersions } from './s3-listing.ts';
import { readCopySource, type S3Operation, type S3Target } from './s3-operations.ts';
import { newName, type Versions, type Written } from './s3-versions.ts';
import { unescapeXml } from './s3-xml.ts';

/** A call of the engine that keeps the bytes. */
export type EngineCall = (
  method: string,
  target: S3Target,
  request?: Pick<AwsRequest, 'headers' | 'query' | 'body'>,
) => Promise<AwsResponse & { headers: Record<string, string>; body: Buffer }>;

/**
 * Buckets that keep versions. The engine has one object a key; here each version is an object of the engine with a
 * name of its own, and which is which stands in the journal. So listings come from there too.
 */
export class VersionedBuckets {
  #versions: Versions;
  #call: EngineCall;

  constructor(versions: Versions, call: EngineCall) {
    this.#versions = versions;
    this.#call = call;
  }

  has(bucket: string): boolean {
    return this.#versions.isKept(bucket);
  }

  /** What is asked of a bucket that has versions; nothing where the engine's own answer is the right one. */
  async handle({ name, target }: S3Operation, request: AwsRequest): Promise<AwsResponse | undefined> {
    switch (name) {
      case 'ListObjects':
      case 'ListObjectsV2':
        return listLatest(request, target.bucket, this.#versions);
      case 'ListObjectVersions':
        return listVersions(request, target.bucket, this.#versions);
      case 'GetObject':
      case 'HeadObject':
      case 'GetObjectAttributes':
        return this.read(target, request);
      case 'PutObject':
        return this.#put(target, request);
      case 'DeleteObject':
        return this.delete(target, request.query.get('versionId'));
      case 'CreateMultipartUpload':
        return this.#createUpload(target, request);
      case 'UploadPart':
        return this.#uploadPart(target, request);
      case 'CompleteMultipartUpload':
        return this.#completeUpload(target, request);
      case 'AbortMultipartUpload':
        return this.#abortUpload(target, request);
      case 'DeleteBucket':
        return this.#deleteBucket(target);
      default:
        return undefined;
    }
  }

  /** From now on this bucket keeps versions; it never stops again. */
  async keep(bucket: string): Promise<void> {
    if (this.has(bucket)) return;
    const keys = await this.#keysOf(bucket);
    const present: (Written & { key: string })[] = [];
    for (const key of keys) present.push({ key, ...(await this.#written({ bucket, key })) });
    this.#versions.keep(bucket, present);
  }

  /** As a GET or a HEAD, by the method of the request. */
  async read(target: S3Target, request: AwsRequest): Promise<AwsResponse> {
    const versionId = request.query.get('versionId');
    const version = this.#versions.find(target, versionId);
    if (version === undefined) return versionId === null ? noSuchKey() : noSuchVersion();
    const about = { 'x-amz-version-id': version.version_id };
    if (version.object === null) {
      const marked = { ...about, 'x-amz-delete-marker': 'true' };
      return versionId === null ? noSuchKey(marked) : notOfAMark(marked);
    }
    const answer = await this.#call(request.method, { ...target, key: version.object }, request);
    // Deleted since it was found; the engine would tell the name under which it was kept.
    if (answer.status === 404) return versionId === null ? noSuchKey() : noSuchVersion();
    return { ...answer, headers: { ...answer.headers, ...about } };
  }

  /** Without a version's id the object gets a mark and keeps its versions; with one, that version goes for good. */
  async delete(target: S3Target, versionId: string | null): Promise<AwsResponse> {
    if (versionId === null) return deleted(this.#versions.insertMark(target), true);
    const version = this.#versions.find(target, versionId);
    this.#versions.remove(target, versionId);
    if (typeof version?.object === 'string') await this.#call('DELETE', { ...target, key: version.object });
    return deleted(versionId, version?.object === null);
  }

  async #put(target: S3Target, request: AwsRequest): Promise<AwsResponse> {
    const object = newName();
    const { headers, copied } = this.#resolveCopy(request);
    const answer = await this.#call('PUT', { ...target, key: object }, { ...request, headers });
    if (answer.status >= 300) return answer;
    return this.#insert(target, object, { ...answer, headers: { ...answer.headers, ...copied } });
  }

  /** The engine knows a copy's source by the name of one version. */
  #resolveCopy({ headers }: AwsRequest): {
    headers: Record<string, string>;
    copied?: Record<string, string>;
  } {
    const source = readCopySource(headers);
    if (source === undefined || !this.has(source.target.bucket)) return { headers };
    const version = this.#versions.find(source.target, source.versionId);
    if (typeof version?.object !== 'string')
      throw new AwsError('NoSuchKey', 'The specified key does not exist.', 404);
    const renamed = `/${source.target.bucket}/${encodeURIComponent(version.object)}`;
    return {
      headers: { ...headers, 'x-amz-copy-source': renamed },
      copied: { 'x-amz-copy-source-version-id': version.version_id },
    };
  }

  async #createUpload(target: S3Target, request: AwsRequest): Promise<AwsResponse> {
    const object = newName();
    const answer = await this.#call('POST', { ...target, key: object }, request);
    const uploadId = /<UploadId>([^<]+)</.exec(answer.body.toString('utf8'))?.[1];
    if (uploadId === undefined) return answer;
    this.#versions.insertUpload(target, uploadId, object);
    const { bucket, key } = target;
    return xmlAnswer(
      `<InitiateMultipartUploadResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Bucket>${bucket}</Bucket><Key>${escapeXml(key)}</Key><UploadId>${uploadId}</UploadId></InitiateMultipartUploadResult>`,
    );
  }

  async #uploadPart(target: S3Target, request: AwsRequest): Promise<AwsResponse> {
    this.#requireUpload(target, request);
    const { headers, copied } = this.#resolveCopy(request);
    const answer = await this.#call('PUT', target, { ...request, headers });
    return { ...answer, headers: { ...answer.headers, ...copied } };
  }

  async #completeUpload(target: S3Target, request: AwsRequest): Promise<AwsResponse> {
    const { uploadId, object } = this.#requireUpload(target, request);
    // The engine knows the upload by its id, and puts the key of this call into the answer alone.
    const answer = await this.#call('POST', target, request);
    if (answer.status >= 300) return answer;
    const completed = await this.#insert(target, object, answer);
    this.#versions.removeUpload(uploadId);
    return completed;
  }

  async #abortUpload(target: S3Target, request: AwsRequest): Promise<AwsResponse> {
    const { uploadId } = this.#requireUpload(target, request);
    const answer = await this.#call('DELETE', target, request);
    if (answer.status < 300) this.#versions.removeUpload(uploadId);
    return answer;
  }

  #requireUpload(target: S3Target, { query }: AwsRequest): { uploadId: string; object: string } {
    const uploadId = query.get('uploadId') ?? '';
    const object = this.#versions.findUpload(target, uploadId);
    if (object === undefined)
      throw new AwsError('NoSuchUpload', 'The specified multipart upload does not exist.', 404);
    return { uploadId, object };
  }

  async #insert(target: S3Target, object: string, answer: AwsResponse): Promise<AwsResponse> {
    const id = newName();
    this.#versions.insert(target, { id, object }, await this.#written({ ...target, key: object }));
    return { ...answer, headers: { ...answer.headers, 'x-amz-version-id': id } };
  }

  async #deleteBucket(target: S3Target): Promise<AwsResponse> {
    if (!this.#versions.isEmpty(target.bucket))
      throw new AwsError(
        'BucketNotEmpty',
        'The bucket you tried to delete is not empty. You must delete all versions in the bucket.',
        409,
      );
    const answer = await this.#call('DELETE', target);
    if (answer.status < 300) this.#versions.forget(target.bucket);
    return answer;
  }

  async #written(target: S3Target): Promise<Written> {
    const { headers } = await this.#call('HEAD', target);
    return {
      etag: headers['etag'] ?? '',
      size: Number(headers['content-length']),
      modified_at: new Date(headers['last-modified'] ?? 0).toISOString(),
    };
  }

  async #keysOf(bucket: string): Promise<string[]> {
    const keys: string[] = [];
    for (;;) {
      const query = new URLSearchParams({ 'list-type': '2', 'start-after': keys.at(-1) ?? '' });
      const answer = await this.#call(
        'GET',
        { bucket, key: '' },
        { query, headers: {}, body: Buffer.alloc(0) },
      );
      const xml = answer.body.toString('utf8');
      if (answer.status !== 200)
        throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', 404);
      keys.push(...[...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key = '']) => unescapeXml(key)));
      if (!xml.includes('<IsTruncated>true<')) return keys;
    }
  }
}

function deleted(versionId: string, isMark: boolean): AwsResponse {
  const about = isMark ? { 'x-amz-delete-marker': 'true' } : undefined;
  return { status: 204, headers: { 'x-amz-version-id': versionId, ...about } };
}

const noSuchKey = (headers?: Record<string, string>) =>
  problem('NoSuchKey', 'The specified key does not exist.', 404, headers);
const noSuchVersion = () => problem('NoSuchVersion', 'The specified version does not exist.', 404);
const notOfAMark = (headers: Record<string, string>) =>
  problem('MethodNotAllowed', 'The specified method is not allowed against this resource.', 405, headers);

function problem(code: string, message: string, status: number, headers?: Record<string, string>) {
  return xmlAnswer(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`, status, headers);
}
