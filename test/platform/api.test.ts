import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { beforeAll, describe, expect, test } from 'vitest';
import { api } from '../../functions/platform/http/api.ts';
import type { Endpoint } from '../../functions/platform/http/endpoint.ts';
import { refuse } from '../../functions/selftest/problems.ts';
import { publicApi } from '../../functions/platform/http/public-api.ts';
import { selftestRoutes } from '../../functions/selftest/routes.ts';

const endpoint = (run: Endpoint['run']): Endpoint => ({ kind: 'query', spec: { summary: '' }, run });

const served = api('selftest', selftestRoutes, {
  getHealth: endpoint(async () => ({ status: 200, headers: { etag: '"7"' }, body: { ok: true } })),
  requestSelftest: endpoint(async () => {
    throw Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
  }),
  getSelftest: endpoint(async (ctx, { params }) => {
    if (params.selftest_id === 'me') return { status: 200, headers: {}, body: ctx.actor };
    throw params.selftest_id === 'gone' ? refuse('selftest.unknown') : new Error('a bug');
  }),
});

const ARN = 'arn:aws:iam::123456789012:user/someone';
const SIGNED = { http: { sourceIp: '192.0.2.1' }, authorizer: { iam: { userArn: ARN } } };

async function ask(
  routeKey: string,
  headers: Record<string, string> = {},
  pathParameters = {},
  requestContext: unknown = SIGNED,
  { sent, serving = served }: { sent?: string | Buffer; serving?: typeof served } = {},
) {
  const isBase64Encoded = sent instanceof Buffer;
  const body = isBase64Encoded ? sent.toString('base64') : sent;
  const event = { routeKey, headers, pathParameters, requestContext, body, isBase64Encoded };
  const answer = await serving(event as unknown as APIGatewayProxyEventV2);
  const { statusCode, headers: answered, body: told } = answer;
  return { statusCode, headers: answered ?? {}, body: JSON.parse(told ?? '') as Record<string, unknown> };
}

const logged: string[] = [];

beforeAll(() => {
  // The failures below are logged, as they should be; this run need not show them.
  process.stdout.write = (chunk: string | Uint8Array) => logged.push(String(chunk)) > 0;
});

describe('the function of a domain', () => {
  test('answers a route with the handler the route table names', async () => {
    expect(await ask('GET /api/v1/health')).toMatchObject({
      statusCode: 200,
      headers: { 'content-type': 'application/json', 'cache-control': 'no-store', etag: '"7"' },
      body: { ok: true },
    });
  });

  test('echoes the request id it was sent', async () => {
    const { headers } = await ask('GET /api/v1/health', { 'x-request-id': 'look-1' });
    expect(headers['x-request-id']).toBe('look-1');
  });

  test.each(['', 'has space', 'x'.repeat(129), 'a\nb'])('makes an id of its own for %j', async (sent) => {
    const { headers } = await ask('GET /api/v1/health', { 'x-request-id': sent });
    expect(headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', '4bf92f3577b34da6a3ce929d0e0e4736'],
    ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', expect.not.stringMatching(/^0+$/) as string],
    ['nonsense', expect.stringMatching(/^[0-9a-f]{32}$/) as string],
  ])(
    'logs under the trace of the caller, if %s is one, and under one of its own if not',
    async (traceparent, traceId) => {
      logged.length = 0;
      await ask('GET /api/v1/health', { traceparent });
      const lines = logged.map((line) => JSON.parse(line) as { trace_id?: string });
      expect(lines.map(({ trace_id }) => trace_id)).toEqual([traceId]);
    },
  );

  test('knows who signed a request for the platform team, and lets nobody else in', async () => {
    const route = 'GET /api/v1/selftests/{selftest_id}';
    expect(await ask(route, {}, { selftest_id: 'me' })).toMatchObject({
      statusCode: 200,
      body: { kind: 'platform_team', id: ARN },
    });
    const unsigned = { http: { sourceIp: '192.0.2.1' } };
    expect(await ask(route, {}, { selftest_id: 'me' }, unsigned)).toMatchObject({
      statusCode: 401,
      headers: { 'www-authenticate': expect.stringContaining('Bearer') as string },
      body: { code: 'auth.missing' },
    });
  });

  test('asks for a token where the route table names a permission', async () => {
    expect(await ask('GET /api/v1/admin/selftests/{selftest_id}', {}, { selftest_id: 'me' })).toMatchObject({
      statusCode: 401,
      body: { code: 'auth.missing' },
    });
  });

  test.each([
    ['GET /api/v1/nothing', {}, 404, 'route.unknown'],
    ['GET /api/v1/selftests/{selftest_id}', { selftest_id: 'gone' }, 404, 'selftest.unknown'],
    ['GET /api/v1/selftests/{selftest_id}', { selftest_id: 'other' }, 500, 'internal'],
    ['POST /api/v1/selftests', {}, 503, 'unavailable'],
  ])('answers %s %j as a problem', async (route, params, status, code) => {
    const answer = await ask(route, { 'x-request-id': 'look-1' }, params);
    expect(answer).toMatchObject({
      statusCode: status,
      headers: { 'content-type': 'application/problem+json', 'x-request-id': 'look-1' },
      body: { status, code, correlation_id: 'look-1' },
    });
    expect(answer.headers['retry-after']).toBe(status === 503 ? '1' : undefined);
  });

  test.each([
    ['a body over 256 KiB', {}, 'x'.repeat(256 * 1024 + 1), 413, 'request.too_large'],
    ['a body of 256 KiB as any other', {}, 'x'.repeat(256 * 1024), 503, 'unavailable'],
    ['bytes over 256 KiB', {}, Buffer.alloc(256 * 1024 + 1), 413, 'request.too_large'],
    ['bytes that are UTF-8 as any other', {}, Buffer.from('"grün"'), 503, 'unavailable'],
    ['bytes that are not UTF-8', {}, Buffer.from([0x22, 0xc3, 0x28, 0x22]), 415, 'request.encoding'],
    ['a compressed body', { 'content-encoding': 'gzip' }, '{}', 415, 'request.encoding'],
    ['a body that says it is not', { 'content-encoding': 'Identity' }, '{}', 503, 'unavailable'],
    ['a weak entity tag', { 'if-match': 'W/"3"' }, '{}', 412, 'precondition.failed'],
    ['a version without quotes', { 'if-match': '3' }, '{}', 412, 'precondition.failed'],
    ['two versions', { 'if-match': '"3", "4"' }, '{}', 412, 'precondition.failed'],
    ['a key with a blank', { 'x-idempotency-key': 'a b' }, '{}', 400, 'idempotency.key_invalid'],
    [
      'a key of 256 characters',
      { 'x-idempotency-key': 'x'.repeat(256) },
      '{}',
      400,
      'idempotency.key_invalid',
    ],
  ])('takes %s for what it is', async (_, headers, sent, statusCode, code) => {
    const answer = await ask('POST /api/v1/selftests', headers, {}, SIGNED, {
      sent,
    });
    expect(answer).toMatchObject({ statusCode, body: { code } });
  });
});

describe('the function of a domain whose every route is public', () => {
  const table = { 'POST /open': ['open', 'public'], 'POST /closed': ['closed', 'project.write'] } as const;
  const done = endpoint(async () => ({ status: 200, headers: {}, body: {} }));
  const serving = publicApi('docs', table, { open: done, closed: done });
  const from = (sourceIp: string) => ({ http: { sourceIp } });

  test('counts who asks by their address', async () => {
    const { statusCode, headers } = await ask('POST /open', {}, {}, from('198.51.100.7'), { serving });
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'ratelimit-policy': '"token";q=60;w=60',
      ratelimit: expect.stringContaining('r=59') as string,
    });
  });

  test('keeps a route closed that asks for a permission', async () => {
    expect(await ask('POST /closed', {}, {}, from('198.51.100.8'), { serving })).toMatchObject({
      statusCode: 401,
      body: { code: 'auth.missing' },
    });
  });
});
