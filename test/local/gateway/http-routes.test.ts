import { describe, expect, test } from 'vitest';
import { httpAnswer, httpEvent } from '../../../lib/local/gateway/http-event.ts';
import { matchRoute } from '../../../lib/local/gateway/http-routes.ts';

const routes = [
  'GET /things',
  'GET /things/{id}',
  'GET /things/special',
  'ANY /things/{id}',
  'GET /files/{path+}',
  'GET /files/{id}/raw',
  '$default',
].map((key) => ({ key, functionArn: 'f', auth: 'NONE' as const }));

describe('the most specific route wins', () => {
  test.each([
    ['GET', '/things', 'GET /things', {}],
    ['GET', '/things/7', 'GET /things/{id}', { id: '7' }],
    ['GET', '/things/special', 'GET /things/special', {}],
    ['DELETE', '/things/7', 'ANY /things/{id}', { id: '7' }],
    ['GET', '/files/a/b/c', 'GET /files/{path+}', { path: 'a/b/c' }],
    ['GET', '/files/a/raw', 'GET /files/{id}/raw', { id: 'a' }],
    ['GET', '/nowhere', '$default', {}],
    ['POST', '/things', '$default', {}],
    ['GET', '/things/', '$default', {}],
  ])('%s %s goes to %s', (method, path, key, parameters) => {
    expect(matchRoute(routes, method, path)).toEqual({ route: expect.objectContaining({ key }), parameters });
  });

  test('without a default route an unknown path matches nothing', () => {
    expect(matchRoute(routes.slice(0, 1), 'GET', '/nowhere')).toBeUndefined();
  });
});

describe('payload 2.0', () => {
  const api = { id: 'a1', protocol: 'HTTP' as const, stage: '$default', routes: [] };
  const request = {
    method: 'POST',
    path: '/things/7',
    search: 'a=1&a=2&b=%20x',
    headers: { 'content-type': 'application/json', cookie: 'x=1; y=2', host: 'h' },
    body: Buffer.from('{"ä":1}'),
    sourceIp: '127.0.0.1',
  };
  const match = {
    route: { key: 'POST /things/{id}', functionArn: 'f', auth: 'NONE' as const },
    parameters: { id: '7' },
  };

  test('an event has query, cookies, parameters and a text body as an HTTP API gives them', () => {
    expect(httpEvent(api, match, request, new Date(0))).toMatchObject({
      version: '2.0',
      routeKey: 'POST /things/{id}',
      rawPath: '/things/7',
      rawQueryString: 'a=1&a=2&b=%20x',
      cookies: ['x=1', 'y=2'],
      headers: { 'content-type': 'application/json', host: 'h' },
      queryStringParameters: { a: '1,2', b: ' x' },
      pathParameters: { id: '7' },
      body: '{"ä":1}',
      isBase64Encoded: false,
      requestContext: {
        http: { method: 'POST', path: '/things/7', sourceIp: '127.0.0.1' },
        stage: '$default',
        time: '01/Jan/1970:00:00:00 +0000',
        timeEpoch: 0,
      },
    });
  });

  test('a parameter may be called like something every object has', () => {
    const event = httpEvent(api, match, { ...request, search: 'constructor=1&__proto__=2' }, new Date(0));
    expect(JSON.stringify(event)).toContain('"queryStringParameters":{"constructor":"1","__proto__":"2"}');
  });

  test.each([
    ['text/html; charset=utf-8', false],
    ['application/json', false],
    ['application/xml', false],
    ['application/javascript', false],
    ['application/problem+json', true],
    ['application/json-seq', true],
    ['application/x-www-form-urlencoded', true],
    ['image/png', true],
    [undefined, true],
  ])('a body of type %s arrives base64-encoded: %s', (type, isBase64Encoded) => {
    const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type };
    const event = httpEvent(api, match, { ...request, headers }, new Date(0));
    const body = request.body.toString(isBase64Encoded ? 'base64' : 'utf8');
    expect(event).toMatchObject({ body, isBase64Encoded });
  });

  const answered = (answer: unknown) => httpAnswer(Buffer.from(JSON.stringify(answer)));

  test.each([
    [{ statusCode: 201, headers: { 'X-A': 1 }, body: 'x', cookies: ['c=1'] }, 201, 'x', { 'x-a': '1' }],
    [{ statusCode: 200, body: 'eA==', isBase64Encoded: true }, 200, 'x', {}],
    [{ statusCode: 204, headers: null, body: null }, 204, '', {}],
    [
      { statusCode: 200, headers: { 'Content-Length': '9', connection: 'close', 'transfer-encoding': 'x' } },
      200,
      '',
      {},
    ],
    [{ hello: 'world' }, 200, '{"hello":"world"}', { 'content-type': 'application/json' }],
    ['text', 200, 'text', { 'content-type': 'application/json' }],
    [null, 200, 'null', { 'content-type': 'application/json' }],
  ])('the answer %j is understood', (answer, status, body, headers) => {
    const read = answered(answer);
    if ('problem' in read) throw new Error(read.problem);
    expect(read.status).toBe(status);
    expect(String(read.body)).toBe(body);
    const { 'content-type': type, ...others } = read.headers ?? {};
    expect('content-type' in headers ? { ...others, 'content-type': type } : others).toEqual(headers);
  });

  test.each([
    [{ statusCode: 'soon' }, 'statusCode "soon"'],
    [{ statusCode: 101 }, 'statusCode 101'],
    [{ statusCode: 200, headers: 'x-a: 1' }, 'headers'],
    [{ statusCode: 200, headers: { 'x-a': { b: 1 } } }, 'headers'],
    [{ statusCode: 200, headers: { 'x a': '1' } }, 'headers'],
    [{ statusCode: 200, headers: { 'x-a': 'one\r\nx-b: two' } }, 'headers'],
    [{ statusCode: 200, cookies: 'c=1' }, 'cookies'],
    [{ statusCode: 200, cookies: ['c=1\n'] }, 'cookies'],
    [{ statusCode: 200, body: { hello: 'world' } }, 'JSON.stringify'],
  ])('the answer %j is none, and it is said why', (answer, problem) => {
    expect(answered(answer)).toEqual({ problem: expect.stringContaining(problem) });
  });
});
