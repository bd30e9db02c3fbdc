import { createRemoteJWKSet, decodeJwt, jwtVerify } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { API_AUDIENCE, CONSOLE_CLIENT_ID } from '../../../lib/local/oidc/clients.ts';
import { subjectOf } from '../../../lib/local/oidc/people.ts';
import { CLI_CALLBACKS, CLI_CLIENT_ID } from '../../../sdk/sign-in/callbacks.ts';
import {
  askForToken,
  authorization,
  formOf,
  openOidc,
  OWNER,
  redeem,
  refresh,
  signIn,
  VIEWER,
  type Ask,
  type Oidc,
} from './oidc-world.ts';

let oidc: Oidc;
let atConsole: Required<Pick<Ask, 'client_id' | 'redirect_uri'>>;

beforeAll(async () => {
  oidc = await openOidc();
  atConsole = { client_id: CONSOLE_CLIENT_ID, redirect_uri: `${oidc.url}/console/callback` };
});

afterAll(async () => {
  await oidc?.close();
});

// What the provider has to say about its configuration it says on the console.
beforeEach(() => {
  for (const level of ['log', 'info', 'warn', 'error'] as const) vi.spyOn(console, level);
});
afterEach(() => {
  for (const level of ['log', 'info', 'warn', 'error'] as const) {
    // oxlint-disable-next-line no-console
    expect(console[level]).not.toHaveBeenCalled();
  }
  vi.restoreAllMocks();
});

const verify = async (token: string, audience: string) =>
  jwtVerify(token, createRemoteJWKSet(new URL(`${oidc.issuer}/jwks`)), {
    issuer: oidc.issuer,
    audience,
    algorithms: ['ES256'],
  });

describe('a person', () => {
  test('has a subject that depends on nothing but the address', () => {
    expect(subjectOf('admin@example.com')).toBe('0f79b2e6-fe16-53db-9c7e-b4a5e6e29744');
    expect(subjectOf('Admin@Example.com')).toBe(subjectOf('admin@example.com'));
    expect(subjectOf(OWNER)).not.toBe(subjectOf(VIEWER));
  });
});

describe('an access token', () => {
  test('is a JWT for the API that says who, through what, and for 15 minutes', async () => {
    const answer = await redeem(oidc, await signIn(oidc, OWNER));
    expect(answer).toMatchObject({ status: 200, token_type: 'Bearer', expires_in: 900 });
    const { payload, protectedHeader } = await verify(answer.access_token, API_AUDIENCE);
    expect(protectedHeader).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    expect(payload).toEqual({
      iss: oidc.issuer,
      aud: API_AUDIENCE,
      sub: subjectOf(OWNER),
      email: OWNER,
      email_verified: true,
      client_id: CLI_CLIENT_ID,
      scope: 'api',
      jti: expect.any(String),
      iat: expect.any(Number),
      exp: Number(payload.iat) + 900,
    });
  });

  test('is for the API also when a client asks for nothing but who it is', async () => {
    const { access_token } = await redeem(oidc, await signIn(oidc, OWNER, { scope: 'openid' }));
    expect(decodeJwt(access_token)).toMatchObject({ aud: API_AUDIENCE, email: OWNER });
    expect(decodeJwt(access_token)).not.toHaveProperty('scope');
  });

  test('comes with an ID token for the client', async () => {
    const { id_token } = await redeem(oidc, await signIn(oidc, VIEWER, { nonce: 'once' }));
    const { payload, protectedHeader } = await verify(id_token, CLI_CLIENT_ID);
    expect(protectedHeader.typ).not.toBe('at+jwt');
    expect(payload).toMatchObject({ sub: subjectOf(VIEWER), email: VIEWER, nonce: 'once' });
    expect(payload['name']).toBe(`Vera "<b>V</b>" & 'co'`);
  });

  test('can be checked with keys of which nothing private is published', async () => {
    const { keys } = (await (await fetch(`${oidc.issuer}/jwks`)).json()) as { keys: object[] };
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0] ?? {}).sort()).toEqual(['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
  });
});

describe('signing in with a code', () => {
  test.each(CLI_CALLBACKS)('brings the command line back to %s', async (redirect_uri) => {
    const signedIn = await signIn(oidc, OWNER, { redirect_uri });
    expect(Object.fromEntries(signedIn.answer)).toMatchObject({ state: 'the-state', iss: oidc.issuer });
    expect(await redeem(oidc, signedIn, { redirect_uri })).toMatchObject({ status: 200 });
  });

  test('works for the console at the front door and on its development server', async () => {
    for (const redirect_uri of [atConsole.redirect_uri, 'http://127.0.0.1:5173/callback']) {
      const signedIn = await signIn(oidc, OWNER, { ...atConsole, redirect_uri });
      const answer = await redeem(oidc, signedIn, { client_id: CONSOLE_CLIENT_ID, redirect_uri });
      expect(decodeJwt(answer.access_token)).toMatchObject({
        client_id: CONSOLE_CLIENT_ID,
        sub: subjectOf(OWNER),
      });
    }
  });

  test.each<[string, Ask, string]>([
    ['without PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['with plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['with a response type that skips the code', { response_type: 'id_token' }, 'unsupported_response_type'],
    ['for another API', { resource: 'urn:other' }, 'invalid_target'],
    ['without a page, when nobody is signed in', { prompt: 'none' }, 'login_required'],
  ])('%s is refused, and the client told', async (_what, ask, error) => {
    const { address, exit } = authorization(oidc, ask);
    const answer = await oidc.newBrowser().visit(address, exit);
    const { left } = answer as { left: URL };
    const told = new URLSearchParams(left.search || left.hash.slice(1));
    expect(Object.fromEntries(told)).toMatchObject({ error, state: 'the-state' });
    expect(told.has('code')).toBe(false);
  });

  test.each<[string, Ask]>([
    ['another host', { redirect_uri: 'http://evil.example/callback' }],
    ['another path', { redirect_uri: 'http://127.0.0.1:8250/elsewhere' }],
    ['a longer path', { redirect_uri: 'http://127.0.0.1:8250/callback/' }],
    ['another name of this machine', { redirect_uri: 'http://localhost:8250/callback' }],
    ['a port the command line does not have', { redirect_uri: 'http://127.0.0.1:8253/callback' }],
    ['no port', { redirect_uri: 'http://127.0.0.1/callback' }],
    [
      'a port the console does not have',
      { client_id: CONSOLE_CLIENT_ID, redirect_uri: 'http://127.0.0.1:9/callback' },
    ],
    ['a client nobody knows', { client_id: 'stranger' }],
  ])('never sends the browser to %s', async (_what, ask) => {
    const response = await fetch(authorization(oidc, ask).address, { redirect: 'manual' });
    expect(response.status).toBe(400);
    expect(response.headers.get('location')).toBeNull();
  });

  test('can be cancelled, and the client told', async () => {
    const browser = oidc.newBrowser();
    const { address, exit } = authorization(oidc);
    const shown = (await browser.visit(address, exit)) as { url: string };
    const { left } = (await browser.visit(shown.url, exit, new URLSearchParams({ cancel: 'yes' }))) as {
      left: URL;
    };
    expect(left.searchParams.get('error')).toBe('access_denied');
  });
});

describe('a code', () => {
  test.each<[string, Record<string, string>]>([
    ['with another verifier', { code_verifier: 'x'.repeat(43) }],
    ['with an empty verifier', { code_verifier: '' }],
    ['for another redirect URI', { redirect_uri: 'http://127.0.0.1:1/callback' }],
    ['by another client', { client_id: CONSOLE_CLIENT_ID }],
    ['that is none', { code: 'x'.repeat(43) }],
  ])('%s buys nothing', async (_what, form) => {
    const answer = await redeem(oidc, await signIn(oidc, OWNER), form);
    expect(answer).toMatchObject({ status: 400, error: expect.stringMatching(/^invalid_(grant|request)$/) });
    expect(answer).not.toHaveProperty('access_token');
  });

  test('counts once: a second use is refused and takes back what the first one gave', async () => {
    const signedIn = await signIn(oidc, OWNER);
    const first = await redeem(oidc, signedIn);
    expect(first.status).toBe(200);
    expect(await redeem(oidc, signedIn)).toMatchObject({ status: 400, error: 'invalid_grant' });
    expect(await refresh(oidc, first.refresh_token)).toMatchObject({ status: 400, error: 'invalid_grant' });
  });
});

describe.each(['a code', 'a refresh token'])('%s used by ten at once', (what) => {
  test('serves one of them', async () => {
    const signedIn = await signIn(oidc, OWNER);
    const { refresh_token } = what === 'a code' ? { refresh_token: '' } : await redeem(oidc, signedIn);
    const use = () => (what === 'a code' ? redeem(oidc, signedIn) : refresh(oidc, refresh_token));
    const answers = await Promise.all(Array.from({ length: 10 }, use));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ error }) => error === 'invalid_grant')).toHaveLength(9);
  });
});

describe('a refresh token', () => {
  test('buys new tokens for the same person, once', async () => {
    const first = await redeem(oidc, await signIn(oidc, VIEWER));
    const second = await refresh(oidc, first.refresh_token);
    expect(second).toMatchObject({ status: 200, expires_in: 900 });
    expect(decodeJwt(second.access_token)).toMatchObject({
      sub: subjectOf(VIEWER),
      aud: API_AUDIENCE,
      scope: 'api',
    });
    expect(second.access_token).not.toBe(first.access_token);

    expect(await refresh(oidc, first.refresh_token)).toMatchObject({ error: 'invalid_grant' });
    // Somebody has a copy: the one that was good is not trusted any more either.
    expect(await refresh(oidc, second.refresh_token)).toMatchObject({ error: 'invalid_grant' });
  });

  test('is no use to another client', async () => {
    const { refresh_token } = await redeem(oidc, await signIn(oidc, OWNER));
    expect(await refresh(oidc, refresh_token, { client_id: CONSOLE_CLIENT_ID })).toMatchObject({
      status: 400,
    });
    expect(await refresh(oidc, refresh_token)).toMatchObject({ status: 200 });
  });

  test('can be given up by its client alone', async () => {
    const { refresh_token } = await redeem(oidc, await signIn(oidc, OWNER));
    const revoke = (client_id: string, token: string) =>
      fetch(`${oidc.issuer}/token/revocation`, {
        method: 'POST',
        body: new URLSearchParams({ client_id, token }),
      });
    await revoke(CONSOLE_CLIENT_ID, refresh_token);
    const next = await refresh(oidc, refresh_token);
    expect(next.status).toBe(200);
    expect((await revoke(CLI_CLIENT_ID, next.refresh_token)).status).toBe(200);
    expect(await refresh(oidc, next.refresh_token)).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('a browser in which somebody is signed in', () => {
  test('is not asked again by the console, and always by the command line', async () => {
    const browser = oidc.newBrowser();
    await signIn(oidc, OWNER, atConsole, browser);
    const again = authorization(oidc, atConsole);
    expect(await browser.visit(again.address, again.exit)).toHaveProperty('left');
    const native = authorization(oidc);
    expect(await browser.visit(native.address, native.exit)).toMatchObject({
      html: expect.stringMatching(/Olivia Owner.*signed in now/),
    });
  });

  test('becomes somebody else when another person is chosen', async () => {
    const browser = oidc.newBrowser();
    const owner = await redeem(oidc, await signIn(oidc, OWNER, atConsole, browser), atConsole);
    const { address, verifier, exit } = authorization(oidc, { ...atConsole, prompt: 'login' });
    const login = (await browser.visit(address, exit)) as { url: string };
    const bridge = await browser.visit(login.url, exit, new URLSearchParams({ email: VIEWER }));
    const { action, fields } = formOf(bridge as { url: string; html: string });
    const { left } = (await browser.visit(action, exit, fields)) as { left: URL };
    const viewer = await redeem(oidc, { code: left.searchParams.get('code') ?? '', verifier }, atConsole);
    expect(decodeJwt(viewer.access_token).sub).toBe(subjectOf(VIEWER));
    // The first person's session is over, and with it what the console held of it.
    expect(await refresh(oidc, owner.refresh_token, atConsole)).toMatchObject({ error: 'invalid_grant' });
  });

  test('forgets them after signing out', async () => {
    const browser = oidc.newBrowser();
    const { id_token, refresh_token } = await redeem(
      oidc,
      await signIn(oidc, OWNER, atConsole, browser),
      atConsole,
    );
    const back = `${oidc.url}/console`;
    const ask = new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: back });
    const page = await browser.visit(`${oidc.issuer}/session/end?${ask.toString()}`, back);
    const { action, fields } = formOf(page as { url: string; html: string });
    fields.set('logout', 'yes');
    expect(await browser.visit(action, back, fields)).toHaveProperty('left');

    const { address, exit } = authorization(oidc, atConsole);
    expect(await browser.visit(address, exit)).toHaveProperty('html');
    expect(await refresh(oidc, refresh_token, atConsole)).toMatchObject({ error: 'invalid_grant' });
  });
});

describe('a page of another origin', () => {
  test('reads tokens only if it is where the client lives', async () => {
    const ask = async (origin: string) => {
      const signedIn = await signIn(oidc, OWNER, atConsole);
      return fetch(`${oidc.issuer}/token`, {
        method: 'POST',
        headers: { origin },
        body: new URLSearchParams({
          ...atConsole,
          grant_type: 'authorization_code',
          code: signedIn.code,
          code_verifier: signedIn.verifier,
        }),
      });
    };
    const good = await ask('http://127.0.0.1:5173');
    expect(good.status).toBe(200);
    expect(good.headers.get('access-control-allow-origin')).toBe('http://127.0.0.1:5173');
    const bad = await ask('http://evil.example');
    expect(bad.status).toBe(400);
    expect(bad.headers.get('access-control-allow-origin')).toBeNull();
  });
});

test('nobody gets a token by a password or for nothing', async () => {
  for (const grant_type of ['password', 'client_credentials', 'urn:ietf:params:oauth:grant-type:jwt-bearer'])
    expect(await askForToken(oidc, { grant_type, username: OWNER, password: 'x' })).toMatchObject({
      status: 400,
    });
});
