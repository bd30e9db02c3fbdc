// The bucket of files. A client of its own, over plain HTTP: the SDK's for S3 is larger than a whole function may be.
// Whatever the store does, an answer is what was asked for, or absence, or a refusal that may be tried again.

import { createHash, hash } from 'node:crypto';
import { type IncomingHttpHeaders, type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { SignatureV4 } from '@smithy/signature-v4';
import { dynamo } from '../platform/clients.ts';
import { environment } from '../platform/environment.ts';
import { type Refusal } from '../platform/errors.ts';
import { readVersions, type VersionMarker, type VersionPage } from './object-versions.ts';
import { refuse } from './problems.ts';

const ANSWER_SECONDS_MAX = 5;
/** A whole file is read in this time or not at all: the caller waits no longer. */
const DIGEST_SECONDS_MAX = 20;
const LISTING_BYTES_MAX = 4 * 1024 * 1024;

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

interface Call {
  method: 'GET' | 'HEAD' | 'PUT' | 'DELETE';
  /** None for the bucket itself. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
}

const CHECKSUM = 'x-amz-checksum-sha256';
const WITH_CHECKSUM = { 'x-amz-checksum-mode': 'ENABLED' };

export async function presignPut(
  key: string,
  { seconds, digest, now }: { seconds: number; digest?: string; now: Date },
): Promise<Upload> {
  const headers: Record<string, string> = digest === undefined ? {} : { [CHECKSUM]: checksumOf(digest) };
  const { request, url } = await describe({ method: 'PUT', key, headers });
  const signer = await openSigner();
  const { query = {} } = await signer.presign(
    { ...request, headers: { ...request.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } },
    // Among the query's parameters S3 would ignore it.
    { expiresIn: seconds, signingDate: now, unhoistableHeaders: new Set([CHECKSUM]) },
  );
  url.search = searchOf(query as Record<string, string>);
  return { url: url.href, headers };
}

/** The latest version unless one is named; nothing where there is none. */
export async function headObject(key: string, versionId?: string): Promise<StoredObject | undefined> {
  return answering(ANSWER_SECONDS_MAX, async (signal) => {
    const answer = await send(
      { method: 'HEAD', key, query: versionQuery(versionId), headers: WITH_CHECKSUM },
      signal,
    );
    answer.resume();
    return isFound(answer) ? describeObject(answer.headers, versionId) : undefined;
  });
}

/** The beginning of an object, at most so much of it: what is longer is not what it should be anyway. */
export async function readObject(
  key: string,
  bytesMax: number,
  versionId?: string,
): Promise<Buffer | undefined> {
  return answering(ANSWER_SECONDS_MAX, async (signal) => {
    const answer = await send(
      { method: 'GET', key, query: versionQuery(versionId), headers: WITH_CHECKSUM },
      signal,
    );
    if (!isFound(answer)) return undefined;
    const { sizeBytes, digest } = describeObject(answer.headers, versionId);
    const bytes = await collect(answer, bytesMax);
    const isWhole = sizeBytes <= bytesMax;
    if (isWhole && digest !== undefined && digest !== digestOf(hash('sha256', bytes)))
      throw new Error('The bytes are not those of their checksum.');
    return bytes;
  });
}

/** Over every byte of an object as it was described, none of which is kept. */
export async function digestObject(
  key: string,
  { versionId, sizeBytes }: Pick<StoredObject, 'versionId' | 'sizeBytes'>,
): Promise<string | undefined> {
  return answering(DIGEST_SECONDS_MAX, async (signal) => {
    const answer = await send({ method: 'GET', key, query: versionQuery(versionId) }, signal);
    if (!isFound(answer)) return undefined;
    if (describeObject(answer.headers, versionId).sizeBytes !== sizeBytes)
      throw new Error('The length of the version has changed.');
    const sum = createHash('sha256');
    let bytes = 0;
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      sum.update(chunk);
    }
    if (bytes !== sizeBytes) throw new Error(`Of ${sizeBytes} bytes ${bytes} came.`);
    return digestOf(sum.digest('hex'));
  });
}

/** One page of all versions of all objects below a prefix. */
export async function listVersions(prefix: string, after?: VersionMarker): Promise<VersionPage> {
  return answering(ANSWER_SECONDS_MAX, async (signal) => {
    const query = {
      versions: '',
      prefix,
      'encoding-type': 'url',
      ...(after && { 'key-marker': after.key, 'version-id-marker': after.versionId }),
    };
    const answer = await send({ method: 'GET', query }, signal);
    if (answer.statusCode !== 200) throw unexpected(answer);
    return readVersions((await collect(answer, LISTING_BYTES_MAX)).toString('utf8'));
  });
}

/** This version goes for good; one that is gone already is no failure. */
export async function deleteVersion(key: string, versionId: string): Promise<void> {
  return answering(ANSWER_SECONDS_MAX, async (signal) => {
    const answer = await send({ method: 'DELETE', key, query: versionQuery(versionId) }, signal);
    answer.resume();
    if (answer.statusCode !== 204 && answer.statusCode !== 404) throw unexpected(answer);
  });
}

function describeObject(headers: IncomingHttpHeaders, asked?: string): StoredObject {
  const sizeBytes = Number(headers['content-length'] ?? Number.NaN);
  if (!Number.isSafeInteger(sizeBytes)) throw new Error('The answer does not tell its length.');
  const versionId = headers['x-amz-version-id'];
  if (typeof versionId !== 'string' || (asked !== undefined && asked !== versionId))
    throw new Error('The answer is about no version, or about another than was asked for.');
  const storedAt = new Date(headers['last-modified'] ?? '');
  if (Number.isNaN(storedAt.getTime())) throw new Error('The answer does not tell its time.');
  const digest = readChecksum(headers);
  return { versionId, sizeBytes, storedAt, ...(digest !== undefined && { digest }) };
}

function readChecksum(headers: IncomingHttpHeaders): string | undefined {
  const checksum = headers[CHECKSUM];
  if (typeof checksum !== 'string' || headers['x-amz-checksum-type'] === 'COMPOSITE') return undefined;
  const bytes = Buffer.from(checksum, 'base64');
  if (bytes.length !== 32 || bytes.toString('base64') !== checksum)
    throw new Error('The checksum in the answer is none.');
  return digestOf(bytes.toString('hex'));
}

const digestOf = (hex: string): string => `sha256:${hex}`;

const checksumOf = (digest: string): string =>
  Buffer.from(digest.slice('sha256:'.length), 'hex').toString('base64');

const versionQuery = (versionId: string | undefined): Record<string, string> =>
  versionId === undefined ? {} : { versionId };

/** Whether it is there. 405 is how S3 says that the version is the mark of a deletion. */
function isFound(answer: IncomingMessage): boolean {
  if (answer.statusCode === 200) return true;
  answer.resume();
  if (answer.statusCode === 404 || answer.statusCode === 405) return false;
  throw unexpected(answer);
}

/** Also a redirection, which is never followed, and a grant that is missing: neither tells anything of the object. */
const unexpected = ({ statusCode }: IncomingMessage): Error => new Error(`The store answered ${statusCode}.`);

async function collect(answer: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= bytesMax) break;
  }
  if (bytes < Math.min(bytesMax, Number(answer.headers['content-length'] ?? 0)))
    throw new Error('The body ended too early.');
  return Buffer.concat(chunks).subarray(0, bytesMax);
}

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

async function send(call: Call, signal: AbortSignal): Promise<IncomingMessage> {
  const { request, url } = await describe(call);
  const signer = await openSigner();
  const { headers } = await signer.sign({
    ...request,
    headers: { ...request.headers, 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' },
  });
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === 'http:' ? requestHttp : requestHttps;
  // No connection is kept: between two invocations it would die unseen. Nor does this follow a redirection or undo a
  // content encoding, as `fetch` would: a digest is of the bytes that were uploaded.
  open(url, { method: call.method, headers, signal, agent: false })
    .on('response', resolve)
    .on('error', reject)
    .end();
  return promise;
}

async function describe({ method, key, query = {}, headers = {} }: Call) {
  const url = await addressOf(key);
  url.search = searchOf(query);
  const { protocol, hostname, pathname, host } = url;
  return {
    url,
    request: { method, protocol, hostname, path: pathname, query, headers: { ...headers, host } },
  };
}

/** On one machine every service has one address, and the bucket stands in the path. */
async function addressOf(key: string | undefined): Promise<URL> {
  const bucket = environment('ARTIFACTS_BUCKET');
  const endpoint = process.env['AWS_ENDPOINT_URL_S3'] ?? process.env['AWS_ENDPOINT_URL'];
  const path = (key ?? '').split('/').map(encode).join('/');
  if (endpoint) return new URL(`${endpoint}/${bucket}${key === undefined ? '' : `/${path}`}`);
  const region = await dynamo().config.region();
  return new URL(`https://${bucket}.s3.${region}.amazonaws.com/${path}`);
}

function searchOf(query: Record<string, string>): string {
  return Object.entries(query)
    .map(([name, value]) => `${encode(name)}=${encode(value)}`)
    .join('&');
}

/** RFC 3986, as signatures have it: more than encodeURIComponent does. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** With the function's own credentials, as every client of the SDK has them. */
async function openSigner(): Promise<SignatureV4> {
  const { region, credentials, sha256 } = dynamo().config;
  return new SignatureV4({
    service: 's3',
    uriEscapePath: false,
    applyChecksum: false,
    region,
    credentials,
    sha256,
  });
}
