import { connect } from 'node:net';
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi, type MockInstance } from 'vitest';
import { ACCOUNT, REGION } from '../../../lib/local/wire/aws.ts';
import { Integration } from '../../../lib/local/gateway/integration.ts';
import { until } from '../../until.ts';
import { GatewayWorld } from './gateway-world.ts';
import { allow } from '../lambda/hosted-world.ts';

interface HttpEvent {
  rawPath: string;
  rawQueryString: string;
  headers: Record<string, string>;
  cookies?: string[];
  body?: string;
  isBase64Encoded: boolean;
  requestContext: { apiId: string; http: { method: string }; authorizer?: { iam: { userArn: string } } };
}

const MEGABYTE = 1024 * 1024;
const ok = { statusCode: 200, body: 'ok' };

let world: GatewayWorld;
let output: MockInstance<typeof process.stdout.write>;

beforeAll(async () => {
  world = await new GatewayWorld().open();
  world.api({ id: 'root', protocol: 'HTTP' });
  output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});

beforeEach(() => {
  output.mockClear();
});

afterAll(async () => {
  output?.mockRestore();
  await world?.close();
});

const said = () => output.mock.calls.join('\n');
const at = (path: string, init?: RequestInit) => fetch(world.endpoint + path, init);
const post = (path: string, body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  at(path, { method: 'POST', body, headers });
const invoke = (route: string) => [
  allow(['execute-api:Invoke'], `arn:aws:execute-api:${REGION}:${ACCOUNT}:root/$default/${route}`),
];

async function expectMessage(response: Response, status: number, message: string): Promise<void> {
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.json()).toEqual({ message });
}

/** What is sent and received when no client library has tidied it. */
function raw(text: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(world.endpoint).port), '127.0.0.1');
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
    socket.write(text);
  });
}

describe('what never reaches a function', () => {
  beforeAll(() => {
    world.route('root', 'POST /limits', { answer: ok });
    world.route('root', 'GET /only-get/{id}', { answer: ok });
  });

  test('a body over 10 MB', async () => {
    const response = await post('/limits', 'x'.repeat(10 * MEGABYTE + 1), { 'content-type': 'text/plain' });
    await expectMessage(response, 413, 'Request Entity Too Large');
  });

  test('a body that fits through the gateway but not into an invocation', async () => {
    const response = await post('/limits', 'x'.repeat(7 * MEGABYTE), { 'content-type': 'text/plain' });
    await expectMessage(response, 413, 'Request Entity Too Large');
  });

  test('headers over 10 kB', async () => {
    const response = await post('/limits', '', { 'x-long': 'x'.repeat(10_240) });
    await expectMessage(response, 431, 'Request Header Fields Too Large');
    expect((await post('/limits', '', { 'x-long': 'x'.repeat(9_000) })).status).toBe(200);
  });

  test('a path over 10 kB, as it counts with the headers', async () => {
    await expectMessage(await at(`/${'x'.repeat(10_240)}`), 431, 'Request Header Fields Too Large');
    await expectMessage(await at(`/${'x'.repeat(9_000)}`), 404, 'Not Found');
  });

  test.each(['/limits/%zz', '/%', '/%c3%28'])('the path %s, which is not percent-encoded', async (path) => {
    expect(await raw(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 400 [^]*\{"message":"Bad Request"\}$/,
    );
  });

  test.each([
    ['GET', '/nowhere'],
    ['DELETE', '/only-get/7'],
    ['HEAD', '/only-get/7'],
    ['GET', '/only-get'],
    ['GET', '/_apis/nothing/limits'],
  ])('%s %s, for which there is no route', async (method, path) => {
    const response = await at(path, { method });
    expect(response.status).toBe(404);
    expect(await response.text()).toBe(method === 'HEAD' ? '' : '{"message":"Not Found"}');
  });
});

describe('what a function does wrong', () => {
  test('one that throws is an Internal Server Error, told in full only here', async () => {
    world.route('root', 'GET /throws', { environment: { FAIL_ON: 'rawPath' } });
    await expectMessage(await at('/throws'), 500, 'Internal Server Error');
    expect(said()).toContain('GET /throws failed: Error: 1 poisoned');
  });

  test('one that is too slow is ended', async () => {
    world.route('root', 'GET /slow', { environment: { HANG: '5000' }, spec: { timeoutSeconds: 1 } });
    await expectMessage(await at('/slow'), 500, 'Internal Server Error');
    expect(said()).toContain('GET /slow failed: Sandbox.Timedout');
  });

  test.each([
    ['status', { statusCode: 'soon' }, 'the invalid statusCode "soon"'],
    ['headers', { statusCode: 200, headers: { 'x-a': 'one\r\nset-cookie: two' } }, 'headers'],
    ['body', { statusCode: 200, body: { not: 'text' } }, 'JSON.stringify'],
  ])('an answer with a wrong %s is none', async (what, answer, reason) => {
    world.route('root', `GET /wrong-${what}`, { answer });
    await expectMessage(await at(`/wrong-${what}`), 500, 'Internal Server Error');
    expect(said()).toContain(`GET /wrong-${what} answered with`);
    expect(said()).toContain(reason);
  });

  test('one that takes longer than the gateway waits is left to itself', async () => {
    const { spec, invocations } = world.route('root', 'GET /late', { environment: { HANG: '1000' } });
    const integration = new Integration(world.hosted, world.iam);
    const outcome = await integration.call({
      route: { key: 'GET /late', functionArn: spec.arn, auth: 'NONE' },
      sourceArn: `arn:aws:execute-api:${REGION}:${ACCOUNT}:root/$default/GET/late`,
      event: {},
      secondsMax: 0.2,
    });
    expect(outcome).toEqual({ kind: 'late' });
    expect(said()).toContain('GET /late took longer than the 0.2 s API Gateway waits');
    await until(() => invocations().length === 1);
  });

  test('one without concurrency left is unavailable', async () => {
    world.route('root', 'GET /throttled', { spec: { reservedConcurrency: 0 } });
    await expectMessage(await at('/throttled'), 503, 'Service Unavailable');
  });

  test('one that gives the gateway no permission is not invoked', async () => {
    const { invocations } = world.route('root', 'GET /unpermitted', { answer: ok, isPermitted: false });
    await expectMessage(await at('/unpermitted'), 500, 'Internal Server Error');
    expect(said()).toContain('is not authorized to perform: lambda:InvokeFunction');
    expect(invocations()).toEqual([]);
  });
});

describe('IAM', () => {
  beforeAll(() => {
    world.route('root', 'GET /signed/{id}', { answer: ok, auth: 'AWS_IAM' });
  });

  test('an unsigned request of a signed route is forbidden', async () => {
    await expectMessage(await at('/signed/7'), 403, 'Forbidden');
  });

  test('a signer with the right to invoke is let in, and named to the function', async () => {
    const { invocations } = world.route('root', 'POST /signed', { answer: ok, auth: 'AWS_IAM' });
    const init = { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } };
    const response = await world.signedFetch('/signed?b=%20x&a=1', invoke('POST/signed'), init);
    expect([response.status, await response.text()]).toEqual([200, 'ok']);
    const [{ event } = { event: undefined }] = invocations<HttpEvent>();
    expect(event?.requestContext.authorizer?.iam.userArn).toMatch(/assumed-role\/caller-.*\/caller$/);
    expect(event).toMatchObject({ rawPath: '/signed', rawQueryString: 'b=%20x&a=1', body: '{"a":1}' });
  });

  test.each([
    ['no right at all', []],
    ['the right to another route', invoke('GET/signed/8')],
    ['the right to another method', invoke('POST/signed/7')],
  ])('a signer with %s is denied', async (_what, allowed) => {
    const response = await world.signedFetch('/signed/7', allowed);
    expect(response.status).toBe(403);
    expect(((await response.json()) as { message: string }).message).toContain(
      `is not authorized to perform: execute-api:Invoke on resource: arn:aws:execute-api:${REGION}:${ACCOUNT}:root/$default/GET/signed/7`,
    );
  });

  test('an open route takes a signature for nothing', async () => {
    const { invocations } = world.route('root', 'GET /open', { answer: ok });
    expect((await world.signedFetch('/open', [])).status).toBe(200);
    expect(invocations<HttpEvent>()[0]?.event.requestContext.authorizer).toBeUndefined();
  });

  test.each([
    ['/nowhere', 404],
    ['/signed/%zz', 400],
  ])('a signature does not help %s', async (path, status) => {
    expect((await world.signedFetch(path, [])).status).toBe(status);
  });
});

describe('cookies', () => {
  test('arrive apart from the other headers, and each leaves in a header of its own', async () => {
    const answer = { ...ok, cookies: ['a=1; Path=/', 'b=2; Expires=Wed, 21 Oct 2026 07:28:00 GMT'] };
    const { invocations } = world.route('root', 'GET /cookies', { answer });
    const response = await at('/cookies', { headers: { cookie: 'x=1; y=2' } });
    expect(response.headers.getSetCookie()).toEqual(answer.cookies);
    const event = invocations<HttpEvent>()[0]?.event;
    expect(event?.cookies).toEqual(['x=1', 'y=2']);
    expect(event?.headers).not.toHaveProperty('cookie');
  });

  test('are not joined for a signed request either', async () => {
    world.route('root', 'GET /signed-cookies', {
      answer: { ...ok, cookies: ['a=1', 'b=2'] },
      auth: 'AWS_IAM',
    });
    const response = await world.signedFetch('/signed-cookies', invoke('GET/signed-cookies'));
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  });
});

describe('bodies', () => {
  const bytes = new Uint8Array([0, 255, 128, 10]);

  test('bytes go in and come out base64-encoded', async () => {
    const body = Buffer.from(bytes).toString('base64');
    const answer = { statusCode: 200, headers: { 'Content-Type': 'image/png' }, body, isBase64Encoded: true };
    const { invocations } = world.route('root', 'POST /bytes', { answer });
    const response = await post('/bytes', bytes, { 'content-type': 'application/octet-stream' });
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get('content-type')).toBe('image/png');
    expect(response.headers.get('content-length')).toBe('4');
    expect(invocations<HttpEvent>()[0]?.event).toMatchObject({ body, isBase64Encoded: true });
  });

  test('text stays text', async () => {
    const { invocations } = world.route('root', 'POST /text', { answer: { statusCode: 200, body: 'grün' } });
    const response = await post('/text', '{"grün":true}', { 'content-type': 'application/json' });
    expect(await response.text()).toBe('grün');
    expect(invocations<HttpEvent>()[0]?.event).toMatchObject({
      body: '{"grün":true}',
      isBase64Encoded: false,
    });
  });

  test('an answer without a status is the body itself', async () => {
    world.route('root', 'GET /plain', { answer: { hello: 'world' } });
    const response = await at('/plain');
    expect([response.status, await response.json()]).toEqual([200, { hello: 'world' }]);
  });

  test('a HEAD and a 204 have none', async () => {
    world.route('root', 'ANY /head', { answer: { ...ok, headers: { etag: '"1"' } } });
    world.route('root', 'DELETE /empty', { answer: { statusCode: 204, body: 'ignored' } });
    const head = await raw('HEAD /head HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*etag: "1"\r\n[^]*\r\n\r\n$/);
    const empty = await raw('DELETE /empty HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    expect(empty).toMatch(/^HTTP\/1\.1 204 [^]*\r\n\r\n$/);
  });
});

describe('an API with a CORS configuration', () => {
  const cors = {
    allowOrigins: ['https://console.example.com', 'http://*'],
    allowMethods: ['GET', 'PUT'],
    allowHeaders: ['authorization'],
    exposeHeaders: ['etag'],
    allowCredentials: true,
    maxAgeSeconds: 300,
  };
  const preflight = (origin: string) =>
    at('/_apis/shared/things/7', {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'PUT' },
    });
  const corsHeaders = (response: Response) =>
    Object.fromEntries([...response.headers].filter(([name]) => /^(access-control-|vary)/.test(name)));

  beforeAll(() => {
    world.api({ id: 'shared', protocol: 'HTTP', cors });
    const headers = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Max-Age': '1', vary: 'accept' };
    world.route('shared', 'GET /things/{id}', { answer: { ...ok, headers } });
  });

  test('answers a preflight by itself', async () => {
    const response = await preflight('https://console.example.com');
    expect(response.status).toBe(204);
    expect(corsHeaders(response)).toEqual({
      'access-control-allow-origin': 'https://console.example.com',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,PUT',
      'access-control-allow-headers': 'authorization',
      'access-control-max-age': '300',
      vary: 'origin',
    });
    expect(corsHeaders(await preflight('http://127.0.0.1:5173'))).toMatchObject({
      'access-control-allow-origin': 'http://127.0.0.1:5173',
    });
  });

  test('tells an origin it does not know nothing', async () => {
    const response = await preflight('https://elsewhere.example.com');
    expect([response.status, corsHeaders(response)]).toEqual([204, {}]);
  });

  test('lets a preflight through to a route that takes it, and tells what it allows besides', async () => {
    world.api({ id: 'caught', protocol: 'HTTP', cors });
    world.route('caught', 'GET /things', { answer: ok });
    const headers = { allow: 'GET', 'access-control-allow-methods': 'PURGE' };
    const { invocations } = world.route('caught', '$default', { answer: { statusCode: 204, headers } });
    const ask = (origin: string) =>
      at('/_apis/caught/things', {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'PUT' },
      });
    const response = await ask('https://console.example.com');
    expect([response.status, response.headers.get('allow')]).toEqual([204, 'GET']);
    expect(corsHeaders(response)).toEqual({
      'access-control-allow-origin': 'https://console.example.com',
      'access-control-allow-credentials': 'true',
      'access-control-allow-methods': 'GET,PUT',
      'access-control-allow-headers': 'authorization',
      'access-control-max-age': '300',
      vary: 'origin',
    });
    expect(corsHeaders(await ask('https://elsewhere.example.com'))).toEqual({});
    expect(invocations<HttpEvent>().map(({ event }) => event.requestContext.http.method)).toEqual([
      'OPTIONS',
      'OPTIONS',
    ]);
  });

  test('lets through an OPTIONS that is no preflight', async () => {
    const response = await at('/_apis/shared/things/7', { method: 'OPTIONS' });
    expect(response.status).toBe(404);
  });

  test('puts its own headers in place of the function’s', async () => {
    const origin = 'https://console.example.com';
    const simple = await at('/_apis/shared/things/7', { headers: { origin } });
    expect(await simple.text()).toBe('ok');
    expect(corsHeaders(simple)).toEqual({
      'access-control-allow-origin': origin,
      'access-control-allow-credentials': 'true',
      'access-control-expose-headers': 'etag',
      vary: 'accept, origin',
    });
    expect(corsHeaders(await at('/_apis/shared/things/7'))).toEqual({ vary: 'accept' });
  });

  test('lets a browser see its refusals', async () => {
    const response = await at('/_apis/shared/nowhere', {
      headers: { origin: 'https://console.example.com' },
    });
    expect(response.status).toBe(404);
    expect(response.headers.get('access-control-allow-origin')).toBe('https://console.example.com');
  });

  test('without one, an API leaves CORS to its functions', async () => {
    world.route('root', 'ANY /own-cors', {
      answer: { ...ok, headers: { 'access-control-allow-origin': '*' } },
    });
    const response = await at('/own-cors', {
      method: 'OPTIONS',
      headers: { origin: 'https://x.example.com', 'access-control-request-method': 'GET' },
    });
    expect([response.status, corsHeaders(response)]).toEqual([200, { 'access-control-allow-origin': '*' }]);
  });
});

describe('a second API', () => {
  test('stands below its id and sees paths from there', async () => {
    world.api({ id: 'second', protocol: 'HTTP' });
    world.route('root', 'GET /who', { answer: 'root' });
    const { invocations } = world.route('second', 'GET /who', { answer: 'second' });
    const home = world.route('second', 'GET /', { answer: 'home' });
    expect(await (await at('/who')).text()).toBe('root');
    expect(await (await at('/_apis/second/who')).text()).toBe('second');
    expect(await (await at('/_apis/root/who')).text()).toBe('root');
    expect(invocations<HttpEvent>()[0]?.event).toMatchObject({
      rawPath: '/who',
      requestContext: { apiId: 'second' },
    });
    expect(await (await at('/_apis/second')).text()).toBe('home');
    expect(home.invocations<HttpEvent>()[0]?.event.rawPath).toBe('/');
  });
});

describe('whatever a client does', () => {
  test('one that leaves in the middle of its body harms nobody', async () => {
    const { invocations } = world.route('root', 'POST /abandoned', { answer: ok });
    const socket = connect(Number(new URL(world.endpoint).port), '127.0.0.1');
    socket.write('POST /abandoned HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
    await new Promise((resolve) => socket.write('', resolve));
    socket.resetAndDestroy();
    expect((await post('/abandoned', 'whole')).status).toBe(200);
    expect(invocations<HttpEvent>()).toHaveLength(1);
  });

  test('one that leaves before the answer harms nobody', async () => {
    const { invocations } = world.route('root', 'GET /impatient', {
      environment: { HANG: '200' },
      answer: ok,
    });
    const abort = new AbortController();
    const left = at('/impatient', { signal: abort.signal }).catch((error: Error) => error.name);
    await until(() => invocations().length === 1);
    abort.abort();
    expect(await left).toBe('AbortError');
    expect((await at('/impatient')).status).toBe(200);
  });

  test('the gateway answers, and goes on answering', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '',
        '%',
        '%2f',
        '..',
        '_apis',
        'root',
        'things',
        '*',
        '{id}',
        'constructor',
        '__proto__',
      ),
      fc.string({ maxLength: 6 }).map((text) => text.replace(/[^\x21-\x7e]/g, '')),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('GET', 'HEAD', 'OPTIONS', 'DELETE'),
        fc.array(piece, { maxLength: 4 }),
        piece,
        async (method, path, query) => {
          const head = `${method} /${path.join('/')}?${query} HTTP/1.1\r\nhost: x\r\n${query || 'a'}: 1\r\n`;
          const answer = await raw(`${head}connection: close\r\n\r\n`);
          expect(answer).toMatch(/^HTTP\/1\.1 (200|204|4\d\d)/);
        },
      ),
      { numRuns: 100 },
    );
    expect(said()).not.toContain('front door');
  });
});
