import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServiceAccount } from '../../functions/identity/create-service-account.ts';
import { getJwks } from '../../functions/identity/get-jwks.ts';
import { getOpenidConfiguration } from '../../functions/identity/get-openid-configuration.ts';
import { listSigningKeys } from '../../functions/identity/list-signing-keys.ts';
import { mintToken } from '../../functions/identity/mint-token.ts';
import { rotateSigningKey } from '../../functions/identity/rotate-signing-key.ts';
import { rawSignature } from '../../functions/identity/sign-token.ts';
import { authorize } from '../../functions/platform/auth/authorize.ts';
import { codeOf, ISSUER, openSigningWorld, type SigningWorld, TTL_SECONDS } from './signing-world.ts';

let world: SigningWorld;
let account: Record<string, unknown>;

beforeAll(async () => {
  world = await openSigningWorld();
  account = (await world.call(createServiceAccount, { body: { name: 'x', slug: 'signer' } })).body;
});

afterAll(async () => {
  await world?.close();
});

const platformAdmin = { project: undefined, actor: { kind: 'user', id: 'admin' } } as const;
const rotate = (key?: string) => world.call(rotateSigningKey, { ctx: platformAdmin, ...(key && { key }) });
const list = () => world.call(listSigningKeys, { ctx: platformAdmin });
const kids = async () =>
  ((await world.call(getJwks)).body['keys'] as { kid: string }[]).map(({ kid }) => kid);

async function mint(): Promise<string> {
  const { id, key_id, private_key_pem } = account;
  const body = { service_account_id: id, key_id, private_key_pem };
  return (await world.call(mintToken, { body, ctx: { project: undefined } })).body['access_token'] as string;
}

const kidOf = (token: string) =>
  (JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as { kid: string }).kid;

const use = (token: string) =>
  codeOf(authorize(`Bearer ${token}`, 'signed_in', 'GET /api/v1/me', {}, () => world.clock.now));

describe('published', () => {
  test('both keys stand in the list, which may be cached, and any JOSE library verifies a token with it', async () => {
    const before = world.requests();
    const { body, headers } = await world.call(getJwks);
    expect(world.requests()).toBe(before);
    expect(headers['cache-control']).toBe('public, max-age=300');
    expect(body['keys']).toHaveLength(2);
    expect(Object.keys((body['keys'] as object[])[0] as object).sort()).toEqual([
      'alg',
      'crv',
      'kid',
      'kty',
      'use',
      'x',
      'y',
    ]);
    const keys = createLocalJWKSet(body as unknown as JSONWebKeySet);
    const { payload } = await jwtVerify(await mint(), keys, { issuer: ISSUER, currentDate: world.clock.now });
    expect(payload.sub).toBe(`sa:${String(account['id'])}`);
  });

  test('the configuration names where to get and how to check tokens', async () => {
    const { body } = await world.call(getOpenidConfiguration);
    expect(body).toMatchObject({
      issuer: ISSUER,
      jwks_uri: `${ISSUER}/.well-known/jwks.json`,
      token_endpoint: `${ISSUER}/api/v1/auth/service-account/token`,
      grant_types_supported: ['urn:ietf:params:oauth:grant-type:jwt-bearer'],
      id_token_signing_alg_values_supported: ['ES256'],
    });
  });
});

describe('rotation, from the first on', () => {
  let old: string;

  test('before the first, the first key signs and the second stands by', async () => {
    const [first, second] = await kids();
    const before = world.requests();
    expect((await list()).body).toMatchObject({
      items: [
        { key_id: first, status: 'active' },
        { key_id: second, status: 'standby' },
      ],
      rotated_at: null,
      version: 0,
    });
    expect(world.requests() - before).toBe(1);
    old = await mint();
    expect(kidOf(old)).toBe(first);
  });

  test('of racing rotations one happens, with one audit row and one event', async () => {
    const codes = await Promise.all(Array.from({ length: 5 }, () => codeOf(rotate())));
    expect(codes.filter((code) => code === 'no refusal')).toHaveLength(1);
    expect(await world.items('AUDIT#platform')).toMatchObject([{ action: 'identity.signing_key.rotate' }]);
    expect(await world.items('OUTBOX#platform')).toMatchObject([
      { event: { type: 'identity.signing_key.rotated' } },
    ]);
    expect(await world.get({ pk: 'SIGNING', sk: 'KEYS' })).toMatchObject({ version: 1 });
  });

  test('the key before signs on until every warm function knows of the next', async () => {
    const [first, second] = await kids();
    world.pass(6);
    expect(kidOf(await mint())).toBe(first);
    world.pass(4);
    expect(kidOf(await mint())).toBe(second);
  });

  test('tokens of the key before are good until they expire', async () => {
    const [first, second] = await kids();
    expect((await list()).body['items']).toMatchObject([
      { key_id: first, status: 'retiring' },
      { key_id: second, status: 'active' },
    ]);
    world.pass(TTL_SECONDS - 20);
    expect(await use(old)).toBe('no refusal');
    world.pass(60);
    expect(await use(old)).toBe('auth.invalid');
  });

  test('another is refused until the first is over, and says when', async () => {
    expect(await codeOf(rotate())).toBe('signing_key.just_rotated');
    const { headers } = await rotate().catch(
      (error: unknown) => error as { headers: Record<string, string> },
    );
    expect(headers['retry-after']).toBe('10');
    world.pass(10);
    const first = await rotate('second-rotation');
    expect(await rotate('second-rotation')).toEqual(first);
    expect(await world.get({ pk: 'SIGNING', sk: 'KEYS' })).toMatchObject({ version: 2 });
  });

  test('a key that was rotated out is refused, whatever it signs', async () => {
    world.pass(10);
    const [first] = await kids();
    const token = await mint();
    expect(kidOf(token)).toBe(first);
    expect(await use(token)).toBe('no refusal');
    // As after a rotation in an emergency: the state says that nothing of the other key is believed.
    const state = (await world.get({ pk: 'SIGNING', sk: 'KEYS' })) as Record<string, unknown>;
    const [, second] = await kids();
    await world.put({ ...state, active_key_id: second, overlap_until: world.clock.now.toISOString() });
    world.pass(5);
    expect(await use(token)).toBe('auth.invalid');
  });
});

test('KMS is asked for its keys once', async () => {
  await kids();
  const before = world.kmsRequests();
  await kids();
  await list();
  await use(await mint());
  expect(world.kmsRequests() - before).toBe(1);
});

test.each([
  ['plain', '30440220'.concat('11'.repeat(32), '0220', '22'.repeat(32)), '11'.repeat(32) + '22'.repeat(32)],
  [
    'first bit set',
    '30460221'.concat('00', 'ff'.repeat(32), '022100', 'ee'.repeat(32)),
    'ff'.repeat(32) + 'ee'.repeat(32),
  ],
  [
    'short numbers',
    '30080202'.concat('1234', '020256', '78'),
    '00'.repeat(30).concat('1234', '00'.repeat(30), '5678'),
  ],
])('a signature of KMS becomes one of JWS: %s', (_, der, raw) => {
  expect(rawSignature(Buffer.from(der, 'hex')).toString('hex')).toBe(raw);
});
