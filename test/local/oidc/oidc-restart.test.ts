import { decodeJwt } from 'jose';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CONSOLE_CLIENT_ID } from '../../../lib/local/oidc/clients.ts';
import { createAdapterFactory } from '../../../lib/local/oidc/adapter.ts';
import { subjectOf } from '../../../lib/local/oidc/people.ts';
import { CLI_CLIENT_ID } from '../../../sdk/sign-in/callbacks.ts';
import {
  askForToken,
  authorization,
  openOidc,
  OWNER,
  redeem,
  refresh,
  signIn,
  VIEWER,
  type Oidc,
} from './oidc-world.ts';

let oidc: Oidc;

beforeAll(async () => {
  oidc = await openOidc();
});

afterAll(async () => {
  await oidc?.close();
});

async function restart(): Promise<void> {
  await oidc.stop();
  oidc = await openOidc(oidc);
}

const keys = async () => (await fetch(`${oidc.issuer}/jwks`)).json();

test('after a restart everything that was given out still counts, and what was used up does not', async () => {
  const atConsole = { client_id: CONSOLE_CLIENT_ID, redirect_uri: `${oidc.url}/console/callback` };
  const published = await keys();
  const browser = oidc.newBrowser();
  await signIn(oidc, OWNER, atConsole, browser);
  const { refresh_token } = await redeem(oidc, await signIn(oidc, VIEWER));
  const unused = await signIn(oidc, OWNER);
  const used = await signIn(oidc, OWNER);
  expect(await redeem(oidc, used)).toMatchObject({ status: 200 });
  const interrupted = authorization(oidc);
  const other = oidc.newBrowser();
  const login = (await other.visit(interrupted.address, interrupted.exit)) as { url: string };
  const device = (await (
    await fetch(`${oidc.issuer}/device/auth`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: CLI_CLIENT_ID }),
    })
  ).json()) as { device_code: string };

  await restart();

  expect(await keys()).toEqual(published);
  expect(decodeJwt((await refresh(oidc, refresh_token)).access_token).sub).toBe(subjectOf(VIEWER));
  expect(await redeem(oidc, unused)).toMatchObject({ status: 200 });
  expect(await redeem(oidc, used)).toMatchObject({ error: 'invalid_grant' });
  const again = authorization(oidc, atConsole);
  expect(await browser.visit(again.address, again.exit)).toHaveProperty('left');
  const { left } = (await other.visit(
    login.url,
    interrupted.exit,
    new URLSearchParams({ email: OWNER }),
  )) as {
    left: URL;
  };
  const code = left.searchParams.get('code') ?? '';
  expect(await redeem(oidc, { code, verifier: interrupted.verifier })).toMatchObject({ status: 200 });
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  expect(await askForToken(oidc, { grant_type, device_code: device.device_code })).toMatchObject({
    error: 'authorization_pending',
  });
});

test('what counts once is used up by the first of two who found it unused', async () => {
  const codes = createAdapterFactory(oidc.journal)('AuthorizationCode');
  await codes.upsert('code', { grantId: 'g' }, 60);
  await codes.consume('code');
  expect(await codes.find('code')).toMatchObject({ grantId: 'g', consumed: expect.any(Number) });
  await expect(codes.consume('code')).rejects.toMatchObject({ error: 'invalid_grant', statusCode: 400 });
});

test('what expired long ago is forgotten at the first write after a start', async () => {
  const rows = () => oidc.journal.prepare('SELECT id FROM oidc_model WHERE kind = ?').all('Interaction');
  const adapter = createAdapterFactory(oidc.journal)('Interaction');
  await adapter.upsert('old', {}, -301);
  await adapter.upsert('recent', {}, -1);
  await createAdapterFactory(oidc.journal)('Interaction').upsert('new', {}, 60);
  expect(rows().map(({ id }) => id)).toEqual(expect.arrayContaining(['recent', 'new']));
  expect(rows().map(({ id }) => id)).not.toContain('old');
});
