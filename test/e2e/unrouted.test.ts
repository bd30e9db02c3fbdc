import { connect } from 'node:net';
import { describe, expect, inject, test } from 'vitest';
import { signedFetch } from './signed-fetch.ts';

const platform = inject('platform');
const { api_url, ws_url } = platform;

const KB = 1024;

/** As no client library would send it. */
function send(method: string, path: string, headers = '', body: string | Buffer = ''): Promise<string> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(api_url);
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString('utf8')));
    socket.write(
      `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-request-id: look-1\r\nconnection: close\r\n` +
        `content-length: ${Buffer.byteLength(body)}\r\n${headers}\r\n`,
    );
    socket.write(body);
  });
}

describe('an answer is a problem with the id that was sent:', () => {
  test.each([
    ['GET', '/', 404, 'route.unknown'],
    ['GET', '//', 404, 'route.unknown'],
    ['GET', '//api/v1/health', 404, 'route.unknown'],
    ['GET', '/api/v1/health/', 404, 'route.unknown'],
    ['GET', '/api/v1/nothing', 404, 'route.unknown'],
    ['GET', '/api/v1/../v1/health', 404, 'route.unknown'],
    ['GET', '/api/v1/%2e%2e/v1/health', 404, 'route.unknown'],
    ['GET', '/api/v1/orgs/a%2Fb', 404, 'route.unknown'],
    ['GET', '/api/v1/orgs/%00/%0d%0a', 404, 'route.unknown'],
    ['GET', '/docs?x=%zz', 400, 'request.invalid'],
    ['GET', '/nowhere?x=%zz', 404, 'route.unknown'],
    ['GET', '/%F0%9F%90%98', 404, 'route.unknown'],
    ['POST', '/api/v1/selftests/some/thing', 404, 'route.unknown'],
    ['DELETE', '/api/v1/selftests', 405, 'route.method_not_allowed'],
    ['TRACE', '/api/v1/me', 405, 'route.method_not_allowed'],
    ['QUERY', '/api/v1/me', 405, 'route.method_not_allowed'],
    ['OPTIONS', '/nowhere', 404, 'route.unknown'],
    ['GET', `/${'x'.repeat(9 * KB)}`, 404, 'route.unknown'],
    ['GET', '/live', 404, 'route.unknown'],
  ])('%s %s', async (method, path, status, code) => {
    const answer = await send(method, path);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain('content-type: application/problem+json');
    expect(answer).toContain('x-content-type-options: nosniff');
    expect(answer).toContain('x-request-id: look-1');
    expect(answer).toContain(`"code":"${code}","correlation_id":"look-1"`);
  });

  test('a HEAD has the headers of one', async () => {
    const answer = await send('HEAD', '/docs');
    expect(answer).toMatch(/^HTTP\/1\.1 405 [^]*\r\nallow: GET, OPTIONS\r\n[^]*\r\n\r\n$/);
  });

  test('a signature makes no route known', async () => {
    const response = await signedFetch(platform, 'GET', '/api/v1/selftests/some/thing');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'application/problem+json',
    ]);
  });

  const json = 'content-type: application/json\r\n';
  test.each([
    ['is over 256 KiB', json, `"${'x'.repeat(256 * KB)}"`, 413, 'request.too_large'],
    ['is almost what an invocation takes', json, 'x'.repeat(5 * KB * KB), 413, 'request.too_large'],
    [
      'is not UTF-8',
      'content-type: application/vnd.x+json\r\n',
      Buffer.from([0x22, 0xc3, 0x28, 0x22]),
      415,
      'request.encoding',
    ],
    [
      'is compressed',
      `${json}content-encoding: gzip\r\n`,
      Buffer.from([0x1f, 0x8b, 8, 0]),
      415,
      'request.encoding',
    ],
    ['is no JSON', json, '{', 400, 'request.malformed'],
    ['is no object', json, '[]', 400, 'request.invalid'],
  ])('a body that %s', async (_, headers, body, status, code) => {
    const answer = await send('POST', '/api/v1/auth/service-account/token', headers, body);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(`"code":"${code}","correlation_id":"look-1"`);
  });

  test('an unknown path with a body that no route would take', async () => {
    const answer = await send('POST', '/nowhere', json, 'x'.repeat(5 * KB * KB));
    expect(answer).toContain('"code":"route.unknown","correlation_id":"look-1"');
  });
});

describe('the gateway still answers by itself, and not with a failure:', () => {
  test.each([
    ['GET', '/api/v1/%zz', '', 400, 'Bad Request'],
    ['POST', '/nowhere', 'x'.repeat(7 * KB * KB), 413, 'Request Entity Too Large'],
    ['POST', '/nowhere', 'x'.repeat(11 * KB * KB), 413, 'Request Entity Too Large'],
    ['GET', `/${'x'.repeat(11 * KB)}`, '', 431, 'Request Header Fields Too Large'],
    ['POST', '/api/v1/selftests', '', 403, 'Forbidden'],
    ['GET', '/_apis/nothing/at-all', '', 404, 'Not Found'],
    ['GET', new URL(ws_url).pathname, '', 404, 'Not Found'],
  ])('%s %s', async (method, path, body, status, message) => {
    const answer = await send(method, path, 'content-type: text/plain\r\n', body);
    expect(answer).toContain(`HTTP/1.1 ${status} `);
    expect(answer).toContain(`{"message":"${message}"}`);
  });
});

test('a page of the console may read that there is no route', async () => {
  const headers = { origin: 'http://127.0.0.1:5173' };
  const preflight = await fetch(`${api_url}/nowhere`, {
    method: 'OPTIONS',
    headers: { ...headers, 'access-control-request-method': 'PATCH' },
  });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PATCH');
  const response = await fetch(`${api_url}/nowhere`, { method: 'PATCH', headers });
  expect(response.headers.get('access-control-allow-origin')).toBe(headers.origin);
  expect(await response.json()).toMatchObject({ code: 'route.unknown' });
});
