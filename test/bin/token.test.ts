import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { CookieJar } from '../../bin/token/cookie-jar.ts';
import { obtainToken } from '../../bin/token/obtain-token.ts';
import { parseOptions } from '../../bin/token/options.ts';
import { API_AUDIENCE } from '../../lib/local/oidc/clients.ts';
import { subjectOf } from '../../lib/local/oidc/people.ts';
import { openOidc, OWNER, refresh, VIEWER, type Oidc } from '../local/oidc/oidc-world.ts';

const COMMAND = join(import.meta.dirname, '..', '..', 'bin', 'token.ts');

let oidc: Oidc;

beforeAll(async () => {
  oidc = await openOidc();
  writeReady(oidc.issuer);
});

afterAll(async () => {
  await oidc?.close();
});

function writeReady(oidc_issuer: string, file = join(oidc.dataDir, 'ready.json')): string {
  writeFileSync(file, JSON.stringify({ pid: 1, oidc_issuer }));
  return file;
}

function runToken(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    const argv = ['--disable-warning=ExperimentalWarning', COMMAND, ...args];
    execFile(process.execPath, argv, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

const subjectIn = async (token: string): Promise<string | undefined> => {
  const keys = createRemoteJWKSet(new URL(`${oidc.issuer}/jwks`));
  const { payload } = await jwtVerify(token, keys, { audience: API_AUDIENCE, typ: 'at+jwt' });
  return payload.sub;
};

describe('the command', () => {
  test("prints a person's access token and nothing else", async () => {
    const { code, stdout, stderr } = await runToken(OWNER, '--data', oidc.dataDir);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(await subjectIn(stdout.trim())).toBe(subjectOf(OWNER));
  });

  test('finds the platform by its ready file', async () => {
    const elsewhere = join(oidc.dataDir, 'elsewhere');
    mkdirSync(elsewhere);
    const file = writeReady(oidc.issuer, join(elsewhere, 'r.json'));
    const { stdout } = await runToken(VIEWER, '--ready-file', file);
    expect(await subjectIn(stdout.trim())).toBe(subjectOf(VIEWER));
  });

  test('says who there is when it does not know somebody', async () => {
    const { code, stdout, stderr } = await runToken('nobody@example.com', '--data', oidc.dataDir);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('nobody@example.com');
    expect(stderr).toContain(OWNER);
    expect(stderr).toContain(VIEWER);
    expect(stderr).not.toContain('    at ');
  });

  test('says how to start the platform when it does not run', async () => {
    const { code, stdout, stderr } = await runToken(OWNER, '--data', join(oidc.dataDir, 'none'));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/not running.*npm start/);
  });

  test('says so when the platform was there and is gone', async () => {
    const file = writeReady('http://127.0.0.1:1/_oidc', join(oidc.dataDir, 'gone.json'));
    const { code, stderr } = await runToken(OWNER, '--ready-file', file);
    expect(code).toBe(1);
    expect(stderr).toMatch(/Nothing answers at http:\/\/127\.0\.0\.1:1 .*npm start/);
  });

  test('explains itself, and ends with 2 when it is not understood', async () => {
    expect(await runToken('--help')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('--ready-file'),
    });
    expect(await runToken()).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--help'),
    });
  });
});

describe('the command line', () => {
  test('looks in .data, or where it is told', () => {
    expect(parseOptions([OWNER])).toEqual({ email: OWNER, readyFile: '.data/ready.json' });
    expect(parseOptions([OWNER, '--data', '/x'])).toEqual({ email: OWNER, readyFile: '/x/ready.json' });
    expect(parseOptions(['--ready-file', 'r', OWNER])).toEqual({ email: OWNER, readyFile: 'r' });
  });

  test.each([[[]], [['--bogus', OWNER]], [[OWNER, VIEWER]], [[OWNER, '--data']]])(
    'tells what it does not understand: %j',
    (args: string[]) => {
      expect(parseOptions(args)).toHaveProperty('error');
    },
  );
});

describe('obtainToken', () => {
  test('also gives what is needed to stay signed in', async () => {
    const tokens = await obtainToken({ issuer: oidc.issuer, email: OWNER });
    expect(tokens.expires_in).toBe(900);
    expect(await refresh(oidc, tokens.refresh_token ?? '')).toMatchObject({ status: 200 });
  });

  test('signs several people in at once without mixing them up', async () => {
    const emails = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? OWNER : VIEWER));
    const tokens = await Promise.all(emails.map((email) => obtainToken({ issuer: oidc.issuer, email })));
    const subjects = await Promise.all(tokens.map(({ access_token }) => subjectIn(access_token)));
    expect(subjects).toEqual(emails.map(subjectOf));
  });

  test.each<[string, (url: string) => string | { location: string }, RegExp]>([
    ['is something else', () => 'hello', /is not the provider/],
    [
      'leads elsewhere',
      () =>
        JSON.stringify({
          authorization_endpoint: 'http://evil.example/',
          token_endpoint: 'http://evil.example/',
        }),
      /which is not allowed/,
    ],
    [
      'redirects without end',
      (url) =>
        url.endsWith('openid-configuration')
          ? JSON.stringify({ authorization_endpoint: 'HERE/auth', token_endpoint: 'HERE/token' })
          : { location: '/again' },
      /redirects too often/,
    ],
  ])('gives up when what answers %s', async (_what, answer, reason) => {
    const server = createServer((request, response) => {
      const content = answer(request.url ?? '');
      if (typeof content === 'string') response.end(content.replaceAll('HERE', url));
      else response.writeHead(303, content).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await expect(obtainToken({ issuer: url, email: OWNER })).rejects.toThrow(reason);
  });
});

test('the cookie jar keeps the last value and drops what is cleared', () => {
  const jar = new CookieJar();
  const answer = (...cookies: string[]) =>
    new Response('', { headers: cookies.map((cookie): [string, string] => ['set-cookie', cookie]) });
  jar.keep(answer('a=1; path=/; httponly', 'b=x=y'));
  jar.keep(answer('a=2', 'c=3'));
  jar.keep(answer('c=; expires=Thu, 01 Jan 1970 00:00:00 GMT'));
  expect(jar.header).toBe('a=2; b=x=y');
});
