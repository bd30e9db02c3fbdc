import { createHash, createPrivateKey, createPublicKey, randomUUID } from 'node:crypto';
import { SignCommand } from '@aws-sdk/client-kms';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createServiceAccount } from '../../functions/identity/create-service-account.ts';
import { disableServiceAccount } from '../../functions/identity/disable-service-account.ts';
import { mintToken } from '../../functions/identity/mint-token.ts';
import { rotateServiceAccountKey } from '../../functions/identity/rotate-service-account-key.ts';
import { rawSignature } from '../../functions/platform/auth/sign-jws.ts';
import { platformKeys } from '../../functions/identity/signing-keys.ts';
import type { PlatformKey } from '../../functions/platform/auth/platform-key.ts';
import { authorize } from '../../functions/platform/auth/authorize.ts';
import { kms } from '../../functions/platform/clients.ts';
import { Refusal } from '../../functions/platform/errors.ts';
import { openTokenIssuer, type TokenIssuer } from '../platform/token-issuer.ts';
import { ISSUER, openSigningWorld, project, type SigningWorld } from './signing-world.ts';
import {
  compose,
  ENDLESS,
  es256,
  forgeriesOf,
  type Forgery,
  type Genuine,
  misusesOf,
  rs256,
  WRONG_HEADERS,
  wrongTimes,
} from './token-corpus.ts';

interface Account {
  id: string;
  key_id: string;
  private_key_pem: string;
}

let world: SigningWorld;
let people: TokenIssuer;
let cognito: TokenIssuer;
let account: Account;
let keys: [PlatformKey, PlatformKey];
const tried = new Set<string>();

beforeAll(async () => {
  [world, people, cognito] = await Promise.all([
    openSigningWorld(),
    openTokenIssuer(),
    openTokenIssuer('cognito'),
  ]);
  process.env['OIDC_ISSUERS'] = JSON.stringify([people.config, cognito.config]);
  keys = (await platformKeys()) as [PlatformKey, PlatformKey];
  account = await create('corpus');
  // The second key was rotated out, and its time is over.
  await world.put({
    pk: 'SIGNING',
    sk: 'KEYS',
    active_key_id: keys[0].kid,
    rotated_at: '2026-01-01T00:00:00.000Z',
    overlap_until: '2026-01-01T01:00:00.000Z',
    version: 2,
    public_keys: keys.map(({ publicKey }) => publicKey),
  });
});

afterAll(async () => {
  people?.close();
  cognito?.close();
  await world?.close();
});

const at = () => Math.floor(world.clock.now.getTime() / 1000);

async function create(slug: string): Promise<Account> {
  return (await world.call(createServiceAccount, { body: { name: slug, slug } })).body as unknown as Account;
}

/** What became of a token: who it was taken for, or how it was refused. */
const use = (token: string): Promise<string> =>
  outcome(authorize(`Bearer ${token}`, 'signed_in', 'GET /api/v1/me', {}, () => world.clock.now));

const anonymous = { project: undefined, actor: { kind: 'anonymous', id: 'anonymous' } } as const;
const present = (assertion: string): Promise<string> =>
  outcome(world.call(mintToken, { body: { assertion }, ctx: anonymous }));

async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return 'accepted';
  } catch (error) {
    return error instanceof Refusal ? error.code : `threw ${String(error)}`;
  }
}

async function expectRefused(
  forgeries: Forgery[],
  attempt: (token: string) => Promise<string>,
  codes: string[],
): Promise<void> {
  const wrong: string[] = [];
  for (let begin = 0; begin < forgeries.length; begin += 16) {
    await Promise.all(
      forgeries.slice(begin, begin + 16).map(async ({ how, token }) => {
        tried.add(token);
        const code = await attempt(token);
        if (!codes.includes(code)) wrong.push(`${how}: ${code}`);
      }),
    );
  }
  expect(wrong).toEqual([]);
}

const signWith = (key: PlatformKey) => async (input: string) => {
  const { Signature = [] } = await kms().send(
    new SignCommand({
      KeyId: key.kmsKeyId,
      Message: createHash('sha256').update(input).digest(),
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    }),
  );
  return rawSignature(Buffer.from(Signature));
};

async function genuine(
  header: Record<string, unknown>,
  claims: () => Record<string, unknown>,
  key: Pick<Genuine, 'publicKey' | 'sign'>,
): Promise<Genuine> {
  const first = claims();
  const [token, other] = [await compose(header, first, key.sign), await compose(header, claims(), key.sign)];
  return { token, other, header, claims: first, ...key };
}

const ownToken = (key: PlatformKey, kid = key.kid) =>
  genuine(
    { alg: 'ES256', typ: 'at+jwt', kid },
    () => ({
      iss: ISSUER,
      sub: `sa:${account.id}`,
      aud: 'urn:gpuaas:api',
      exp: at() + 900,
      iat: at(),
      jti: randomUUID(),
      client_id: account.id,
      project_id: project.id,
      org_id: project.org_id,
    }),
    { publicKey: createPublicKey({ key: key.publicKey, format: 'jwk' }), sign: signWith(key) },
  );

const personToken = (issuer: TokenIssuer, sign: Genuine['sign']) =>
  genuine(issuer.header(), () => ({ ...issuer.claims(world.clock.now), jti: randomUUID() }), {
    publicKey: issuer.publicKey(),
    sign,
  });

const assertionOf = ({ id, key_id, private_key_pem }: Account, header: Record<string, unknown> = {}) =>
  genuine(
    { alg: 'ES256', kid: key_id, ...header },
    () => ({ iss: id, sub: id, aud: ISSUER, iat: at(), exp: at() + 60, jti: randomUUID() }),
    {
      publicKey: createPublicKey(createPrivateKey(private_key_pem)),
      sign: es256(createPrivateKey(private_key_pem)),
    },
  );

const TOKEN_CODES = ['auth.invalid', 'auth.missing'];
const wrongIssuers = (issuer: string) => [
  undefined,
  null,
  '',
  5,
  [],
  {},
  [issuer],
  'https://evil.example',
  `${issuer}/`,
  issuer.toUpperCase(),
  ` ${issuer}`,
];
const WRONG_AUDIENCES = [
  undefined,
  null,
  '',
  5,
  {},
  [],
  ['x'],
  'urn:gpuaas:ap',
  'urn:gpuaas:api/',
  'URN:GPUAAS:API',
  true,
];
const WRONG_SUBJECTS = [undefined, null, '', 5, {}, [], 'a b', 'a\nb', 'é', '\u0000', 'x'.repeat(256)];
const WRONG_TYPES = [
  '',
  'JWT',
  'jwt',
  'at+jwt ',
  'id_token+jwt',
  'dpop+jwt',
  'at+jwt;x=y',
  5,
  null,
  ['at+jwt'],
];

describe('a token of a service account', () => {
  test('is taken, and whatever somebody without the key makes of it is not', async () => {
    const token = await ownToken(keys[0]);
    expect([await use(token.token), await use(token.other)]).toEqual(['accepted', 'accepted']);
    await expectRefused(await forgeriesOf(token), use, TOKEN_CODES);
    expect(await use(token.token)).toBe('accepted');
  });

  test('is not taken, though signed with the key, when made for something else or out of its time', async () => {
    const wrong = {
      header: {
        ...WRONG_HEADERS,
        kid: [...WRONG_HEADERS.kid, keys[1].kid],
        typ: [undefined, 'AT+JWT', 'application/at+jwt', ...WRONG_TYPES],
      },
      claims: {
        ...wrongTimes(at()),
        iss: wrongIssuers(ISSUER),
        aud: WRONG_AUDIENCES,
        sub: [
          ...WRONG_SUBJECTS,
          account.id,
          `sa:${account.id.toUpperCase()}`,
          `sa:${account.id} `,
          `user:${account.id}`,
          'sa:',
          'sa:../x',
          `sa:sa:${account.id}`,
        ],
      },
    };
    await expectRefused(await misusesOf(await ownToken(keys[0]), wrong), use, TOKEN_CODES);
  });

  test('is not taken of a key that was rotated out, nor of one key in the name of the other', async () => {
    const forgeries: Forgery[] = [];
    for (let count = 0; count < 10; count += 1) {
      forgeries.push({ how: 'rotated out', token: (await ownToken(keys[1])).token });
      forgeries.push({
        how: 'in the name of the other',
        token: (await ownToken(keys[1], keys[0].kid)).token,
      });
    }
    await expectRefused(forgeries, use, TOKEN_CODES);
  });
});

describe('a token of a person', () => {
  test.each(['standard', 'cognito'] as const)(
    'of a %s issuer is taken, and nothing made of it is',
    async (kind) => {
      const issuer = kind === 'standard' ? people : cognito;
      const key = issuer.privateKey();
      const token = await personToken(issuer, kind === 'standard' ? es256(key) : rs256(key));
      expect([await use(token.token), await use(token.other)]).toEqual(['accepted', 'accepted']);
      await expectRefused(await forgeriesOf(token), use, TOKEN_CODES);
      const wrong = {
        header: {
          ...WRONG_HEADERS,
          typ: kind === 'standard' ? [undefined, ...WRONG_TYPES] : ['at+jwt', ...WRONG_TYPES],
        },
        claims: {
          ...wrongTimes(at()),
          iss: [
            ...wrongIssuers(issuer.config.issuer),
            ISSUER,
            (kind === 'standard' ? cognito : people).config.issuer,
          ],
          sub: WRONG_SUBJECTS,
          [kind === 'standard' ? 'aud' : 'client_id']: WRONG_AUDIENCES,
          token_use: ['id', '', null, 5, ['access']],
        },
      };
      await expectRefused(await misusesOf(token, wrong), use, TOKEN_CODES);
    },
  );
});

describe('an assertion', () => {
  test('gives a token once, and whatever somebody without the key makes of it gives none', async () => {
    const assertion = await assertionOf(account);
    const before = await countRecords();
    await expectRefused(await forgeriesOf(assertion), present, ['auth.assertion_refused']);
    expect(await countRecords()).toBe(before);
    expect([await present(assertion.token), await present(assertion.other)]).toEqual([
      'accepted',
      'accepted',
    ]);
    const replays = Array.from({ length: 60 }, (_, count) => ({
      how: 'replayed',
      token: count % 2 ? assertion.token : assertion.other,
    }));
    await expectRefused(replays, present, ['auth.assertion_refused']);
  });

  test('gives none, though signed with the key, when made for something else or out of its time', async () => {
    const { id } = account;
    const stranger = await create('stranger');
    const wrong = {
      header: {
        ...WRONG_HEADERS,
        kid: [...WRONG_HEADERS.kid, stranger.key_id],
        typ: ['', 'at+jwt', 'jwt ', 'secevent+jwt', 5, null, ['JWT']],
      },
      claims: {
        ...wrongTimes(at()),
        exp: [...(wrongTimes(at())['exp'] ?? []), at() + 331, at() + 900],
        iss: [...wrongIssuers(id), stranger.id, `sa:${id}`],
        sub: [...WRONG_SUBJECTS, stranger.id, `sa:${id}`, id.toUpperCase(), [id]],
        aud: [
          ...WRONG_AUDIENCES,
          'urn:gpuaas:api',
          `${ISSUER}/`,
          `${ISSUER}/api/v1/me`,
          [ISSUER, 'https://evil.example'],
          [ISSUER, ISSUER],
          [[ISSUER]],
        ],
        jti: [undefined, null, '', 5, {}, [], ['x'], true, 'x'.repeat(257), ENDLESS],
      },
    };
    const before = await countRecords();
    await expectRefused(await misusesOf(await assertionOf(account), wrong), present, [
      'auth.assertion_refused',
    ]);
    expect(await countRecords()).toBe(before);
  });

  test('gives none with a key whose time is over, nor for an account that is disabled or was never there', async () => {
    const ended = await create('ended');
    await world.call(rotateServiceAccountKey, {
      params: { service_account_id: ended.id },
      body: { overlap_seconds: 60 },
    });
    const disabled = await create('disabled');
    await world.call(disableServiceAccount, { params: { service_account_id: disabled.id } });
    world.pass(60);
    const absent = { ...account, id: '0199ffff-0000-7000-8000-000000000000' };
    const forgeries: Forgery[] = [];
    for (let count = 0; count < 40; count += 1) {
      forgeries.push({ how: 'key ended', token: (await assertionOf(ended)).token });
      forgeries.push({ how: 'disabled', token: (await assertionOf(disabled)).token });
      forgeries.push({ how: 'absent', token: (await assertionOf(absent)).token });
    }
    await expectRefused(forgeries, present, ['auth.assertion_refused']);
  });

  test('over its size is not even looked at', async () => {
    const { header, claims, sign } = await assertionOf(account);
    const huge = await compose(header, { ...claims, more: 'x'.repeat(8_000) }, sign);
    expect(await present(huge)).toBe('request.invalid');
    const token = await ownToken(keys[0]);
    expect(
      await use(await compose(token.header, { ...token.claims, more: 'x'.repeat(8_000) }, token.sign)),
    ).toBe('auth.invalid');
  });
});

test('no fewer than 5,000 were tried', () => {
  expect(tried.size).toBeGreaterThan(5_000);
});

async function countRecords(): Promise<number> {
  return (await world.items('AUDIT#')).length + (await world.items('JTI#')).length;
}
