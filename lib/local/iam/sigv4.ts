import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { AwsError, REGION } from '../wire/aws.ts';

// Signature Version 4 from the receiving side: the canonical request is built again from what arrived.
// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html

const ALGORITHM = 'AWS4-HMAC-SHA256';
const SKEW_MS_MAX = 15 * 60 * 1000;
const PRESIGNED_SECONDS_MAX = 7 * 24 * 60 * 60;

export interface SignedRequest {
  method: string;
  /** Path and query as sent: an encoding undone and done again may differ from the one that was signed. */
  path: string;
  search: string;
  headers: Record<string, string>;
  body: Buffer;
}

export interface Signature {
  accessKeyId: string;
  sessionToken: string | undefined;
  scopeDate: string;
  region: string;
  /** The service name in the credential scope. */
  service: string;
  signedHeaders: string[];
  signature: string;
  /** As sent, `20261116T041007Z`. */
  date: string;
  /** Only presigned URLs say how long they are good for. */
  presignedSeconds?: number;
}

export function isSigned(headers: { authorization?: string }, search: string): boolean {
  return (
    headers.authorization?.startsWith(ALGORITHM) === true || search.includes(`X-Amz-Algorithm=${ALGORITHM}`)
  );
}

/** What the request says about its signature; nothing of it is proven yet. */
export function readSignature({ headers, search }: Pick<SignedRequest, 'headers' | 'search'>): Signature {
  const presigned = headers['authorization'] === undefined;
  const query = new URLSearchParams(search);
  const stated = presigned
    ? (name: string) => query.get(`X-Amz-${name}`) ?? ''
    : authorizationFields(headers);
  const [accessKeyId = '', scopeDate = '', region = '', service = '', terminator] =
    stated('Credential').split('/');
  const signature = stated('Signature');
  const date = (presigned ? query.get('X-Amz-Date') : headers['x-amz-date']) ?? '';
  if (terminator !== 'aws4_request' || !/^[0-9a-f]{64}$/.test(signature) || !/^\d{8}T\d{6}Z$/.test(date)) {
    throw incomplete('a credential scope ending in aws4_request, a hexadecimal signature and a date');
  }
  return {
    accessKeyId,
    sessionToken:
      (presigned ? query.get('X-Amz-Security-Token') : headers['x-amz-security-token']) ?? undefined,
    scopeDate,
    region,
    service,
    signedHeaders: stated('SignedHeaders').split(';'),
    signature,
    date,
    ...(presigned && { presignedSeconds: presignedSeconds(query.get('X-Amz-Expires')) }),
  };
}

/** Throws unless this request, with this body, was signed with the secret, for us, and just now. */
export function verifySignature(
  request: SignedRequest,
  signature: Signature,
  secret: string,
  now: Date,
): void {
  checkTime(signature, now);
  checkCoverage(request, signature);
  const payloadHash = checkPayload(request, signature);
  const expected = sign(request, signature, secret, payloadHash);
  if (!timingSafeEqual(Buffer.from(expected, 'hex'), Buffer.from(signature.signature, 'hex'))) {
    throw new AwsError(
      'InvalidSignatureException',
      'The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key and signing method.',
    );
  }
}

function authorizationFields(headers: Record<string, string>): (name: string) => string {
  const fields = (headers['authorization'] ?? '').slice(ALGORITHM.length).split(',');
  return (name) => {
    const field = fields.find((candidate) => candidate.trim().startsWith(`${name}=`));
    return field?.trim().slice(name.length + 1) ?? '';
  };
}

function presignedSeconds(expires: string | null): number {
  const seconds = /^\d{1,6}$/.test(expires ?? '') ? Number(expires) : 0;
  if (seconds < 1 || seconds > PRESIGNED_SECONDS_MAX) throw incomplete('X-Amz-Expires from 1 to 604800');
  return seconds;
}

function checkTime({ date, scopeDate, presignedSeconds: seconds }: Signature, now: Date): void {
  const signedAtMs = Date.parse(date.replace(/^(....)(..)(..)T(..)(..)(..)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (Number.isNaN(signedAtMs) || !date.startsWith(scopeDate))
    throw incomplete('a date that matches its scope');
  const ageMs = now.getTime() - signedAtMs;
  if (seconds !== undefined && ageMs > seconds * 1000) {
    throw new AwsError('AccessDeniedException', 'Request has expired');
  }
  if (ageMs < -SKEW_MS_MAX || (seconds === undefined && ageMs > SKEW_MS_MAX)) {
    throw new AwsError(
      'RequestTimeTooSkewed',
      `The difference between the request time (${date}) and the current time (${now.toISOString()}) is too large.`,
    );
  }
}

/** A header that was not signed could have been added by anyone on the way. */
function checkCoverage(
  { headers }: SignedRequest,
  { region, signedHeaders, presignedSeconds: seconds }: Signature,
): void {
  if (region !== REGION) {
    throw new AwsError(
      'InvalidSignatureException',
      `Credential should be scoped to ${REGION}, not to '${region}'.`,
    );
  }
  const absent = signedHeaders.find((name) => !Object.hasOwn(headers, name));
  if (absent !== undefined) throw incomplete(`the header '${absent}', which it says was signed`);
  const meaningful = Object.keys(headers).filter((name) => name === 'host' || name.startsWith('x-amz-'));
  const unsigned = meaningful.filter((name) => !signedHeaders.includes(name));
  if (unsigned.length === 0 && signedHeaders.includes('host')) return;
  const kind = seconds === undefined ? 'request' : 'presigned URL';
  throw new AwsError(
    'AccessDeniedException',
    `There were headers present in the ${kind} which were not signed: ${unsigned.join(', ') || 'host'}`,
  );
}

function checkPayload(request: SignedRequest, { service, presignedSeconds: seconds }: Signature): string {
  const actual = () => createHash('sha256').update(request.body).digest('hex');
  const stated =
    request.headers['x-amz-content-sha256'] ??
    new URLSearchParams(request.search).get('X-Amz-Content-Sha256') ??
    (seconds !== undefined && service === 's3' ? 'UNSIGNED-PAYLOAD' : actual());
  if (/^[0-9a-f]{64}$/.test(stated)) {
    if (stated === actual()) return stated;
    throw new AwsError(
      'XAmzContentSHA256Mismatch',
      `The provided 'x-amz-content-sha256' is not that of the body.`,
    );
  }
  if (service === 's3' && ['UNSIGNED-PAYLOAD', 'STREAMING-UNSIGNED-PAYLOAD-TRAILER'].includes(stated))
    return stated;
  throw new AwsError(
    'InvalidSignatureException',
    `The payload of ${service} cannot be signed as '${stated}' here.`,
  );
}

function sign(request: SignedRequest, signature: Signature, secret: string, payloadHash: string): string {
  const { scopeDate, region, service, signedHeaders, date } = signature;
  const canonicalRequest = [
    request.method,
    canonicalPath(request.path, service),
    canonicalQuery(request.search),
    ...signedHeaders.map((name) => `${name}:${(request.headers[name] ?? '').trim().replace(/\s+/g, ' ')}`),
    '',
    signedHeaders.join(';'),
    payloadHash,
  ].join('\n');
  const scope = `${scopeDate}/${region}/${service}/aws4_request`;
  const digest = createHash('sha256').update(canonicalRequest).digest('hex');
  return hmac(signingKey(secret, scope), [ALGORITHM, date, scope, digest].join('\n')).toString('hex');
}

const KEYS_MAX = 1_000;
const keys = new Map<string, Buffer>();

/** The same for a caller, a service and a day, and four fifths of the work of a signature. */
function signingKey(secret: string, scope: string): Buffer {
  const name = `${secret} ${scope}`;
  const known = keys.get(name);
  if (known) return known;
  const key = scope.split('/').reduce<Buffer | string>(hmac, `AWS4${secret}`) as Buffer;
  if (keys.size >= KEYS_MAX) keys.clear();
  keys.set(name, key);
  return key;
}

/** S3 signs the path as it is sent, all others encode what is already encoded once more. */
function canonicalPath(path: string, service: string): string {
  return service === 's3' ? path : path.split('/').map(encode).join('/');
}

function canonicalQuery(search: string): string {
  const pairs = search.split('&').filter((pair) => pair !== '' && !pair.startsWith('X-Amz-Signature='));
  return pairs
    .map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return { name: encode(decode(name)), value: encode(decode(value.join('='))) };
    })
    .sort((a, b) => compare(a.name, b.name) || compare(a.value, b.value))
    .map(({ name, value }) => `${name}=${value}`)
    .join('&');
}

/** By code point; a locale would order otherwise. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw incomplete('a query that is percent-encoded throughout');
  }
}

/** RFC 3986: more than encodeURIComponent does. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: Buffer | string, data: string): Buffer {
  return createHmac('sha256', key).update(data).digest();
}

function incomplete(needed: string): AwsError {
  return new AwsError('IncompleteSignatureException', `The signature of the request needs ${needed}.`);
}
