import { createHash } from 'node:crypto';
import { createServer, request as httpRequest, type RequestListener, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { bounded } from '../../../lib/local/oidc/bounds.ts';
import { authorization, openOidc, VIEWER, type Oidc } from './oidc-world.ts';

let oidc: Oidc;

beforeAll(async () => {
  oidc = await openOidc();
});

afterAll(async () => {
  await oidc?.close();
});

/** Opens the login page; more can be sent to it. */
async function openLogin() {
  const browser = oidc.newBrowser();
  const { address, exit } = authorization(oidc);
  const { url } = (await browser.visit(address, exit)) as { url: string };
  return {
    url,
    send: async (init?: RequestInit) => {
      const response = await browser.fetch(url, init);
      return { response, html: await response.text() };
    },
  };
}

describe('the login page', () => {
  test('names who asks and everybody there is, with nothing in it but text', async () => {
    const { response, html } = await (await openLogin()).send();
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(html).toContain('<h1>Sign in to GPUaaS command line</h1>');
    expect(html).toContain('development provider');
    expect(html).toContain('<button name="email" value="owner@example.com">Olivia Owner');
    expect(html).toContain('Vera &quot;&lt;b&gt;V&lt;/b&gt;&quot; &amp; &apos;co&apos;');
    expect(html).not.toContain('<b>');
    expect(html).toMatch(/<html lang="en">[^]*<title>[^]*<main>/);
    expect(html).not.toMatch(/<script|<link|<img|@import|url\(|src=|https?:/);
  });

  test('lets a browser load nothing, run nothing, and be framed by nobody', async () => {
    const { response, html } = await (await openLogin()).send();
    const [, style = ''] = /<style>([^]*)<\/style>/.exec(html) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    const policy = response.headers.get('content-security-policy')?.split('; ');
    expect(policy).toEqual([
      "default-src 'none'",
      `style-src 'sha256-${hash}'`,
      'script-src',
      "form-action 'self' http://127.0.0.1:*",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('asks again when nobody has that address, and does not repeat markup', async () => {
    const { send } = await openLogin();
    const body = new URLSearchParams({ email: '<script>alert(1)</script>' });
    const { response, html } = await send({ method: 'POST', body });
    expect(response.status).toBe(422);
    expect(html).toContain('There is no person with the e-mail address “&lt;script&gt;');
    expect(html).not.toContain('<script');
    expect(html).toContain(VIEWER);
  });

  test.each([
    ['a form of more than 4 kB', { method: 'POST', body: 'email='.padEnd(5000, 'x') }, 413],
    ['another method', { method: 'DELETE' }, 405],
  ])('refuses %s', async (_what, init, status) => {
    expect((await (await openLogin()).send(init)).response.status).toBe(status);
  });

  test('says that it is over when the browser does not know it', async () => {
    const { url } = await openLogin();
    for (const method of ['GET', 'POST']) {
      const response = await fetch(url, { method });
      expect(response.status).toBe(400);
      expect(await response.text()).toContain('This sign-in has expired');
    }
  });
});

test('the error page escapes what it repeats and shows browsers a page, programs JSON', async () => {
  const { address } = authorization(oidc, { client_id: '<script>alert(1)</script>' });
  const page = await fetch(address, { headers: { accept: 'text/html' } });
  expect(page.status).toBe(400);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const html = await page.text();
  expect(html).toContain('The sign-in failed');
  expect(html).not.toContain('<script');
  const answer = await fetch(`${oidc.issuer}/token`, { method: 'POST' });
  expect(await answer.json()).toHaveProperty('error');
});

describe('the provider', () => {
  test('stands below its path and nowhere else', async () => {
    for (const path of ['/_oidc', '/_oidc/', '/_oidc?x', '/_oidc/auth?x'])
      expect(oidc.serves(path)).toBe(true);
    for (const path of ['/', '/_oidcx', '/x/_oidc', '/api/v1/_oidc']) expect(oidc.serves(path)).toBe(false);
    expect((await fetch(oidc.issuer)).status).toBe(404);
    expect((await fetch(`${oidc.issuer}/nothing`)).status).toBe(404);
  });

  test('answers to its own host name only', async () => {
    const ask = (method: string, host: string) =>
      new Promise<{ status: number | undefined; location: string | undefined }>((resolve, reject) => {
        const path = '/_oidc/.well-known/openid-configuration?x=1';
        const sent = httpRequest({ port: oidc.port, host: '127.0.0.1', method, path, headers: { host } });
        sent.once('error', reject).end();
        sent.once('response', (response) => {
          response.resume();
          resolve({ status: response.statusCode, location: response.headers.location });
        });
      });
    expect(await ask('GET', `127.0.0.1:${oidc.port}`)).toMatchObject({ status: 200 });
    expect(await ask('GET', `localhost:${oidc.port}`)).toEqual({
      status: 307,
      location: `${oidc.issuer}/.well-known/openid-configuration?x=1`,
    });
    expect(await ask('POST', 'rebound.example')).toMatchObject({ status: 421, location: undefined });
  });
});

describe('a bound', () => {
  async function serveBounded(
    listener: RequestListener,
    bounds: Parameters<typeof bounded>[1],
  ): Promise<number> {
    const server: Server = createServer(bounded(listener, bounds));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
  }

  test('turns away what comes too fast, and says when to come back', async () => {
    const bounds = { burst: 3, perSecond: 0.001, answerSecondsMax: 10 };
    const port = await serveBounded((_request, response) => response.end('done'), bounds);
    const answers = await Promise.all(Array.from({ length: 8 }, () => fetch(`http://127.0.0.1:${port}`)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
  });

  test('lets more in as time goes by', async () => {
    const bounds = { burst: 1, perSecond: 200, answerSecondsMax: 10 };
    const port = await serveBounded((_request, response) => response.end('done'), bounds);
    const taken = async () => (await fetch(`http://127.0.0.1:${port}`)).status === 200;
    expect(await taken()).toBe(true);
    await expect.poll(taken).toBe(true);
  });

  test('ends a request that never gets to its end', async () => {
    const bounds = { burst: 10, perSecond: 10, answerSecondsMax: 0.05 };
    const port = await serveBounded(
      (request, response) => request.on('end', () => response.end('done')),
      bounds,
    );
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.once('error', reject).once('close', () => resolve(text));
      socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf');
    });
    expect(answer).toMatch(/^HTTP\/1.1 408 /);
  });
});
