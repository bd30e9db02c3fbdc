import { randomUUID } from 'node:crypto';
import type { PreTokenGenerationV2TriggerEvent } from 'aws-lambda';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { acceptInvitation } from '../../functions/identity/accept-invitation.ts';
import { handler } from '../../functions/identity/add-email-to-token.ts';
import { authorize } from '../../functions/platform/auth/authorize.ts';
import { openTokenIssuer, type TokenIssuer } from '../platform/token-issuer.ts';
import { type OrgWorld, openOrgWorld } from './org-world.ts';

const [CONSOLE, COMMAND_LINE] = ['4f2qr8console', '7h1kp3cli'];

let world: OrgWorld;
let cognito: TokenIssuer;

beforeAll(async () => {
  [world, cognito] = await Promise.all([openOrgWorld(), openTokenIssuer('cognito')]);
  process.env['TOKEN_ISSUER'] = 'https://api.example.com';
  process.env['PLATFORM_ADMINS'] = 'nobody';
  process.env['OIDC_ISSUERS'] = JSON.stringify([{ ...cognito.config, audience: [CONSOLE, COMMAND_LINE] }]);
});

afterAll(async () => {
  cognito?.close();
  await world?.stop();
});

/** What Cognito asks when somebody with these attributes signs in on its pages. */
const eventOf = (userAttributes: Record<string, string>): PreTokenGenerationV2TriggerEvent => ({
  version: '2',
  triggerSource: 'TokenGeneration_HostedAuth',
  region: 'eu-west-1',
  userPoolId: 'eu-west-1_AbCdEfGhI',
  userName: userAttributes['sub'] ?? '',
  callerContext: { awsSdkVersion: 'aws-sdk-unknown-unknown', clientId: COMMAND_LINE ?? '' },
  request: {
    userAttributes: { 'cognito:user_status': 'CONFIRMED', ...userAttributes },
    groupConfiguration: { groupsToOverride: [], iamRolesToOverride: [] },
    scopes: ['openid', 'email'],
  },
  response: { claimsAndScopeOverrideDetails: {} },
});

/** An access token as Cognito makes it, with the claims that the function adds. */
async function signIn(attributes: Record<string, string>, clientId = COMMAND_LINE): Promise<string> {
  const sub = randomUUID();
  const { response } = await handler(eventOf({ sub, ...attributes }));
  const { claimsToAddOrOverride } = response.claimsAndScopeOverrideDetails.accessTokenGeneration;
  const now = new Date();
  const { iss, iat, exp } = cognito.claims(now);
  const claims = {
    sub,
    iss,
    version: 2,
    client_id: clientId,
    origin_jti: randomUUID(),
    event_id: randomUUID(),
    token_use: 'access',
    scope: 'openid email',
    auth_time: iat,
    exp,
    iat,
    jti: randomUUID(),
    username: sub,
    ...claimsToAddOrOverride,
  };
  return cognito.sign(claims, cognito.header());
}

async function accept(token: string, invitation_token: string) {
  const { actor, grants } = await authorize(
    `Bearer ${token}`,
    'signed_in',
    'POST /api/v1/invitations/accept',
    {},
    () => new Date(),
  );
  return world.ask(acceptInvitation, { actor, grants, body: { invitation_token } });
}

describe('an invitation, where people sign in with Cognito', () => {
  test('reaches whom it was sent to, and nobody else', async () => {
    const { org } = await world.newOrg();
    const guest = world.person();
    const invitation = await world.invite(org, guest, 'viewer');
    const other = await signIn({ email: 'other@example.com', email_verified: 'true' });
    expect(await accept(other, invitation)).toMatchObject({ code: 'invitation.other_email' });
    const addressee = await signIn({ email: guest.email.toUpperCase(), email_verified: 'true' });
    expect(await accept(addressee, invitation)).toMatchObject({ status: 200, body: { org_id: org } });
  });

  test.each([CONSOLE, COMMAND_LINE])('is accepted through each client: %s', async (clientId) => {
    const { org } = await world.newOrg();
    const guest = world.person();
    const token = await signIn({ email: guest.email, email_verified: 'true' }, clientId);
    expect(await accept(token, await world.invite(org, guest, 'viewer'))).toMatchObject({ status: 200 });
  });

  test.each(['another-client', '', `${CONSOLE},${COMMAND_LINE}`])(
    'is not accepted through a client that is none of ours: “%s”',
    async (clientId) => {
      const token = await signIn({ email: 'a@example.com', email_verified: 'true' }, clientId);
      await expect(accept(token, 'x')).rejects.toMatchObject({ code: 'auth.invalid' });
    },
  );
});

describe('the claims', () => {
  const claimsOf = async (attributes: Record<string, string>) =>
    (await handler(eventOf(attributes))).response.claimsAndScopeOverrideDetails.accessTokenGeneration
      .claimsToAddOrOverride;

  test.each<[string, Record<string, string>, object]>([
    [
      'verified',
      { email: 'a@example.com', email_verified: 'true' },
      { email: 'a@example.com', email_verified: true },
    ],
    [
      'not verified',
      { email: 'a@example.com', email_verified: 'false' },
      { email: 'a@example.com', email_verified: false },
    ],
    [
      'of which nothing is known',
      { email: 'a@example.com' },
      { email: 'a@example.com', email_verified: false },
    ],
    ['that is not there', { email_verified: 'true' }, {}],
  ])('tell an address %s as such', async (_what, attributes, claims) => {
    expect(await claimsOf(attributes)).toEqual(claims);
  });

  test('are all that is added to what Cognito sent', async () => {
    const event = eventOf({ sub: 's', email: 'a@example.com', email_verified: 'true' });
    const answer = await handler(event);
    expect({ ...answer, response: event.response }).toEqual(event);
    expect(Object.keys(answer.response.claimsAndScopeOverrideDetails)).toEqual(['accessTokenGeneration']);
  });
});
