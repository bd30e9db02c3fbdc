import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createServiceAccount } from '../../functions/identity/create-service-account.ts';
import { getJwks } from '../../functions/identity/get-jwks.ts';
import { getOpenidConfiguration } from '../../functions/identity/get-openid-configuration.ts';
import { listSigningKeys } from '../../functions/identity/list-signing-keys.ts';
import { mintToken } from '../../functions/identity/mint-token.ts';
import { rotateSigningKey } from '../../functions/identity/rotate-signing-key.ts';
import { rawSignature } from '../../functions/platform/auth/sign-jws.ts';
import { authorize } from '../../functions/platform/auth/authorize.ts';
import { NODE_TTL_SECONDS } from '../../functions/identity/token.ts';
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

const row = { pk: 'SIGNING', sk: 'KEYS' };

describe('the keys that verify', () => {
  // What is remembered of the test before has passed.
  beforeEach(() => world.pass(5));

  test('are put into the table with the first token, also by callers that race', async () => {
    const tokens = await Promise.all(Array.from({ length: 5 }, mint));
    for (const token of tokens) expect(await use(token)).toBe('no refusal');
    const [first, second] = await kids();
    expect(await world.get(row)).toEqual({
      ...row,
      active_key_id: first,
      version: 0,
      public_keys: [expect.objectContaining({ kid: first }), expect.objectContaining({ kid: second })],
    });
  });

  test('are found at once where it is remembered that there were none', async () => {
    const token = await mint();
    const state = await world.get(row);
    await world.remove(row);
    world.pass(5);
    expect(await use(token)).toBe('auth.invalid');
    await world.put({ ...row, ...state });
    expect(await use(token)).toBe('no refusal');
  });

  test('are missing from a row of an older version: nothing verifies until the next token is signed', async () => {
    const token = await mint();
    const { public_keys, ...older } = (await world.get(row)) as Record<string, unknown>;
    await world.put({ ...row, ...older });
    world.pass(5);
    expect(await use(token)).toBe('auth.invalid');
    const next = await mint();
    expect([await use(next), await use(token)]).toEqual(['no refusal', 'no refusal']);
    expect(await world.get(row)).toEqual({ ...row, ...older, public_keys });
  });

  test('cost no request to KMS, and one to DynamoDB together with all a call needs, which is none when warm', async () => {
    const token = await mint();
    world.pass(5);
    const [requests, kmsRequests] = [world.requests(), world.kmsRequests()];
    expect(await use(token)).toBe('no refusal');
    expect(world.requests() - requests).toBe(1);
    expect(await use(token)).toBe('no refusal');
    expect([world.requests() - requests, world.kmsRequests() - kmsRequests]).toEqual([1, 0]);
  });

  test('let a forged token make a warm function read nobody’s row, and the keys seldom where it names another', async () => {
    const token = await mint();
    expect(await use(token)).toBe('no refusal');
    const [header = '', claims = '', signature = ''] = token.split('.');
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
    const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as object;
    const somebody = encode({ ...decode(claims), sub: 'sa:0199ffff-0000-7000-8000-000000000000' });
    const stranger = encode({ ...decode(header), kid: 'another' });
    const requests = world.requests();
    expect(await use(`${header}.${somebody}.${signature}`)).toBe('auth.invalid');
    expect(world.requests() - requests).toBe(0);
    // However many name a key that nobody knows, the keys are read a few times a second.
    const refusals = await Promise.all(
      Array.from({ length: 20 }, () => use(`${stranger}.${somebody}.${signature}`)),
    );
    expect(new Set(refusals)).toEqual(new Set(['auth.invalid']));
    expect(world.requests() - requests).toBeLessThanOrEqual(5);
    expect(world.requests() - requests).toBeGreaterThanOrEqual(1);
  });
});

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
    const [first, second] = await kids();
    expect(await world.get(row)).toMatchObject({
      active_key_id: second,
      version: 1,
      public_keys: [{ kid: first }, { kid: second }],
    });
  });

  test('the key before signs on until every warm function knows of the next', async () => {
    const [first, second] = await kids();
    for (let second = 0; second < 10; second += 1) {
      const token = await mint();
      expect([kidOf(token), await use(token)]).toEqual([first, 'no refusal']);
      world.pass(1);
    }
    const token = await mint();
    expect([kidOf(token), await use(token)]).toEqual([second, 'no refusal']);
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
    // A node's token lives longer than an account's: until the last of the key before has expired.
    const leftSeconds = NODE_TTL_SECONDS - TTL_SECONDS + 10;
    expect(headers['retry-after']).toBe(String(leftSeconds));
    world.pass(leftSeconds);
    const first = await rotate('second-rotation');
    expect(await rotate('second-rotation')).toEqual(first);
    expect(await world.get(row)).toMatchObject({ version: 2 });
  });

  test('a key that was rotated out is refused, whatever it signs', async () => {
    world.pass(10);
    const [first] = await kids();
    const token = await mint();
    expect(kidOf(token)).toBe(first);
    expect(await use(token)).toBe('no refusal');
    // As after a rotation in an emergency: the state says that nothing of the other key is believed.
    const state = (await world.get(row)) as Record<string, unknown>;
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
