// Forged and misused tokens, thousands of them, made of good ones by rule: the same tokens give the same forgeries.

import { constants, createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from 'node:crypto';

type Members = Record<string, unknown>;

/** A good token, and what it takes to make others like it. */
export interface Genuine {
  token: string;
  /** Another good token of the same kind. */
  other: string;
  header: Members;
  claims: Members;
  publicKey: KeyObject;
  sign: (input: string) => Promise<Buffer> | Buffer;
}

export interface Forgery {
  how: string;
  token: string;
}

const encode = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

export async function compose(header: unknown, claims: unknown, sign: Genuine['sign']): Promise<string> {
  const input = `${encode(header)}.${encode(claims)}`;
  return `${input}.${(await sign(input)).toString('base64url')}`;
}

export const es256 = (key: KeyObject) => (input: string) =>
  signBytes('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' });
export const rs256 = (key: KeyObject) => (input: string) => signBytes('sha256', Buffer.from(input), key);

/** What somebody without the key can make of a token they have seen. */
export async function forgeriesOf(genuine: Genuine): Promise<Forgery[]> {
  return [
    ...brokenText(genuine),
    ...swappedParts(genuine),
    ...otherSignatures(genuine),
    ...(await otherAlgorithms(genuine)),
    ...(await otherKeys(genuine)),
    ...changedMembers(genuine),
  ];
}

/** A token signed with the right key that is wrong all the same: made for something else, or out of its time. */
export async function misusesOf(
  { header, claims, sign }: Genuine,
  wrong: { header: Record<string, unknown[]>; claims: Record<string, unknown[]> },
): Promise<Forgery[]> {
  const misuses: Forgery[] = [];
  for (const [name, values] of Object.entries(wrong.header)) {
    for (const value of values) {
      misuses.push({
        how: `header ${name}: ${show(value)}`,
        token: await compose(join(header, name, value), claims, sign),
      });
    }
  }
  for (const [name, values] of Object.entries(wrong.claims)) {
    for (const value of values) {
      misuses.push({
        how: `claim ${name}: ${show(value)}`,
        token: await compose(header, join(claims, name, value), sign),
      });
    }
  }
  for (const payload of ['', '[]', 'null', '5', '"x"', '{', '{}', '\u0000', JSON.stringify([claims])]) {
    misuses.push({ how: `claims of ${payload}`, token: await compose(header, payload, sign) });
  }
  for (const text of ['', '[]', 'null', '5', '"x"', '{', '{}', JSON.stringify([header])]) {
    misuses.push({ how: `a header of ${text}`, token: await compose(text, claims, sign) });
  }
  return misuses;
}

/** A number JSON can say and a clock cannot. */
export const ENDLESS = Symbol('1e999');

export const WRONG_HEADERS = {
  jku: ['https://evil.example/jwks.json', '', 5],
  x5u: ['https://evil.example/cert.pem'],
  x5c: [['MIIB'], []],
  jwk: [{ kty: 'EC' }, {}, null],
  crit: [['exp'], ['b64'], ['jku'], [], 'exp', null],
  kid: [
    undefined,
    null,
    '',
    5,
    [],
    {},
    'x',
    '../../../../dev/null',
    'https://evil.example/key',
    "' OR 1=1 --",
    '__proto__',
    'constructor',
    'x'.repeat(300),
  ],
  alg: [
    undefined,
    null,
    '',
    'none',
    'HS256',
    'ES384',
    'ES256K',
    'RS384',
    'PS512',
    'es256',
    'rs256',
    ['ES256'],
    5,
  ],
} satisfies Record<string, unknown[]>;

/** Wrong in any token; each kind adds its own. */
export function wrongTimes(at: number): Record<string, unknown[]> {
  return {
    exp: [
      undefined,
      null,
      '',
      String(at + 60),
      at - 31,
      at - 86_400,
      0,
      -1,
      ENDLESS,
      {},
      [],
      true,
      at + 90_000,
    ],
    iat: [undefined, null, '', String(at), at + 31, at + 3_600, ENDLESS, {}, [at], false],
    nbf: [null, '', String(at), at + 31, at + 3_600, ENDLESS, {}, [at], true],
  };
}

function join(members: Members, name: string, value: unknown): unknown {
  if (value !== ENDLESS) return { ...members, [name]: value };
  return JSON.stringify({ ...members, [name]: '(endless)' }).replace('"(endless)"', '1e999');
}

const show = (value: unknown): string =>
  typeof value === 'symbol' ? String(value) : (JSON.stringify(value) ?? 'none').slice(0, 60);

function brokenText({ token }: Genuine): Forgery[] {
  const next = random(token.length);
  const signature = token.lastIndexOf('.') + 1;
  const broken: Forgery[] = [];
  const add = (how: string, text: string) => broken.push({ how, token: text });
  for (let length = 0; length < token.length; length += 3) add(`cut to ${length}`, token.slice(0, length));
  for (let start = 1; start < token.length; start += 5) add(`from ${start}`, token.slice(start));
  for (let index = 0; index < token.length; index += 2)
    add(`a bit of character ${index}`, flip(token, index, next(7)));
  for (let index = token.length - 86; index < token.length; index += 1) {
    for (const bit of [0, 1, 2, 3, 4, 5])
      add(`bit ${bit} of the signature's ${index}`, respell(token, index, bit));
  }
  for (let count = 0; count < 30; count += 1) {
    const index = next(token.length);
    add(`without ${index}`, token.slice(0, index) + token.slice(index + 1));
    add(`${index} twice`, token.slice(0, index + 1) + token.slice(index));
    add(
      `reordered at ${index}`,
      token.slice(0, index) + backwards(token.slice(index, index + 4)) + token.slice(index + 4),
    );
  }
  for (const more of [
    '.',
    '..',
    '.x',
    '=',
    '==',
    'A',
    'AAAA',
    ' ',
    '\t',
    '%2e',
    '\u0000',
    'é',
    '𝔸',
    '\u202e',
    '\ud800',
    ',',
    ';',
    `.${token}`,
    ` ${token}`,
    'x'.repeat(7_000),
  ]) {
    add(`with ${show(more)} after`, token + more);
    // RFC 9110 §11.4 lets several blanks stand before it.
    if (more !== ' ') add(`with ${show(more)} before`, more + token);
    add(`with ${show(more)} before the signature`, token.slice(0, signature) + more + token.slice(signature));
    add(`with ${show(more)} for a dot`, token.replace('.', more));
  }
  for (const text of [
    '',
    '.',
    '..',
    '...',
    'null',
    'undefined',
    '{}',
    '[object Object]',
    'a.b.c',
    'e30.e30.',
    'e30.e30.AA',
    'x'.repeat(8_000),
  ])
    add('nothing like it', text);
  add('in capitals', token.toUpperCase());
  add('in small letters', token.toLowerCase());
  add('backwards', backwards(token));
  add('encoded again', encode(token));
  add('quoted', JSON.stringify(token));
  return broken.filter((forgery) => forgery.token !== token);
}

function swappedParts({ token, other }: Genuine): Forgery[] {
  const parts = [token.split('.'), other.split('.')] as [string[], string[]];
  const choices = [1, 2, 3, 4, 5, 6].map((bits) =>
    [0, 1, 2].map((part) => parts[(bits >> part) & 1]?.[part]).join('.'),
  );
  const [header, claims, signature] = parts[0] as [string, string, string];
  const orders = [
    [claims, header, signature],
    [signature, claims, header],
    [header, header, signature],
    [claims, claims, signature],
    [header, claims, header],
    [header, signature, claims],
  ];
  return [...choices, ...orders.map((order) => order.join('.'))]
    .filter((each) => each !== token && each !== other)
    .map((each) => ({ how: 'parts of two', token: each }));
}

function otherSignatures({ token }: Genuine): Forgery[] {
  const input = token.slice(0, token.lastIndexOf('.'));
  const genuine = Buffer.from(token.slice(input.length + 1), 'base64url');
  const order = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');
  const one = Buffer.concat([Buffer.alloc(31), Buffer.from([1])]);
  const half = genuine.subarray(0, 32);
  const zero = Buffer.alloc(32);
  const signatures = {
    'of nothing': Buffer.alloc(0),
    'of zeros': Buffer.alloc(genuine.length),
    'of ones': Buffer.alloc(genuine.length, 255),
    'r = 0': Buffer.concat([zero, genuine.subarray(32)]),
    's = 0': Buffer.concat([half, zero]),
    'r = s = n': Buffer.concat([order, order]),
    's = n': Buffer.concat([half, order]),
    'r = s = 1': Buffer.concat([one, one]),
    'halves swapped': Buffer.concat([genuine.subarray(32), half]),
    'in DER': Buffer.concat([
      Buffer.from([0x30, 0x44, 2, 32]),
      half,
      Buffer.from([2, 32]),
      genuine.subarray(32),
    ]),
    twice: Buffer.concat([genuine, genuine]),
    'with a zero before': Buffer.concat([Buffer.alloc(1), genuine]),
    'with a zero after': Buffer.concat([genuine, Buffer.alloc(1)]),
    short: genuine.subarray(1),
  };
  return Object.entries(signatures).map(([how, bytes]) => ({
    how: `a signature ${how}`,
    token: `${input}.${bytes.toString('base64url')}`,
  }));
}

async function otherAlgorithms({ header, claims, publicKey, token }: Genuine): Promise<Forgery[]> {
  const forged: Forgery[] = [];
  const kept = Buffer.from(token.slice(token.lastIndexOf('.') + 1), 'base64url');
  for (const alg of [
    'none',
    'None',
    'NONE',
    'nOnE',
    'none ',
    '',
    'null',
    'ES384',
    'ES512',
    'ES256K',
    'RS256',
    'PS256',
    'EdDSA',
    'Ed25519',
    'HS256',
    'dir',
    'A128KW',
  ]) {
    for (const signature of [Buffer.alloc(0), Buffer.from([0]), kept]) {
      const made = await compose({ ...header, alg }, claims, () => signature);
      if (made !== token) forged.push({ how: `alg ${alg}`, token: made });
    }
  }
  const jwk = publicKey.export({ format: 'jwk' });
  const pem = publicKey.export({ format: 'pem', type: 'spki' }) as string;
  const secrets = [
    pem,
    pem.trim(),
    pem.replaceAll('\n', ''),
    publicKey.export({ format: 'der', type: 'spki' }),
    JSON.stringify(jwk),
    String(jwk.x ?? jwk.n),
    Buffer.from(String(jwk.x ?? jwk.n), 'base64url'),
    String(header['kid']),
    '',
    'secret',
  ];
  for (const secret of secrets) {
    for (const bits of [256, 384, 512]) {
      const sign = (input: string) => createHmac(`sha${bits}`, secret).update(input).digest();
      forged.push({
        how: `HS${bits} with the public key`,
        token: await compose({ ...header, alg: `HS${bits}` }, claims, sign),
      });
    }
  }
  return forged;
}

const evil = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  ES384: generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EdDSA: generateKeyPairSync('ed25519'),
};

function evilSign(alg: keyof typeof evil): Genuine['sign'] {
  const key = evil[alg].privateKey;
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return (input) => {
    const bytes = Buffer.from(input);
    if (alg === 'ES256') return es256(key)(input);
    if (alg === 'ES384') return signBytes('sha384', bytes, { key, dsaEncoding: 'ieee-p1363' });
    return alg === 'EdDSA'
      ? signBytes(null, bytes, key)
      : signBytes('sha256', bytes, alg === 'PS256' ? { key, ...pss } : key);
  };
}

/** Signed well, with a key of the forger's own, and every way to make somebody believe that key. */
async function otherKeys({ header, claims }: Genuine): Promise<Forgery[]> {
  const forged: Forgery[] = [];
  for (const alg of Object.keys(evil) as (keyof typeof evil)[]) {
    const jwk = evil[alg].publicKey.export({ format: 'jwk' });
    const der = evil[alg].publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    const tricks: Members[] = [
      {},
      { jwk },
      { jwk: { ...jwk, kid: header['kid'] } },
      { jku: 'https://evil.example/jwks.json' },
      { jku: 'http://127.0.0.1:1/jwks.json' },
      { x5u: 'https://evil.example/cert.pem' },
      { x5c: [der] },
      { x5t: 'x' },
      { crit: ['exp'] },
      { crit: ['b64'], b64: true },
      { crit: ['b64'], b64: false },
      ...WRONG_HEADERS.kid.map((kid) => ({ kid })),
      { kid: JSON.stringify(jwk) },
      { kid: 'data:application/json;base64,e30' },
      { kid: 'file:///proc/self/environ' },
      { kid: `${String(header['kid'])}\u0000` },
      { kid: `${String(header['kid'])} ` },
      { kid: [header['kid']] },
    ];
    for (const trick of tricks) {
      forged.push({
        how: `${alg} with ${show(trick)}`,
        token: await compose({ ...header, alg, ...trick }, claims, evilSign(alg)),
      });
    }
  }
  return forged;
}

/** With the signature of the good one. */
function changedMembers({ header, claims, token }: Genuine): Forgery[] {
  const signature = token.slice(token.lastIndexOf('.') + 1);
  const values = [
    undefined,
    null,
    '',
    'x',
    0,
    -1,
    9_999_999_999,
    true,
    [],
    {},
    ['x'],
    '0199ffff-0000-7000-8000-000000000000',
    '__proto__',
    '\u0000',
    'é',
  ];
  const forged: Forgery[] = [];
  for (const name of [...Object.keys(claims), 'nbf', 'role', 'scope', '__proto__']) {
    for (const value of values) {
      forged.push({
        how: `claim ${name} made ${show(value)}`,
        token: `${encode(header)}.${encode({ ...claims, [name]: value })}.${signature}`,
      });
    }
  }
  for (const name of [...Object.keys(header), 'cty', 'zip', 'enc', 'b64']) {
    for (const value of values) {
      forged.push({
        how: `header ${name} made ${show(value)}`,
        token: `${encode({ ...header, [name]: value })}.${encode(claims)}.${signature}`,
      });
    }
  }
  return forged.filter((each) => each.token !== token);
}

const backwards = (text: string): string => text.split('').toReversed().join('');

function flip(text: string, index: number, bit: number): string {
  return (
    text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ (1 << bit)) + text.slice(index + 1)
  );
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** The character that stands for the same six bits, but for one. */
function respell(text: string, index: number, bit: number): string {
  const value = ALPHABET.indexOf(text.charAt(index)) ^ (1 << bit);
  return text.slice(0, index) + ALPHABET.charAt(value) + text.slice(index + 1);
}

/** mulberry32: the same numbers every time. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
