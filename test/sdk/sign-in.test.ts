import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { subjectOf } from '../../lib/local/oidc/people.ts';
import { browserCommand } from '../../sdk/sign-in/browser.ts';
import { CLI_CALLBACKS, CLI_CLIENT_ID } from '../../sdk/sign-in/callbacks.ts';
import { signInByDevice } from '../../sdk/sign-in/device-flow.ts';
import { discover } from '../../sdk/sign-in/provider.ts';
import { sessionFolder } from '../../sdk/sign-in/session-file.ts';
import { formOf, openOidc, OWNER, refresh, VIEWER, type Oidc } from '../local/oidc/oidc-world.ts';
import { until } from '../until.ts';
import { gpuaas } from './command.ts';
import { answerAs, at, beginLogin, openFolder, openImpostor, signInWithBrowser } from './sign-in-world.ts';

interface Kept {
  access_token: string;
  refresh_token: string;
  expires_at: string;
}

let oidc: Oidc;
/** The ports are fixed: on this machine, one run of these tests at a time. */
const turn = createServer();

beforeAll(async () => {
  await until(() => listens(turn, 'http://127.0.0.1:8249'), 'another run of these tests to end', 300);
  oidc = await openOidc();
  // Something that opens nothing: the tests go where the command says.
  vi.stubEnv('BROWSER', 'true');
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await oidc?.close();
  turn.close();
});

const fileIn = (folder: string) => join(folder, 'session.json');
const keptIn = (folder: string) => JSON.parse(readFileSync(fileIn(folder), 'utf8')) as Kept;
const modeOf = (path: string) => statSync(path).mode & 0o777;

/** As if the access token had run out. */
function expire(folder: string): Kept {
  const kept = { ...keptIn(folder), expires_at: new Date().toISOString() };
  writeFileSync(fileIn(folder), JSON.stringify(kept));
  return kept;
}

describe('gpuaas login', () => {
  test('signs a person in with the browser, and keeps the tokens for them alone', async () => {
    const folder = join(openFolder(), 'new');
    process.env['GPUAAS_CONFIG_DIR'] = folder;
    const { code, out, err, page } = await signInWithBrowser(oidc, OWNER);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain(`Signed in at ${oidc.issuer}.`);
    expect(page).toContain('<h1>Signed in</h1>');
    expect([modeOf(folder), modeOf(fileIn(folder))]).toEqual([0o700, 0o600]);
    const kept = keptIn(folder);
    for (const secret of [kept.access_token, kept.refresh_token])
      expect(out + err + page).not.toContain(secret);

    const token = await gpuaas(['token']);
    expect(token).toMatchObject({ code: 0, err: '', out: `${kept.access_token}\n` });
    expect(decodeJwt(token.out)).toMatchObject({ sub: subjectOf(OWNER), email: OWNER });
  });

  test('finds the platform that runs here by its ready file', async () => {
    const folder = openFolder();
    writeFileSync(join(folder, 'ready.json'), JSON.stringify({ oidc_issuer: oidc.issuer }));
    const { code, out } = await signInWithBrowser(oidc, VIEWER, ['--data', folder, '--json', '--quiet']);
    expect({ code, told: JSON.parse(out) as unknown }).toEqual({
      code: 0,
      told: { issuer: oidc.issuer, client_id: CLI_CLIENT_ID, expires_at: keptIn(folder).expires_at },
    });
  });

  test('takes the issuer from the environment', async () => {
    openFolder();
    vi.stubEnv('GPUAAS_ISSUER', oidc.issuer);
    vi.stubEnv('GPUAAS_CLIENT', CLI_CLIENT_ID);
    onTestFinished(() => {
      vi.stubEnv('GPUAAS_ISSUER', undefined);
      vi.stubEnv('GPUAAS_CLIENT', undefined);
    });
    expect(await signInWithBrowser(oidc, OWNER, [])).toMatchObject({ code: 0 });
  });

  test.each<[string, string[], string]>([
    ['no issuer, and no platform here', ['--data', 'nowhere'], 'No issuer was named'],
    ['an issuer without a client', ['--issuer', 'https://a.example'], 'must be given together'],
    ['a client without an issuer', ['--client', 'a'], 'must be given together'],
    [
      'an issuer that everybody on the way can read',
      ['--issuer', 'http://a.example', '--client', 'a'],
      'https',
    ],
    ['an issuer that is no address', ['--issuer', 'example', '--client', 'a'], 'not the address'],
  ])('%s ends with 2', async (_what, args, told) => {
    openFolder();
    const { code, err } = await gpuaas(['login', ...args]);
    expect(code).toBe(2);
    expect(err).toContain(told);
  });

  test('opens the browser it is told of', async () => {
    const folder = openFolder();
    const script = join(folder, 'browser');
    writeFileSync(
      script,
      `#!/bin/sh\nprintf %s "$1" > '${folder}/opened.draft'\nmv '${folder}/opened.draft' '${folder}/opened'\n`,
    );
    chmodSync(script, 0o700);
    vi.stubEnv('BROWSER', script);
    onTestFinished(() => void vi.stubEnv('BROWSER', 'true'));
    const signingIn = await beginLogin(at(oidc));
    await until(() => existsSync(join(folder, 'opened')));
    expect(readFileSync(join(folder, 'opened'), 'utf8')).toBe(signingIn.address.href);
    await fetch(await answerAs(oidc, signingIn, { email: OWNER }));
    expect(await signingIn.ended).toMatchObject({ code: 0 });
  });

  test.each<[string, (back: URL) => void, string]>([
    ['another state', (back) => back.searchParams.set('state', 'another'), 'its state is another'],
    ['no state', (back) => back.searchParams.delete('state'), 'its state is another'],
    ['two states', (back) => back.searchParams.append('state', 'another'), 'its state is another'],
    [
      'another issuer',
      (back) => back.searchParams.set('iss', 'https://evil.example'),
      'not from this issuer',
    ],
    [
      'no issuer, though this one names itself',
      (back) => back.searchParams.delete('iss'),
      'not from this issuer',
    ],
    ['no code', (back) => back.searchParams.delete('code'), 'has no code'],
    ['a code nobody gave', (back) => back.searchParams.set('code', 'x'.repeat(43)), 'was refused'],
  ])('refuses an answer with %s', async (_what, change, told) => {
    const folder = openFolder();
    const signingIn = await beginLogin(at(oidc));
    const back = await answerAs(oidc, signingIn, { email: OWNER });
    change(back);
    expect(await (await fetch(back)).text()).toContain('<h1>Not signed in</h1>');
    const { code, err } = await signingIn.ended;
    expect(code).toBe(3);
    expect(err).toContain(told);
    expect(existsSync(fileIn(folder))).toBe(false);
  });

  test('tells that the person refused', async () => {
    openFolder();
    const signingIn = await beginLogin(at(oidc));
    const page = await fetch(await answerAs(oidc, signingIn, { cancel: 'yes' }));
    expect(await page.text()).toContain('<h1>Not signed in</h1>');
    expect(await signingIn.ended).toMatchObject({
      code: 3,
      err: expect.stringContaining('The sign-in was refused: The sign-in was cancelled.') as string,
    });
  });

  test('lets nothing but the answer end it, and listens for one', async () => {
    openFolder();
    const signingIn = await beginLogin(at(oidc));
    const { origin } = new URL(signingIn.callback);
    expect((await fetch(`${origin}/favicon.ico`)).status).toBe(404);
    expect((await fetch(signingIn.callback, { method: 'POST' })).status).toBe(404);
    const { port } = new URL(origin);
    expect((await fetch(`http://localhost:${port}/callback?state=x`)).status).toBe(404);
    const back = await answerAs(oidc, signingIn, { email: OWNER });
    const page = await fetch(back);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(await signingIn.ended).toMatchObject({ code: 0 });
    await expect(fetch(back)).rejects.toThrow('fetch failed');
  });

  test('listens at the next of its ports when one is taken, and says so when all are', async () => {
    openFolder();
    for (const callback of CLI_CALLBACKS.slice(0, -1)) await occupy(callback);
    const signingIn = await beginLogin(at(oidc));
    expect(signingIn.callback).toBe(CLI_CALLBACKS.at(-1));
    const refused = await gpuaas(['login', ...at(oidc)]);
    expect(refused.code).toBe(5);
    expect(refused.err).toContain('all taken (8250, 8251, 8252)');
    await fetch(await answerAs(oidc, signingIn, { email: OWNER }));
    expect(await signingIn.ended).toMatchObject({ code: 0 });
  });

  test('is ended by Ctrl-C, and leaves nothing behind', async () => {
    const folder = openFolder();
    const command = fileURLToPath(new URL('../../sdk/gpuaas.ts', import.meta.url));
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', command, 'login', ...at(oidc)],
      { env: { PATH: process.env['PATH'], BROWSER: 'true', GPUAAS_CONFIG_DIR: folder } },
    );
    let told = '';
    child.stderr.on('data', (chunk: Buffer) => void (told += chunk.toString()));
    const exited = once(child, 'exit');
    await until(() => /^http\S+$/m.test(told));
    child.kill('SIGINT');
    expect(await exited).toEqual([null, 'SIGINT']);
    expect(told).not.toContain('    at ');
    expect(existsSync(fileIn(folder))).toBe(false);
  });
});

describe('an issuer', () => {
  const DOCUMENT = { authorization_endpoint: 'HERE/auth', token_endpoint: 'HERE/token' };
  const tellOf = (origin: string, document: object): unknown =>
    JSON.parse(JSON.stringify({ issuer: origin, ...document }).replaceAll('HERE', origin));

  test('without a device flow says so', async () => {
    openFolder();
    const issuer = await openImpostor((_url, origin) => ({ body: tellOf(origin, DOCUMENT) }));
    const { code, err } = await gpuaas(['login', '--device', ...at({ issuer })]);
    expect(code).toBe(2);
    expect(err).toBe(
      'This issuer has no device flow (Amazon Cognito does not).\nSign in on a machine with a browser.\n',
    );
  });

  test.each<[string, Parameters<typeof openImpostor>[0], string]>([
    [
      'by another name',
      (_, origin) => ({ body: tellOf(origin, { ...DOCUMENT, issuer: 'https://a.example' }) }),
      'another name',
    ],
    [
      'that is a page',
      (_, origin) => ({ type: 'text/html', body: tellOf(origin, DOCUMENT) }),
      'as an issuer does',
    ],
    ['that is none', () => ({ body: {} }), 'as an issuer does'],
    ['that answers no', (_, origin) => ({ status: 500, body: tellOf(origin, DOCUMENT) }), 'status 500'],
    ['that leads elsewhere', () => ({ status: 302, location: 'https://a.example' }), 'does not answer'],
    ['that never ends', () => ({ body: { x: 'x'.repeat(70_000) } }), 'does not answer'],
    [
      'whose tokens everybody on the way could read',
      (_, origin) => ({ body: tellOf(origin, { ...DOCUMENT, token_endpoint: 'http://a.example/token' }) }),
      'as an issuer does',
    ],
  ])('%s is not trusted', async (_what, answer, told) => {
    openFolder();
    const { code, err } = await gpuaas(['login', ...at({ issuer: await openImpostor(answer) })]);
    expect(code).toBe(1);
    expect(err).toContain(told);
  });

  test('cannot draw on the terminal with what it says', async () => {
    openFolder();
    const issuer = await openImpostor((_url, origin) => ({ body: tellOf(origin, DOCUMENT) }));
    const signingIn = await beginLogin(at({ issuer }));
    const state = signingIn.address.searchParams.get('state') ?? '';
    const told = new URLSearchParams({ state, error: 'access_denied', error_description: '\u001b[2Jno' });
    await fetch(`${signingIn.callback}?${told.toString()}`);
    expect((await signingIn.ended).err).toContain('The sign-in was refused: ?[2Jno');
  });
});

describe('a machine without a browser', () => {
  const approve = async (code: string, end: object): Promise<void> => {
    const browser = oidc.newBrowser();
    const read = async (address: string, form?: URLSearchParams) =>
      (await browser.visit(address, 'nowhere:', form)) as { url: string; html: string };
    const typed = formOf(await read(`${oidc.issuer}/device`));
    typed.fields.set('user_code', code);
    const confirm = formOf(await read(typed.action, typed.fields));
    const login = await read(confirm.action, confirm.fields);
    await read(login.url, new URLSearchParams(Object.entries(end)));
  };

  async function signIn(meanwhile: (code: string) => unknown): Promise<string> {
    const shown: string[] = [];
    const waits: number[] = [];
    const { access_token } = await signInByDevice(await discover(oidc.issuer), CLI_CLIENT_ID, {
      show: (address, code) => void shown.push(address, code),
      async wait(ms) {
        // The first question comes before the person has answered.
        if (waits.push(ms) === 2) await meanwhile(shown[1] ?? '');
      },
    });
    expect(shown[0]).toBe(`${oidc.issuer}/device`);
    expect(waits).toEqual([5_000, 5_000]);
    return access_token;
  }

  test('signs in by a code that is typed elsewhere', async () => {
    const token = await signIn((code) => approve(code, { email: OWNER }));
    expect(decodeJwt(token)).toMatchObject({ sub: subjectOf(OWNER), email: OWNER });
  });

  test('hears that the person refused', async () => {
    await expect(signIn((code) => approve(code, { cancel: 'yes' }))).rejects.toMatchObject({
      kind: 'auth',
      message: 'The sign-in was refused: The sign-in was cancelled.',
    });
  });

  test('hears that its code has expired', async () => {
    const expired = () =>
      oidc.journal.exec(
        `UPDATE oidc_model SET payload = json_set(payload, '$.exp', 1) WHERE kind = 'DeviceCode'`,
      );
    await expect(signIn(expired)).rejects.toMatchObject({ kind: 'auth', message: 'The code has expired.' });
  });

  test('stops asking when the code must have expired, and asks more slowly when told to', async () => {
    const issuer = await openImpostor((url, origin) => {
      if (url === '/device')
        return {
          body: { device_code: 'd', user_code: 'U', verification_uri: origin, expires_in: 30, interval: 8 },
        };
      return url === '/token'
        ? { status: 400, body: { error: 'slow_down' } }
        : {
            body: {
              issuer: origin,
              authorization_endpoint: `${origin}/auth`,
              token_endpoint: `${origin}/token`,
              device_authorization_endpoint: `${origin}/device`,
            },
          };
    });
    const waits: number[] = [];
    const device = { show: () => undefined, wait: async (ms: number) => void waits.push(ms) };
    await expect(signInByDevice(await discover(issuer), 'a', device)).rejects.toMatchObject({
      message: 'The code has expired.',
    });
    expect(waits).toEqual([8_000, 13_000]);
  });

  test.each<[string, Record<string, string>, string, string[] | undefined]>([
    ['a Mac', {}, 'darwin', ['open']],
    ['a Mac over ssh', { SSH_CONNECTION: 'x' }, 'darwin', undefined],
    ['Windows', {}, 'win32', ['rundll32', 'url.dll,FileProtocolHandler']],
    ['Linux with a screen', { DISPLAY: ':0' }, 'linux', ['xdg-open']],
    ['Linux with another screen', { WAYLAND_DISPLAY: 'w' }, 'linux', ['xdg-open']],
    ['a server', {}, 'linux', undefined],
    ['a server that has a browser', { BROWSER: '/bin/b', SSH_CONNECTION: 'x' }, 'linux', ['/bin/b']],
  ])('is told from others: %s', (_what, env, platform, command) => {
    expect(browserCommand(env, platform)).toEqual(command);
  });
});

describe('gpuaas token', () => {
  test('says that nobody is signed in', async () => {
    openFolder();
    expect(await gpuaas(['token'])).toEqual({
      code: 3,
      out: '',
      err: 'Nobody is signed in.\nSign in with “gpuaas login”.\n',
    });
  });

  test('renews a token that has run out, once for all who ask', async () => {
    const folder = openFolder();
    await signInWithBrowser(oidc, OWNER);
    const old = expire(folder);
    const tokens = await Promise.all(Array.from({ length: 5 }, () => gpuaas(['token', '--json'])));
    expect(new Set(tokens.map(({ out }) => out)).size).toBe(1);
    const { access_token, refresh_token, expires_at } = keptIn(folder);
    expect(JSON.parse(tokens[0]?.out ?? '')).toEqual({ access_token, expires_at });
    expect(decodeJwt(access_token)).toMatchObject({ sub: subjectOf(OWNER) });
    expect([access_token, refresh_token]).not.toContain(old.access_token);
    expect(modeOf(fileIn(folder))).toBe(0o600);
    expire(folder);
    expect(await gpuaas(['token'])).toMatchObject({ code: 0 });
  });

  test('keeps the refresh token of an issuer that gives no new one', async () => {
    const folder = openFolder();
    const issuer = await openImpostor((url, origin) =>
      url === '/token'
        ? { body: { access_token: 'new', token_type: 'Bearer', expires_in: 900 } }
        : {
            body: {
              issuer: origin,
              authorization_endpoint: `${origin}/auth`,
              token_endpoint: `${origin}/token`,
            },
          },
    );
    const expires_at = new Date().toISOString();
    const kept = { issuer, client_id: 'a', access_token: 'old', refresh_token: 'kept', expires_at };
    writeFileSync(fileIn(folder), JSON.stringify(kept));
    expect(await gpuaas(['token'])).toMatchObject({ code: 0, out: 'new\n' });
    expect(keptIn(folder)).toMatchObject({ access_token: 'new', refresh_token: 'kept' });
  });

  test('does not wait for a process that was killed while it renewed', async () => {
    const folder = openFolder();
    await signInWithBrowser(oidc, OWNER);
    expire(folder);
    const lock = `${fileIn(folder)}.lock`;
    writeFileSync(lock, '');
    utimesSync(lock, 0, 0);
    expect(await gpuaas(['token'])).toMatchObject({ code: 0 });
    expect(existsSync(lock)).toBe(false);
  });

  test('says that the sign-in has ended', async () => {
    const folder = openFolder();
    await signInWithBrowser(oidc, OWNER);
    const { refresh_token } = expire(folder);
    await refresh(oidc, refresh_token);
    const ended = await gpuaas(['token']);
    expect(ended).toMatchObject({ code: 3, out: '', err: expect.stringContaining('has ended') as string });
    expect(ended.err).not.toContain(refresh_token);
  });

  test('does not take another file for a sign-in', async () => {
    const folder = openFolder();
    writeFileSync(fileIn(folder), '{"access_token":"secret"}');
    const { code, err } = await gpuaas(['token']);
    expect(code).toBe(1);
    expect(err).toContain('is not a sign-in');
    expect(err).not.toContain('secret');
  });
});

describe('gpuaas logout', () => {
  test('forgets the tokens, and the issuer gives no more', async () => {
    const folder = openFolder();
    await signInWithBrowser(oidc, OWNER);
    const { refresh_token } = keptIn(folder);
    expect(await gpuaas(['logout'])).toMatchObject({ code: 0, out: '' });
    expect(existsSync(fileIn(folder))).toBe(false);
    expect(await refresh(oidc, refresh_token)).toMatchObject({ error: 'invalid_grant' });
    expect(await gpuaas(['logout'])).toMatchObject({ code: 0, err: 'Nobody was signed in.\n' });
  });

  test('forgets them also when the issuer cannot be told', async () => {
    const folder = openFolder();
    const issuer = await openImpostor(() => ({ status: 500, body: {} }));
    const expires_at = new Date().toISOString();
    const kept = { issuer, client_id: 'a', access_token: 'a', refresh_token: 'r', expires_at };
    writeFileSync(fileIn(folder), JSON.stringify(kept));
    expect(await gpuaas(['logout'])).toMatchObject({ code: 1 });
    expect(existsSync(fileIn(folder))).toBe(false);
  });
});

test.each<[Record<string, string>, string]>([
  [{ GPUAAS_CONFIG_DIR: '/a', XDG_CONFIG_HOME: '/b' }, '/a'],
  [{ XDG_CONFIG_HOME: '/b' }, '/b/gpuaas'],
  [{ XDG_CONFIG_HOME: 'not/absolute' }, join(homedir(), '.config', 'gpuaas')],
  [{}, join(homedir(), '.config', 'gpuaas')],
])('with %j tokens are kept in %s', (env, folder) => {
  expect(sessionFolder(env)).toBe(folder);
});

/** Until the test is over, somebody else listens there, or somebody already does. */
async function occupy(callback: string): Promise<void> {
  const server = createServer();
  await listens(server, callback);
  onTestFinished(() => void server.close());
}

function listens(server: Server, address: string): Promise<boolean> {
  const { port, hostname } = new URL(address);
  server.listen(Number(port), hostname);
  return once(server, 'listening').then(
    () => true,
    () => false,
  );
}
