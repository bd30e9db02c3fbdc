// The bucket of files. Whatever the store answers, the result is the requested object, its absence, or a retryable
// refusal.

import { createHash, hash } from 'node:crypto';
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  type HeadObjectCommandOutput,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { environment } from '../platform/environment.ts';
import { type Refusal } from '../platform/errors.ts';
import { s3 } from './object-client.ts';
import { readVersions, type VersionMarker, type ObjectVersionPage } from './object-versions.ts';
import { refuse } from './problems.ts';

const ANSWER_SECONDS_MAX = 5;
/** A whole file is read in this time or not at all: the caller waits no longer. */
const DIGEST_SECONDS_MAX = 20;

export interface StoredObject {
  versionId: string;
  sizeBytes: number;
  storedAt: Date;
  /** As S3 checked it when the whole object was uploaded with it; one made of parts' checksums says nothing. */
  digest?: string;
}

/** An address to which anybody may upload this one object for a while, and the headers the upload must carry. */
export interface Upload {
  url: string;
  headers: Record<string, string>;
}

const CHECKSUM = 'x-amz-checksum-sha256';

export async function presignPut(
  key: string,
  { seconds, digest, now }: { seconds: number; digest?: string; now: Date },
): Promise<Upload> {
  const checksum = digest === undefined ? undefined : checksumOf(digest);
  const command = new PutObjectCommand({ ...objectOf(key), ChecksumSHA256: checksum });
  // Among the query's parameters S3 would ignore it.
  const unhoistableHeaders = new Set([CHECKSUM]);
  const url = await getSignedUrl(s3(), command, { expiresIn: seconds, signingDate: now, unhoistableHeaders });
  return { url, headers: checksum === undefined ? {} : { [CHECKSUM]: checksum } };
}

/** The latest version unless one is named; nothing where there is none. */
export async function headObject(key: string, versionId?: string): Promise<StoredObject | undefined> {
  const command = new HeadObjectCommand({ ...objectOf(key, versionId), ChecksumMode: 'ENABLED' });
  return answering(ANSWER_SECONDS_MAX, async (abortSignal) => {
    const answer = await unlessAbsent(s3().send(command, { abortSignal }));
    return answer && describeObject(answer, versionId);
  });
}

/** The beginning of an object, at most so much of it: what is longer is not what it should be anyway. */
export async function readObject(
  key: string,
  bytesMax: number,
  versionId?: string,
): Promise<Buffer | undefined> {
  const command = new GetObjectCommand({ ...objectOf(key, versionId), ChecksumMode: 'ENABLED' });
  return answering(ANSWER_SECONDS_MAX, async (abortSignal) => {
    const answer = await unlessAbsent(s3().send(command, { abortSignal }));
    if (!answer) return undefined;
    const { sizeBytes, digest } = describeObject(answer, versionId);
    const bytes = await readBeginning(answer, Math.min(bytesMax, sizeBytes));
    const isWhole = sizeBytes <= bytesMax;
    if (isWhole && digest !== undefined && digest !== digestOf(hash('sha256', bytes)))
      throw new Error('The content does not match its checksum.');
    return bytes;
  });
}

/** Over every byte of an object as it was described, none of which is kept. */
export async function digestObject(
  key: string,
  { versionId, sizeBytes }: Pick<StoredObject, 'versionId' | 'sizeBytes'>,
): Promise<string | undefined> {
  return answering(DIGEST_SECONDS_MAX, async (abortSignal) => {
    const answer = await unlessAbsent(
      s3().send(new GetObjectCommand(objectOf(key, versionId)), { abortSignal }),
    );
    if (!answer) return undefined;
    if (describeObject(answer, versionId).sizeBytes !== sizeBytes)
      throw new Error('The length of the version has changed.');
    const sum = createHash('sha256');
    let bytes = 0;
    for await (const chunk of chunksOf(answer)) {
      bytes += chunk.length;
      sum.update(chunk);
    }
    if (bytes !== sizeBytes) throw new Error(`Received ${bytes} of ${sizeBytes} bytes.`);
    return digestOf(sum.digest('hex'));
  });
}

/** One page of all versions of all objects below a prefix. */
export async function listObjectVersions(prefix: string, after?: VersionMarker): Promise<ObjectVersionPage> {
  const command = new ListObjectVersionsCommand({
    Bucket: environment('ARTIFACTS_BUCKET'),
    Prefix: prefix,
    KeyMarker: after?.key,
    VersionIdMarker: after?.versionId,
  });
  return answering(ANSWER_SECONDS_MAX, async (abortSignal) =>
    readVersions(await s3().send(command, { abortSignal }), prefix),
  );
}

/** This version goes for good; one that is gone already is no failure. */
export async function deleteVersion(key: string, versionId: string): Promise<void> {
  await answering(ANSWER_SECONDS_MAX, (abortSignal) =>
    unlessAbsent(s3().send(new DeleteObjectCommand(objectOf(key, versionId)), { abortSignal })),
  );
}

const objectOf = (Key: string, VersionId?: string) => ({
  Bucket: environment('ARTIFACTS_BUCKET'),
  Key,
  VersionId,
});

/** Nothing where there is none. 405 is how S3 says that the version is the mark of a deletion. */
async function unlessAbsent<T>(sent: Promise<T>): Promise<T | undefined> {
  try {
    return await sent;
  } catch (error) {
    const { $metadata } = error as { $metadata?: { httpStatusCode?: number } };
    if ($metadata?.httpStatusCode === 404 || $metadata?.httpStatusCode === 405) return undefined;
    throw error;
  }
}

function describeObject(
  answer: HeadObjectCommandOutput | GetObjectCommandOutput,
  asked?: string,
): StoredObject {
  const { $metadata, ContentLength: sizeBytes, VersionId: versionId, LastModified: storedAt } = answer;
  if ($metadata.httpStatusCode !== 200) throw new Error('The answer covers only a part of the object.');
  if (!Number.isSafeInteger(sizeBytes)) throw new Error('The answer does not state its length.');
  if (versionId === undefined || (asked !== undefined && asked !== versionId))
    throw new Error('The answer has no version, or not the requested one.');
  if (storedAt === undefined) throw new Error('The answer does not state its time.');
  const digest = readChecksum(answer);
  return { versionId, sizeBytes: Number(sizeBytes), storedAt, ...(digest !== undefined && { digest }) };
}

function readChecksum({
  ChecksumSHA256,
  ChecksumType,
}: HeadObjectCommandOutput | GetObjectCommandOutput): string | undefined {
  if (ChecksumSHA256 === undefined || ChecksumType === 'COMPOSITE') return undefined;
  const bytes = Buffer.from(ChecksumSHA256, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== ChecksumSHA256)
    throw new Error('The checksum in the answer is not valid.');
  return digestOf(bytes.toString('hex'));
}

const digestOf = (hex: string): string => `sha256:${hex}`;

const checksumOf = (digest: string): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

async function readBeginning(answer: GetObjectCommandOutput, bytesWanted: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(answer)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > bytesWanted) break;
  }
  if (bytes < bytesWanted) throw new Error('The body ended too early.');
  return Buffer.concat(chunks).subarray(0, bytesWanted);
}

const chunksOf = ({ Body }: GetObjectCommandOutput): AsyncIterable<Buffer> => Body as AsyncIterable<Buffer>;

async function answering<T>(seconds: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  try {
    return await work(AbortSignal.timeout(seconds * 1000));
  } catch (cause) {
    throw unavailable(cause);
  }
}

function unavailable(cause: unknown): Refusal {
  // The cause goes to the log alone.
  return Object.assign(refuse('store.unavailable', { headers: { 'retry-after': '5' } }), { cause });
}
