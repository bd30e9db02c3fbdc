import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, importPKCS8, SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { createServiceAccount } from '../../functions/identity/create-service-account.ts';
import { deleteServiceAccount } from '../../functions/identity/delete-service-account.ts';
import { disableServiceAccount } from '../../functions/identity/disable-service-account.ts';
import { enableServiceAccount } from '../../functions/identity/enable-service-account.ts';
import { mintToken } from '../../functions/identity/mint-token.ts';
import { rotateServiceAccountKey } from '../../functions/identity/rotate-service-account-key.ts';
import { readTtl } from '../../functions/identity/token.ts';
import { authorize } from '../../functions/platform/auth/authorize.ts';
import { problemOf } from '../../functions/platform/http/problem.ts';
import {
  type Answer,
  codeOf,
  ISSUER,
  openSigningWorld,
  project,
  type SigningWorld,
} from './signing-world.ts';

interface Account {
  id: string;
  key_id: string;
  private_key_pem: string;
}

let world: SigningWorld;
let account: Account;
let made = 0;

beforeAll(async () => {
  world = await openSigningWorld();
  account = await create();
});

afterAll(async () => {
  await world?.close();
});

// What authorization remembers of the test before has passed.
beforeEach(() => world.pass(60));

async function create(): Promise<Account> {
  const { body } = await world.call(createServiceAccount, {
    body: { name: 'x', slug: `minter-${(made += 1)}` },
  });
  return body as unknown as Account;
}

const seconds = () => Math.floor(world.clock.now.getTime() / 1000);

async function sign(
  claims: Record<string, unknown> = {},
  by: Account = account,
  header = {},
): Promise<string> {
  return new SignJWT({
    iss: by.id,
    sub: by.id,
    aud: ISSUER,
    iat: seconds(),
    exp: seconds() + 60,
    jti: randomUUID(),
    ...claims,
  })
    .setProtectedHeader({ alg: 'ES256', kid: by.key_id, ...header })
    .sign(await importPKCS8(by.private_key_pem, 'ES256'));
}

const anonymous = { project: undefined, actor: { kind: 'anonymous', id: 'anonymous' } } as const;
const mint = (body: unknown): Promise<Answer> => world.call(mintToken, { body, ctx: anonymous });
const quickstart = ({ id, key_id, private_key_pem }: Account = account) => ({
  service_account_id: id,
  key_id,
  private_key_pem,
});
const use = (token: string) =>
  codeOf(
    authorize(
      `Bearer ${token}`,
      'apps.instance.create',
      'POST /api/v1/projects/{project_id}/app-instances',
      { project_id: project.id },
      () => world.clock.now,
    ),
  );

describe('by assertion', () => {
  test('gives a token that lets the account act in its project, and in no other', async () => {
    const { status, headers, body } = await mint({ assertion: await sign() });
    expect(status).toBe(200);
    expect(headers).toEqual({});
    expect(body).toEqual({ access_token: expect.any(String), token_type: 'Bearer', expires_in: 900 });
    const token = body['access_token'] as string;
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: expect.any(String) });
    expect(decodeJwt(token)).toEqual({
      iss: ISSUER,
      sub: `sa:${account.id}`,
      aud: 'urn:gpuaas:api',
      iat: seconds(),
      exp: seconds() + 900,
      jti: expect.any(String),
      client_id: account.id,
      project_id: project.id,
      org_id: project.org_id,
    });
    expect(await use(token)).toBe('no refusal');
    world.pass(900 + 31);
    expect(await use(token)).toBe('auth.invalid');
  });

  test('is one read, one signature and one transaction when warm', async () => {
    await mint({ assertion: await sign() });
    const [requests, signatures] = [world.requests(), world.kmsRequests()];
    await mint({ assertion: await sign() });
    expect([world.requests() - requests, world.kmsRequests() - signatures]).toEqual([2, 1]);
  });

  test.each([
    ['the fields of RFC 7523', { grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer' }, {}, {}],
    ['a type', {}, {}, { typ: 'JWT' }],
    ['the address as audience', {}, { aud: `${ISSUER}/api/v1/auth/service-account/token` }, {}],
    ['the other address as audience', {}, { aud: [`${ISSUER}/api/v1/auth/sa/token`] }, {}],
  ])('takes %s', async (_, fields, claims, header) => {
    expect((await mint({ ...fields, assertion: await sign(claims, account, header) })).status).toBe(200);
  });

  test('takes a clock that is a little off, in either direction', async () => {
    const now = seconds();
    expect((await mint({ assertion: await sign({ iat: now + 25, exp: now + 325 }) })).status).toBe(200);
    expect((await mint({ assertion: await sign({ iat: now - 320, exp: now - 20 }) })).status).toBe(200);
  });

  test('an assertion is good once, also for callers that race', async () => {
    const assertion = await sign();
    const codes = await Promise.all(Array.from({ length: 6 }, () => codeOf(mint({ assertion }))));
    expect(codes.filter((code) => code === 'no refusal')).toHaveLength(1);
    expect(new Set(codes)).toEqual(new Set(['no refusal', 'auth.assertion_refused']));
    world.pass(30);
    expect(await codeOf(mint({ assertion }))).toBe('auth.assertion_refused');
    // Another assertion with its jti is the same to us; another account's is not.
    const { jti } = decodeJwt(assertion);
    expect(await codeOf(mint({ assertion: await sign({ jti }) }))).toBe('auth.assertion_refused');
    const other = await create();
    expect(await codeOf(mint({ assertion: await sign({ jti }, other) }))).toBe('no refusal');
  });

  test('what was used is forgotten only when it can no longer be presented', async () => {
    const other = await create();
    await mint({ assertion: await sign({ exp: seconds() + 300 }, other) });
    const [row] = await world.items(`JTI#${other.id}#`);
    expect(row?.['expires_at']).toBe(seconds() + 360);
  });

  test('leaves one audit row, whose actor is the account, and no event', async () => {
    const other = await create();
    await mint({ assertion: await sign({}, other) });
    const audit = await world.items(`AUDIT#${project.id}`);
    const rows = audit.filter((row) => row['actor'] === `service_account:${other.id}`);
    expect(rows).toMatchObject([
      {
        action: 'identity.token.issue',
        subject: `service_account:${other.id}`,
        org_id: project.org_id,
        project_id: project.id,
        after: { key_id: other.key_id, method: 'assertion' },
      },
    ]);
    expect(JSON.stringify(await world.items('OUTBOX#'))).not.toContain('identity.token');
  });
});

describe('by private key, as the quickstart shows', () => {
  test('gives a token, and says that this way is going', async () => {
    const { headers, body } = await mint(quickstart());
    expect(headers['deprecation']).toMatch(/^@\d{10}$/);
    expect(headers['link']).toBe(`<${ISSUER}/docs>; rel="deprecation"; type="text/html"`);
    expect(await use(body['access_token'] as string)).toBe('no refusal');
  });

  test('takes the raw newlines that the shell puts into the JSON', async () => {
    const raw = `{\n"service_account_id": "${account.id}",\n"key_id": "${account.key_id}",\n"private_key_pem": "${account.private_key_pem.trim()}"\n}`;
    expect((await mint(raw)).status).toBe(200);
  });

  const other = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).privateKey;
  const pem = (key: typeof other) => key.export({ format: 'pem', type: 'pkcs8' }) as string;

  test.each([
    ['another key', { private_key_pem: pem(other) }],
    ['an RSA key', { private_key_pem: pem(rsa) }],
    ['a key of another curve', { private_key_pem: pem(p384) }],
    ['no key', { private_key_pem: '' }],
    ['half a key', { private_key_pem: pem(other).slice(0, 90) }],
    ['another key id', { key_id: randomUUID() }],
    ['an unknown account', { service_account_id: randomUUID() }],
    ['an account that is no id', { service_account_id: '../\ud800' }],
  ])('refuses %s', async (_, more) => {
    expect(await codeOf(mint({ ...quickstart(), ...more }))).toBe('auth.assertion_refused');
  });
});

describe('the account', () => {
  test('disabled gets no token, and those it has stop within 5 seconds; enabled it goes on', async () => {
    const other = await create();
    const { body } = await mint({ assertion: await sign({}, other) });
    const token = body['access_token'] as string;
    expect(await use(token)).toBe('no refusal');
    const warm = world.requests();
    expect(await use(token)).toBe('no refusal');
    expect(world.requests()).toBe(warm);
    await world.call(disableServiceAccount, { params: { service_account_id: other.id } });
    expect(await codeOf(mint({ assertion: await sign({}, other) }))).toBe('auth.assertion_refused');
    expect(await codeOf(mint(quickstart(other)))).toBe('auth.assertion_refused');
    world.pass(5);
    expect(await use(token)).toBe('auth.revoked');
    await world.call(enableServiceAccount, { params: { service_account_id: other.id } });
    world.pass(5);
    expect(await use(token)).toBe('no refusal');
  });

  test('deleted is gone for its tokens too', async () => {
    const other = await create();
    const { body } = await mint({ assertion: await sign({}, other) });
    await world.call(deleteServiceAccount, { params: { service_account_id: other.id } });
    expect(await codeOf(mint({ assertion: await sign({}, other) }))).toBe('auth.assertion_refused');
    world.pass(5);
    expect(await use(body['access_token'] as string)).toBe('auth.revoked');
  });

  test('a key works until its overlap ends, the new one at once', async () => {
    const other = await create();
    const { body } = await world.call(rotateServiceAccountKey, {
      params: { service_account_id: other.id },
      body: { overlap_seconds: 120 },
    });
    const rotated = body as unknown as Account;
    expect(await codeOf(mint({ assertion: await sign({}, rotated) }))).toBe('no refusal');
    world.pass(119);
    expect(await codeOf(mint({ assertion: await sign({}, other) }))).toBe('no refusal');
    expect(await codeOf(mint(quickstart(other)))).toBe('no refusal');
    world.pass(1);
    expect(await codeOf(mint({ assertion: await sign({}, other) }))).toBe('auth.assertion_refused');
    expect(await codeOf(mint(quickstart(other)))).toBe('auth.assertion_refused');
    expect(await codeOf(mint({ assertion: await sign({}, rotated) }))).toBe('no refusal');
  });
});

test.each([
  ['nothing', {}],
  ['another grant', { grant_type: 'client_credentials', assertion: 'x' }],
  ['both ways at once', { assertion: 'x', service_account_id: 'x', key_id: 'x', private_key_pem: 'x' }],
  ['an assertion that is no text', { assertion: 5 }],
])('a request of %s is not valid', async (_, body) => {
  expect(await codeOf(mint(body))).toBe('request.invalid');
});

test.each(['0', '-1', '1.5', '3601', '86400', 'long', ''])(
  'a token is not made to last %j seconds',
  (text) => {
    expect(() => readTtl(text)).toThrow('1 to 3600 seconds');
  },
);

test('a private key shows nowhere: not in the log, not in the table, not in what is told of a failure', async () => {
  const other = await create();
  const secret = other.private_key_pem.split('\n')[1] as string;
  const written: string[] = [];
  const stdout = vi
    .spyOn(process.stdout, 'write')
    .mockImplementation((text) => (written.push(String(text)), true));
  const stderr = vi
    .spyOn(process.stderr, 'write')
    .mockImplementation((text) => (written.push(String(text)), true));
  const failures: unknown[] = [];
  try {
    await mint(quickstart(other));
    for (const body of [
      { ...quickstart(other), key_id: randomUUID() },
      { ...quickstart(other), private_key_pem: other.private_key_pem.slice(0, -40) },
      { ...quickstart(other), private_key_pem: other.private_key_pem.repeat(30) },
      { ...quickstart(other), [other.private_key_pem]: 1 },
      { assertion: other.private_key_pem },
      `{"private_key_pem": "${other.private_key_pem}", `,
    ]) {
      await mint(body).catch((error: unknown) => failures.push(error));
    }
  } finally {
    stdout.mockRestore();
    stderr.mockRestore();
  }
  expect(failures).toHaveLength(6);
  const told = failures.map((failure) => JSON.stringify(problemOf(failure, 'test')));
  const kept = JSON.stringify(await world.items(''));
  for (const text of [...written, ...told, kept]) expect(text).not.toContain(secret);
});
