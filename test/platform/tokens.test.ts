import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { openTokenIssuer, type TokenIssuer } from './token-issuer.ts';

const now = new Date('2026-11-20T12:00:00.000Z');
const at = Math.floor(now.getTime() / 1000);

let people: TokenIssuer;
let cognito: TokenIssuer;
/** Tells no addresses. */
let silent: TokenIssuer;
let verify: (authorization: string | undefined) => Promise<object>;
let userIdOf: (issuer: string, subject: string) => string;

beforeAll(async () => {
  people = await openTokenIssuer();
  cognito = await openTokenIssuer('cognito');
  silent = await openTokenIssuer();
  process.env['OIDC_ISSUERS'] = JSON.stringify([
    people.config,
    cognito.config,
    { ...silent.config, tells_email: false },
  ]);
  process.env['TOKEN_ISSUER'] = 'https://api.example.test';
});

afterAll(() => {
  people.close();
  cognito.close();
  silent.close();
});

/** As in a function that has just started. */
beforeEach(async () => {
  vi.resetModules();
  const tokens = await import('../../functions/platform/auth/tokens.ts');
  const noKey = () => Promise.resolve(undefined);
  verify = async (authorization) => tokens.verifyToken(tokens.readToken(authorization), now, noKey);
  userIdOf = tokens.userIdOf;
  people.answer('keys');
});

const sign = (
  issuer: TokenIssuer,
  claims: Record<string, unknown> = {},
  header: Record<string, unknown> = {},
) => issuer.sign({ ...issuer.claims(now), ...claims }, { ...issuer.header(), ...header });

async function codeOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'no refusal',
    (error: { code?: string }) => error.code ?? error,
  );
}

describe('a person', () => {
  test('is the same user whenever they come', async () => {
    const user = {
      kind: 'user',
      id: userIdOf(people.config.issuer, 'a-person'),
      subject: 'a-person',
      withoutEmail: 'missing',
    };
    expect(await verify(`Bearer ${await sign(people)}`)).toEqual(user);
    expect(await verify(`bearer  ${await sign(people, { iat: at - 20 })}`)).toEqual(user);
    expect(user.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/);
  });

  test('is somebody else at another issuer', async () => {
    const subject = 'a-person';
    expect(userIdOf(cognito.config.issuer, subject)).not.toBe(userIdOf(people.config.issuer, subject));
    expect(await verify(`Bearer ${await sign(cognito)}`)).toMatchObject({
      id: userIdOf(cognito.config.issuer, subject),
    });
  });

  const email = 'a@example.com';
  test.each([
    ['one of theirs', { email, email_verified: true }, { email }],
    ['none', {}, { withoutEmail: 'missing' }],
    ['none, though it is verified', { email_verified: true }, { withoutEmail: 'missing' }],
    ['none where nobody has one', {}, { withoutEmail: 'untold' }, 'silent'],
    ['one of theirs where few have one', { email, email_verified: true }, { email }, 'silent'],
    ['one anybody could type in', { email }, { withoutEmail: 'unverified' }],
    ['one anybody could type in, where few have one', { email }, { withoutEmail: 'unverified' }, 'silent'],
    ['one that is not verified', { email, email_verified: false }, { withoutEmail: 'unverified' }],
    ['one whose verification is text', { email, email_verified: 'true' }, { withoutEmail: 'unverified' }],
    ['no address', { email: 'x', email_verified: true }, { withoutEmail: 'unreadable' }],
    ['an empty one', { email: '', email_verified: true }, { withoutEmail: 'unreadable' }],
    ['no text', { email: [email], email_verified: true }, { withoutEmail: 'unreadable' }],
    ['null', { email: null, email_verified: true }, { withoutEmail: 'unreadable' }, 'silent'],
    ['two', { email: `${email},b@example.com`, email_verified: true }, { withoutEmail: 'unreadable' }],
    [
      'one too long',
      { email: `${'a'.repeat(243)}@example.com`, email_verified: true },
      { withoutEmail: 'unreadable' },
    ],
    // A Kelvin sign: written small it is the letter k.
    ['a look-alike', { email: '\u212aim@example.com', email_verified: true }, { withoutEmail: 'unreadable' }],
    ['a Cyrillic a', { email: '\u0430@example.com', email_verified: true }, { withoutEmail: 'unreadable' }],
  ])('whose token tells %s', async (_, claims, known, issuer = 'telling') => {
    const verified = await verify(`Bearer ${await sign(issuer === 'silent' ? silent : people, claims)}`);
    expect({ ...verified, kind: undefined, id: undefined, subject: undefined }).toEqual(known);
  });

  test('may come from a clock that is a little off', async () => {
    for (const claims of [{ exp: at - 29 }, { iat: at + 30 }, { nbf: at + 30 }]) {
      const iat = { iat: at - 100 };
      expect(await codeOf(verify(`Bearer ${await sign(people, { ...iat, ...claims })}`))).toBe('no refusal');
    }
  });
});

describe('the keys of an issuer', () => {
  test('are fetched once', async () => {
    const before = people.fetches();
    for (let count = 0; count < 5; count += 1) await verify(`Bearer ${await sign(people)}`);
    expect(people.fetches() - before).toBe(1);
  });

  test('are asked for again for an unknown key, but not for every token that names one', async () => {
    await verify(`Bearer ${await sign(people)}`);
    const before = people.fetches();
    for (let count = 0; count < 5; count += 1) {
      expect(await codeOf(verify(`Bearer ${await sign(people, {}, { kid: `made-up-${count}` })}`))).toBe(
        'auth.invalid',
      );
    }
    expect(people.fetches()).toBe(before);
    const later = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 31_000);
    people.replaceKey();
    expect(await codeOf(verify(`Bearer ${await sign(people)}`))).toBe('no refusal');
    expect(people.fetches() - before).toBe(1);
    later.mockRestore();
  });

  test.each(['an error', 'nonsense', 'too much', 'elsewhere', 'never'] as const)(
    'are missing when it answers %s: that is no fault of the token',
    async (way) => {
      people.answer(way);
      expect(await codeOf(verify(`Bearer ${await sign(people)}`))).toBe('unavailable');
      people.answer('keys');
      expect(await codeOf(verify(`Bearer ${await sign(people)}`))).toBe('no refusal');
    },
  );

  test('are not asked for a token that is refused anyway', async () => {
    const before = people.fetches();
    const claims = people.claims(now);
    const header = { ...people.header(), jku: 'https://evil.example/keys' };
    for (const token of [
      await people.sign(claims, header),
      `${Buffer.from(JSON.stringify({ ...people.header(), alg: 'none' })).toString('base64url')}.e30.AA`,
      await sign(people, { iss: 'https://evil.example' }),
    ]) {
      expect(await codeOf(verify(`Bearer ${token}`))).toBe('auth.invalid');
    }
    expect(people.fetches()).toBe(before);
  });
});

test.each([undefined, '', 'Bearer', 'Bearer ', 'Basic YTpi', 'token'])(
  '%j is no bearer token',
  async (header) => {
    expect(await codeOf(verify(header))).toBe('auth.missing');
  },
);

test.each([
  '[{"issuer":"x"}]',
  '{',
  '[{"issuer":"https://x.example","jwks_uri":"https://x.example/k","audience":"a","audience_claim":"aud","algorithms":["HS256"],"typ":null}]',
])('a configuration of %s is an error of ours, not of the token', async (text) => {
  const before = process.env['OIDC_ISSUERS'];
  process.env['OIDC_ISSUERS'] = text;
  expect(await codeOf(verify(`Bearer ${await sign(people)}`))).toBeInstanceOf(Error);
  process.env['OIDC_ISSUERS'] = before;
});
