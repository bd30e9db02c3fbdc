import { AwsError, type AwsRequest, type AwsResponse, type Service } from '../wire/aws.ts';
import { forward, messageHeaders, type EngineAddress } from '../wire/forward.ts';
import type { Iam } from '../iam/iam.ts';
import type { Journal } from '../journal/journal.ts';
import { xmlAnswer } from '../wire/wire.ts';
import { deleteObjects } from './s3-delete-objects.ts';
import { listBucket, readOperation, type S3Operation, type S3Target } from './s3-operations.ts';
import { checkCondition, checkDigests, checkVersion, isConditional } from './s3-preconditions.ts';
import { type EngineCall, VersionedBuckets } from './s3-versioned.ts';
import { Versions } from './s3-versions.ts';

const ANSWER_SECONDS_MAX = 30;

const reads = new Set(['GetObject', 'HeadObject']);
const writes = new Set(['PutObject', 'CompleteMultipartUpload']);

/**
 * Objects, in front of the engine that keeps them; adds what it leaves out: checksums, conditional writes, and versions
 * in buckets that keep them.
 */
export function createS3Service(options: {
  engine: () => EngineAddress;
  iam: Iam;
  journal: Journal;
}): Service {
  const turns = new Turns();

  const call: EngineCall = async (method, target, request) => {
    const { authorization: _, ...headers } = messageHeaders(request?.headers ?? {});
    const search = request && request.query.size > 0 ? `?${request.query.toString()}` : '';
    const engine = { name: 'The object engine', ...options.engine(), secondsMax: ANSWER_SECONDS_MAX };
    const path = enginePath(target) + search;
    const answer = await forward(engine, { method, path, headers, body: request?.body ?? '' });
    if (answer.status === 500) throw new Error(`the object engine failed: ${answer.body.toString('utf8')}`);
    return answer;
  };
  const versioned = new VersionedBuckets(new Versions(options.journal), call);

  const handle = async (request: AwsRequest, operation: S3Operation): Promise<AwsResponse> => {
    const { name, target } = operation;
    if (name === 'PutBucketVersioning') return turns.take(target.bucket, () => keepVersions(request, target));
    if (name === 'GetBucketVersioning') return describeVersioning(target);
    if (versioned.has(target.bucket)) {
      const answer = await versioned.handle(operation, request);
      if (answer) return answer;
    }
    checkVersion(request);
    if (name === 'ListObjectVersions')
      throw new AwsError('NotImplemented', 'S3 here lists versions only of a bucket that keeps them.', 501);
    return call(request.method, target, request);
  };

  const head = (request: AwsRequest, target: S3Target): Promise<AwsResponse> =>
    versioned.has(target.bucket)
      ? versioned.read(target, { ...request, method: 'HEAD', headers: {}, query: new URLSearchParams() })
      : call('HEAD', target);

  const deleteOne = (target: S3Target, versionId: string | null): Promise<AwsResponse> => {
    if (versioned.has(target.bucket)) return versioned.delete(target, versionId);
    checkVersion({ query: new URLSearchParams(versionId === null ? {} : { versionId }) });
    return call('DELETE', target);
  };

  const keepVersions = async ({ body }: AwsRequest, { bucket }: S3Target): Promise<AwsResponse> => {
    if (!/<Status>Enabled<\/Status>/.test(body.toString('utf8')))
      throw new AwsError('NotImplemented', 'S3 here does not stop keeping versions.', 501);
    await versioned.keep(bucket);
    return { status: 200 };
  };

  const describeVersioning = async (target: S3Target): Promise<AwsResponse> => {
    const answer = await call('HEAD', target);
    if (answer.status >= 300)
      throw new AwsError('NoSuchBucket', 'The specified bucket does not exist', answer.status);
    const status = versioned.has(target.bucket) ? '<Status>Enabled</Status>' : '';
    return xmlAnswer(
      `<VersioningConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${status}</VersioningConfiguration>`,
    );
  };

  return {
    scope: 's3',
    protocol: 'rest-xml',
    access: (request) => readOperation(withHoistedHeaders(request)).access,

    async handle(received): Promise<AwsResponse> {
      const request = withHoistedHeaders(received);
      const operation = readOperation(request);
      const { name, target } = operation;
      checkDigests(request);
      if (name === 'DeleteObjects') {
        return deleteObjects(request, target.bucket, options.iam, ({ key, versionId }) =>
          deleteOne({ ...target, key }, versionId),
        );
      }
      if (writes.has(name)) {
        return turns.take(enginePath(target), async () => {
          if (isConditional(request)) checkCondition(request, await head(request, target));
          return handle(request, operation);
        });
      }
      const answer = await handle(request, operation);
      if (!reads.has(name)) return answer;
      // Who may not list the bucket may not learn either that an object is missing: AWS answers 403.
      if (answer.status === 404) options.iam.authorize(request.principal, listBucket(target));
      return answer.status < 300 ? withOverrides(request, answer) : answer;
    },
  };
}

/** One write at a time for each key, so that of two conditional ones only one finds the key free. */
class Turns {
  #last = new Map<string, Promise<unknown>>();

  async take<T>(key: string, work: () => Promise<T>): Promise<T> {
    const mine = (this.#last.get(key) ?? Promise.resolve()).then(work, work);
    this.#last.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    }
  }
}

/** Built from what was authorized, not from what was sent; with a slash, as a bucket may be called `health`. */
function enginePath({ bucket, key }: S3Target): string {
  return bucket === '' ? '/' : `/${bucket}/${key.split('/').map(encodeURIComponent).join('/')}`;
}

/**
 * Presigned URLs carry in the query what other requests carry as headers. A checksum there is ignored, as S3 ignores it:
 * the SDK puts that of an empty body. To bind an upload to its checksum, presign with it among `unhoistableHeaders`.
 */
function withHoistedHeaders(request: AwsRequest): AwsRequest {
  const hoisted = [...request.query].filter(([name]) => /^x-amz-(?!.*checksum)/.test(name));
  return { ...request, headers: { ...Object.fromEntries(hoisted), ...request.headers } };
}

const overridable = /^response-(content-(type|language|disposition|encoding)|cache-control|expires)$/;

/** `response-content-disposition` and its like let a presigned link name the file it downloads. */
function withOverrides({ query }: AwsRequest, answer: AwsResponse): AwsResponse {
  const overrides = [...query].filter(([name]) => overridable.test(name));
  if (overrides.some(([, value]) => /[^\t\x20-\x7e]/.test(value))) {
    throw new AwsError('InvalidArgument', 'A header of the answer can only be made of printable ASCII.');
  }
  const headers = Object.fromEntries(
    overrides.map(([name, value]) => [name.slice('response-'.length), value]),
  );
  return { ...answer, headers: { ...answer.headers, ...headers } };
}
