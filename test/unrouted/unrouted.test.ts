import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { beforeAll, describe, expect, test } from 'vitest';
import { PROBLEMS } from '../../functions/problems.ts';
import { routes } from '../../functions/routes.ts';
import { handler } from '../../functions/unrouted/api.ts';

const logged: string[] = [];

beforeAll(() => {
  process.stdout.write = (chunk: string | Uint8Array) => logged.push(String(chunk)) > 0;
});

let address = 0;

async function ask(
  method: string,
  path: string,
  { headers = {}, sourceIp = `192.0.2.${(address += 1)}` }: { headers?: object; sourceIp?: string } = {},
) {
  const answer = await handler({
    routeKey: '$default',
    rawPath: path,
    headers,
    requestContext: { http: { method, path, sourceIp } },
  } as unknown as APIGatewayProxyEventV2);
  const { statusCode = 0, headers: told = {}, body = '' } = answer;
  return { status: statusCode, headers: told, problem: JSON.parse(body || '{}') as { code?: string } };
}

describe('what no route takes', () => {
  test.each([
    ['GET', '/'],
    ['GET', ''],
    ['GET', '//'],
    ['GET', '/api/v1'],
    ['GET', '/api/v1/health/'],
    ['GET', '//api/v1/health'],
    ['GET', '/api//v1/health'],
    ['GET', '/API/v1/health'],
    ['GET', '/api/v1/../v1/health'],
    ['GET', '/api/v1/orgs//members'],
    ['GET', '/api/v1/selftests/one/more'],
    ['POST', '/api/v1/{org_id}'],
    ['DELETE', `/${'x'.repeat(8_000)}`],
    ['GET', '/api/v1/__proto__'],
    ['TRACE', '/nowhere'],
    ['OPTIONS', '/nowhere'],
    // The gateway would have taken it: it and the tables do not agree, and it is not the method that is wrong.
    ['GET', '/api/v1/health'],
  ])('%s %s is unknown', async (method, path) => {
    const { status, headers, problem } = await ask(method, path, { headers: { 'x-request-id': 'look-1' } });
    expect(status).toBe(404);
    expect(headers).toMatchObject({
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': 'look-1',
      'ratelimit-policy': expect.stringContaining('"source"') as string,
    });
    expect(headers).not.toHaveProperty('allow');
    expect(problem).toEqual({
      type: 'urn:gpuaas:problem:route.unknown',
      title: PROBLEMS['route.unknown'].title,
      status: 404,
      detail: 'There is no such route; see /docs.',
      code: 'route.unknown',
      correlation_id: 'look-1',
      retryable: false,
    });
  });

  test.each([
    ['DELETE', '/api/v1/health', 'GET, OPTIONS'],
    ['HEAD', '/docs', 'GET, OPTIONS'],
    ['PUT', '/api/v1/orgs', 'POST, GET, OPTIONS'],
    ['POST', '/api/v1/orgs/some-id', 'GET, PATCH, OPTIONS'],
    ['DELETE', '/api/v1/selftests', 'POST, OPTIONS'],
    ['TRACE', '/docs', 'GET, OPTIONS'],
  ])('%s %s is told what the route takes', async (method, path, allow) => {
    const { status, headers, problem } = await ask(method, path);
    expect([status, problem.code]).toEqual([405, 'route.method_not_allowed']);
    expect(String(headers['allow']).split(', ').sort()).toEqual(allow.split(', ').sort());
  });

  test('is told by OPTIONS what a route takes', async () => {
    const { status, headers } = await ask('OPTIONS', '/api/v1/health');
    expect([status, headers['allow']]).toEqual([204, 'GET, OPTIONS']);
  });

  test.each(['/api/v1/health', '/nowhere'])(
    'lets a browser ask about %s before it sends something',
    async (path) => {
      const headers = { origin: 'https://console.example.com', 'access-control-request-method': 'POST' };
      expect((await ask('OPTIONS', path, { headers })).status).toBe(204);
    },
  );

  test('is refused by address when there is too much of it, and others are still answered', async () => {
    const sourceIp = '198.51.100.7';
    const codes: unknown[] = [];
    for (let times = 0; times < 400; times += 1)
      codes.push((await ask('GET', '/nowhere', { sourceIp })).problem.code);
    expect(new Set(codes)).toEqual(new Set(['route.unknown', 'rate.exceeded']));
    const { status } = await ask('GET', '/nowhere', { sourceIp: '198.51.100.8' });
    expect(status).toBe(404);
  });

  test('is counted, and nothing of its path is logged', async () => {
    logged.length = 0;
    await ask('GET', '/planted-secret');
    expect(logged.join('')).toMatch(/"route":"\$default","status":404.*"domain":"unrouted"/);
    expect(logged.join('')).not.toContain('planted-secret');
  });
});

test('every route is known by its path with any other method', async () => {
  for (const line of Object.keys(routes)) {
    const [method = '', path = ''] = line.split(' ');
    const { status, headers } = await ask('PURGE', path.replaceAll(/\{\w+\}/g, 'a-b_1.2'));
    expect([line, status]).toEqual([line, 405]);
    expect(String(headers['allow']).split(', ')).toContain(method);
  }
});
