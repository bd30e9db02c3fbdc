import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { AwsError, type AwsRequest, type AwsResponse } from '../wire/aws.ts';

const digests: Record<string, (body: Buffer) => string> = {
  'content-md5': (body) => createHash('md5').update(body).digest('base64'),
  'x-amz-checksum-sha1': (body) => createHash('sha1').update(body).digest('base64'),
  'x-amz-checksum-sha256': (body) => createHash('sha256').update(body).digest('base64'),
  'x-amz-checksum-crc32': (body) => {
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(crc32(body));
    return sum.toString('base64');
  },
};

/** The engine keeps a checksum that was sent without looking at it. */
export function checkDigests({ headers, body }: AwsRequest): void {
  for (const [name, digest] of Object.entries(digests)) {
    const stated = headers[name];
    if (stated === undefined || stated === digest(body)) continue;
    throw new AwsError('BadDigest', `The ${name} you specified did not match what we received.`);
  }
}

/** A bucket that keeps no versions has one of each object, which AWS calls `null`. */
export function checkVersion({ query }: Pick<AwsRequest, 'query'>): void {
  const version = query.get('versionId');
  if (version === null || version === 'null') return;
  throw new AwsError('NoSuchVersion', 'The specified version does not exist.', 404);
}

export function isConditional({ headers }: AwsRequest): boolean {
  return headers['if-none-match'] !== undefined || headers['if-match'] !== undefined;
}

/** Whether a write may go ahead, given what a HEAD of its key says now. */
export function checkCondition({ headers }: AwsRequest, present: AwsResponse): void {
  const ifNoneMatch = headers['if-none-match'];
  const ifMatch = headers['if-match'];
  const exists = present.status === 200;
  if (ifNoneMatch !== undefined && ifNoneMatch !== '*') {
    throw new AwsError('NotImplemented', 'If-None-Match on a write can only be *.', 501);
  }
  if (ifMatch !== undefined && !exists)
    throw new AwsError('NoSuchKey', 'The specified key does not exist.', 404);
  const differs = ifMatch !== undefined && unquoted(ifMatch) !== unquoted(present.headers?.['etag'] ?? '');
  if (differs || (ifNoneMatch !== undefined && exists)) {
    throw new AwsError(
      'PreconditionFailed',
      'At least one of the pre-conditions you specified did not hold',
      412,
    );
  }
}

function unquoted(etag: string): string {
  return etag.replaceAll('"', '');
}
