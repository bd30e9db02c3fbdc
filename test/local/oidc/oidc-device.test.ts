import { createHash } from 'node:crypto';
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Browser } from '../../../bin/token/browser.ts';
import { API_AUDIENCE, CONSOLE_CLIENT_ID } from '../../../lib/local/oidc/clients.ts';
import { subjectOf } from '../../../lib/local/oidc/people.ts';
import { CLI_CLIENT_ID } from '../../../sdk/sign-in/callbacks.ts';
import { askForToken, formOf, openOidc, OWNER, refresh, type Oidc, type TokenAnswer } from './oidc-world.ts';

interface Device {
  device_code: string;
  user_code: string;
  verification_uri: string;
  verification_uri_complete: string;
  expires_in: number;
}

interface Page {
  url: string;
  html: string;
}

let oidc: Oidc;

beforeAll(async () => {
  oidc = await openOidc();
});

afterAll(async () => {
  await oidc?.close();
});

async function startDevice(): Promise<Device> {
  const body = new URLSearchParams({ client_id: CLI_CLIENT_ID, scope: 'openid email api' });
  const response = await fetch(`${oidc.issuer}/device/auth`, { method: 'POST', body });
  expect(response.status).toBe(200);
  return (await response.json()) as Device;
}

const poll = (device: Device): Promise<TokenAnswer> =>
  askForToken(oidc, {
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: device.device_code,
  });

const read = async (browser: Browser, address: string, form?: URLSearchParams): Promise<Page> =>
  (await browser.visit(address, 'nowhere:', form)) as Page;

/** Types the code; returns the page that is shown next. */
async function typeCode(browser: Browser, user_code: string): Promise<Page> {
  const { action, fields } = formOf(await read(browser, `${oidc.issuer}/device`));
  fields.set('user_code', user_code);
  return read(browser, action, fields);
}

async function submit(browser: Browser, page: Page, extra: Record<string, string> = {}): Promise<Page> {
  const { action, fields } = formOf(page);
  for (const [name, value] of Object.entries(extra)) fields.set(name, value);
  return read(browser, action, fields);
}

describe('a device', () => {
  test('waits until somebody has typed its code and said who they are, then gets their tokens', async () => {
    const device = await startDevice();
    expect(device).toMatchObject({ verification_uri: `${oidc.issuer}/device`, expires_in: 600 });
    expect(await poll(device)).toMatchObject({ status: 400, error: 'authorization_pending' });

    const browser = oidc.newBrowser();
    const confirm = await typeCode(browser, device.user_code.toLowerCase().replace('-', ' '));
    expect(confirm.html).toContain('GPUaaS command line');
    expect(confirm.html).toContain(device.user_code);
    const login = await submit(browser, confirm);
    expect(await poll(device)).toMatchObject({ error: 'authorization_pending' });
    const done = await submit(browser, login, { email: OWNER });
    expect(done.html).toContain('Your device is connected');

    const answer = await poll(device);
    expect(answer).toMatchObject({ status: 200, expires_in: 900 });
    expect(decodeJwt(answer.access_token)).toMatchObject({
      sub: subjectOf(OWNER),
      email: OWNER,
      aud: API_AUDIENCE,
      client_id: CLI_CLIENT_ID,
      scope: 'api',
    });
    expect(await refresh(oidc, answer.refresh_token)).toMatchObject({ status: 200 });
    expect(await poll(device)).toMatchObject({ error: 'invalid_grant' });
  });

  test('can send people to an address that has the code in it', async () => {
    const device = await startDevice();
    const browser = oidc.newBrowser();
    const bridge = await browser.fetch(device.verification_uri_complete);
    const html = await bridge.text();
    const [, script = ''] = /<script>([^]*)<\/script>/.exec(html) ?? [];
    const hash = createHash('sha256').update(script).digest('base64');
    expect(bridge.headers.get('content-security-policy')).toContain(`script-src 'sha256-${hash}'`);
    const confirm = await submit(browser, { url: bridge.url, html });
    expect(confirm.html).toContain(device.user_code);
  });

  test('is told when the person cancels, at the code or at the sign-in', async () => {
    const atCode = await startDevice();
    const browser = oidc.newBrowser();
    const refused = await submit(browser, await typeCode(browser, atCode.user_code), { abort: 'yes' });
    expect(refused.html).toContain('The sign-in was cancelled.');
    expect(await poll(atCode)).toMatchObject({ error: 'access_denied' });

    const atLogin = await startDevice();
    const login = await submit(browser, await typeCode(browser, atLogin.user_code));
    expect((await submit(browser, login, { cancel: 'yes' })).html).toContain('The sign-in was cancelled.');
    expect(await poll(atLogin)).toMatchObject({ error: 'access_denied' });
  });
});

describe('a code', () => {
  test.each([
    ['that no device shows', 'BBBB-BBBB', 'This code is not valid.'],
    ['that is empty', '', 'Type the code your device shows.'],
    ['that is markup', '<script>alert(1)</script>', 'This code is not valid.'],
  ])('%s is asked for again', async (_what, code, problem) => {
    const page = await typeCode(oidc.newBrowser(), code);
    expect(page.html).toContain(problem);
    expect(page.html).not.toContain('<script>');
  });

  test('counts once', async () => {
    const device = await startDevice();
    const browser = oidc.newBrowser();
    await submit(browser, await typeCode(browser, device.user_code));
    expect((await typeCode(oidc.newBrowser(), device.user_code)).html).toContain('This code has been used.');
  });

  test('is not taken from a form that was not shown', async () => {
    const device = await startDevice();
    const body = new URLSearchParams({ user_code: device.user_code, confirm: 'yes', xsrf: 'guess' });
    const response = await oidc.newBrowser().fetch(`${oidc.issuer}/device`, { method: 'POST', body });
    expect(response.ok).toBe(false);
    expect(await response.text()).toContain('The sign-in failed');
    expect(await poll(device)).toMatchObject({ error: 'authorization_pending' });
  });
});

test('the console has no use for the device flow', async () => {
  const body = new URLSearchParams({ client_id: CONSOLE_CLIENT_ID, scope: 'openid' });
  const response = await fetch(`${oidc.issuer}/device/auth`, { method: 'POST', body });
  expect(response.status).toBe(400);
});
