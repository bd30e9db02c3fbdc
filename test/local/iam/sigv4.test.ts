import { createHash } from 'node:crypto';
import { SignatureV4 } from '@smithy/signature-v4';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readSignature, verifySignature, type SignedRequest } from '../../../lib/local/iam/sigv4.ts';
import { Sha256 } from '../services/sign-request.ts';

const secret = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';
const emptyHash = createHash('sha256').digest('hex');

function verify(request: SignedRequest, now: string): void {
  verifySignature(request, readSignature(request), secret, new Date(now));
}

describe("AWS's own examples", () => {
  // https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
  const getObject: SignedRequest = {
    method: 'GET',
    path: '/test.txt',
    search: '',
    headers: {
      host: 'examplebucket.s3.amazonaws.com',
      range: 'bytes=0-9',
      'x-amz-content-sha256': emptyHash,
      'x-amz-date': '20130524T000000Z',
      authorization:
        'AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
    body: Buffer.alloc(0),
  };

  // https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-query-string-auth.html
  const presigned: SignedRequest = {
    method: 'GET',
    path: '/test.txt',
    search:
      'X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
    headers: { host: 'examplebucket.s3.amazonaws.com' },
    body: Buffer.alloc(0),
  };

  test('a signed header is accepted at the time it was made', () => {
    expect(() => verify(getObject, '2013-05-24T00:00:10Z')).not.toThrow();
  });

  test.each([
    ['a quarter of an hour later', '2013-05-24T00:15:01Z'],
    ['a quarter of an hour before', '2013-05-23T23:44:59Z'],
  ])('a signed header is refused %s', (_when, now) => {
    expect(() => verify(getObject, now)).toThrow(/difference between the request time/);
  });

  test('a presigned URL is good until it expires', () => {
    verify(presigned, '2013-05-24T23:59:59Z');
    expect(() => verify(presigned, '2013-05-25T00:00:01Z')).toThrow('Request has expired');
  });

  const headers = getObject.headers;
  test.each<[string, Partial<SignedRequest>, RegExp]>([
    ['the method', { method: 'DELETE' }, /does not match/],
    ['the path', { path: '/other.txt' }, /does not match/],
    ['the query', { search: 'versionId=1' }, /does not match/],
    ['a signed header', { headers: { ...headers, range: 'bytes=0-99' } }, /does not match/],
    ['the body', { body: Buffer.from('x') }, /not that of the body/],
    ['a meaningful header', { headers: { ...headers, 'x-amz-acl': 'public-read' } }, /not signed: x-amz-acl/],
    ['a signed header that is missing', { headers: without(headers, 'range') }, /the header 'range'/],
    [
      'a date of another day',
      { headers: { ...headers, 'x-amz-date': '20130525T000000Z' } },
      /date that matches/,
    ],
    [
      'the region',
      { headers: { ...headers, authorization: swap('us-east-1', 'eu-west-1') } },
      /scoped to us-east-1/,
    ],
    ['the service', { headers: { ...headers, authorization: swap('/s3/', '/sqs/') } }, /does not match/],
    ['the signature', { headers: { ...headers, authorization: swap('=f0e8', '=f0e9') } }, /does not match/],
    ['half a signature', { headers: { ...headers, authorization: swap('=f0e8bdb87c96', '=') } }, /needs/],
  ])('%s changed on the way is noticed', (_what, change, message) => {
    expect(() => verify({ ...getObject, ...change }, '2013-05-24T00:00:10Z')).toThrow(message);
  });

  test('only S3 may leave its payload unsigned', () => {
    const unsigned = {
      ...headers,
      'x-amz-content-sha256': 'UNSIGNED-PAYLOAD',
      authorization: swap('/s3/', '/sqs/'),
    };
    expect(() => verify({ ...getObject, headers: unsigned }, '2013-05-24T00:00:10Z')).toThrow(
      /UNSIGNED-PAYLOAD/,
    );
  });

  function swap(from: string, to: string): string {
    return (headers['authorization'] ?? '').replace(from, to);
  }
});

describe("the SDK's signer", () => {
  test.each(['s3', 'dynamodb', 'lambda'])(
    'agrees on whatever it may be given to sign for %s',
    async (service) => {
      const text = fc.string({ unit: 'grapheme', maxLength: 12 });
      // Neither `.` and `..` nor an empty segment is sent as a path by any client.
      const segment = text.filter((value) => !/^\.{0,2}$/.test(value));
      await fc.assert(
        fc.asyncProperty(
          fc.array(segment, { maxLength: 4 }),
          fc.dictionary(
            text.filter((name) => name !== '' && name !== '__proto__'),
            text,
            { maxKeys: 4 },
          ),
          fc.uint8Array({ maxLength: 64 }),
          fc.boolean(),
          async (segments, query, body, presign) => {
            const request = await signed(service, segments, query, Buffer.from(presign ? [] : body), presign);
            expect(() => verify(request, '2026-11-16T00:00:30Z')).not.toThrow();
          },
        ),
        { numRuns: 60 },
      );
    },
  );
});

async function signed(
  service: string,
  segments: string[],
  query: Record<string, string>,
  body: Buffer,
  presign: boolean,
): Promise<SignedRequest> {
  const signer = new SignatureV4({
    service,
    region: 'us-east-1',
    credentials: { accessKeyId: 'ASIAEXAMPLE', secretAccessKey: secret, sessionToken: 'token+/=' },
    sha256: Sha256,
    uriEscapePath: service !== 's3',
  });
  const path = `/${segments.map(escape3986).join('/')}`;
  // As the presigner for S3 does: whoever uses the URL decides on the body.
  const unsignedBody = { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' };
  const headers = { host: '127.0.0.1', ...(presign && service === 's3' && unsignedBody) };
  const request = { protocol: 'http:', hostname: '127.0.0.1', method: 'POST', path, query, body, headers };
  const signingDate = new Date('2026-11-16T00:00:00Z');
  const result = presign
    ? await signer.presign(
        { ...request, body: undefined },
        { signingDate, expiresIn: 60, unsignableHeaders: new Set(Object.keys(unsignedBody)) },
      )
    : await signer.sign(request, { signingDate });
  const pairs = Object.entries(result.query ?? {}).map(
    ([name, value]) => `${escape3986(name)}=${escape3986(String(value))}`,
  );
  return { method: 'POST', path, search: pairs.join('&'), headers: result.headers, body };
}

function escape3986(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function without(headers: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name));
}
