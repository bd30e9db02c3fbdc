// Signatures that are wrong in their bytes, their header, their payload or their form.

import { createHmac, createPublicKey } from 'node:crypto';
import type { TrustFault } from '../../functions/trust/verification.ts';
import {
  ask,
  draftEnvelope,
  type Draft,
  EXPIRY,
  flip,
  goodHeader,
  goodPayload,
  type Kit,
  kitOf,
  makeKits,
  type Mutation,
  places,
  publicPem,
  random,
  SCHEME,
  signAs,
  SIGNED_AT,
} from './admission-kit.ts';

export function envelopeMutations(): Mutation[] {
  return [
    ...makeKits().flatMap((kit) => [
      ...flippedBits(kit),
      ...brokenText(kit),
      ...otherAlgorithms(kit),
      ...swapped(kit),
    ]),
    ...[kitOf('P-256'), kitOf('RSA-2048')].flatMap((kit) => [
      ...otherHeaders(kit),
      ...otherPayloads(kit),
      ...otherForms(kit),
      ...otherTimes(kit),
    ]),
  ];
}

type Parts = Record<'payload' | 'protected' | 'signature', string> & { header: { x5c: string[] } };

const partsOf = (envelope: Buffer): Parts => JSON.parse(envelope.toString()) as Parts;

const drafted = (
  kit: Kit,
  how: string,
  draft: Partial<Draft> | ((payload: ReturnType<typeof goodPayload>) => Partial<Draft>),
  ...expects: TrustFault[]
): Mutation => ({
  how: `${kit.keyType}: ${how}`,
  ...(expects.length > 0 && { expects }),
  make: (descriptor) =>
    ask(
      kit,
      descriptor,
      draftEnvelope(kit, descriptor, typeof draft === 'function' ? draft(goodPayload(descriptor)) : draft),
    ),
});

/** A bit of what is signed, of the signature, and of every certificate; nothing is signed again. */
function flippedBits(kit: Kit): Mutation[] {
  const next = random(kit.keyType.length + 11);
  const member = (name: 'payload' | 'protected' | 'signature', count: number, ...expects: TrustFault[]) =>
    Array.from({ length: count }, (_, index): Mutation => {
      const bit = next(8);
      return drafted(
        kit,
        `bit ${bit} of ${name} at ${index} of ${count}`,
        {
          finish: (envelope) => {
            const bytes = Buffer.from(String(envelope[name]), 'base64url');
            const place = places(bytes.length, count)[index % bytes.length] ?? 0;
            return { ...envelope, [name]: flip(bytes, place, bit).toString('base64url') };
          },
        },
        ...expects,
      );
    });
  const certificates = kit.chain.flatMap((certificate, which) =>
    places(certificate.length, 40).map((place) => {
      const bit = next(8);
      const chain = kit.chain.with(which, flip(certificate, place, bit));
      return drafted(kit, `bit ${bit} of certificate ${which} at ${place}`, {
        chain: chain.map((each) => each.toString('base64')),
      });
    }),
  );
  return [
    ...member('payload', 40, 'signature.bytes'),
    ...member('protected', 60),
    ...member('signature', 64, 'signature.bytes'),
    ...certificates,
  ];
}

function brokenText(kit: Kit): Mutation[] {
  const text = (how: string, change: (envelope: string) => string): Mutation =>
    drafted(
      kit,
      how,
      { finish: (envelope) => change(JSON.stringify(envelope)) || ' ' },
      'signature.malformed',
    );
  return [
    ...places(100, 25).map((percent) =>
      text(`cut at ${percent}%`, (envelope) =>
        envelope.slice(0, Math.floor((envelope.length * percent) / 100)),
      ),
    ),
    ...places(100, 8).map((percent) =>
      text(`from ${percent + 1}%`, (envelope) =>
        envelope.slice(Math.ceil((envelope.length * (percent + 1)) / 100)),
      ),
    ),
    text('twice', (envelope) => envelope + envelope),
    text('with more after', (envelope) => `${envelope}{}`),
    text('with a mark of byte order', (envelope) => `\ufeff${envelope}`),
    text('in a list', (envelope) => `[${envelope}]`),
    text('in a string', (envelope) => JSON.stringify(envelope)),
    text('with a comma too many', (envelope) => envelope.replace(/\}$/, ',}')),
    text('with a comment', (envelope) => envelope.replace('{', '{/**/')),
    text('in single quotes', (envelope) => envelope.replaceAll('"', "'")),
    ...['payload', 'protected', 'signature'].flatMap((name) =>
      ['=', '==', ' ', '\\n', '.', '+/', '\\u0000'].map((more) =>
        text(`${name} with ${more} after`, (envelope) =>
          envelope.replace(new RegExp(`("${name}":"[^"]*)"`), (_, member: string) => `${member}${more}"`),
        ),
      ),
    ),
    ...['payload', 'protected', 'signature', 'header'].map((name) =>
      text(`${name} twice`, (envelope) => envelope.replace('{', `{"${name}":"",`)),
    ),
    text('payload twice, spelled otherwise', (envelope) =>
      envelope.replace('{', String.raw`{"p\u0061yload":"e30",`),
    ),
    text('x5c twice', (envelope) => envelope.replace('"x5c":', '"x5c":[],"x5c":')),
    ...[
      'signatures',
      'jwk',
      'kid',
      '',
      'x5c',
      'Payload',
      '__proto__',
      'constructor',
      'toString',
      'prototype',
    ].map((name) => text(`a member ${name} outside`, (envelope) => envelope.replace('{', `{"${name}":[],`))),
    ...[
      'alg',
      'jwk',
      'jku',
      'x5u',
      'kid',
      'crit',
      'x5t#S256',
      SCHEME,
      EXPIRY,
      '__proto__',
      'constructor',
    ].map((name) =>
      text(`an unprotected ${name}`, (envelope) => envelope.replace('"x5c":', `"${name}":"ES256","x5c":`)),
    ),
  ];
}

const ALGORITHMS = ['ES256', 'ES384', 'ES512', 'PS256', 'PS384', 'PS512'];
const WEAKER = [
  'none',
  'None',
  '',
  'ES256K',
  'EdDSA',
  'Ed25519',
  'RS256',
  'RS384',
  'RS512',
  'HS384',
  'HS512',
  'dir',
];

/** The header names another algorithm, and the signature follows it where it can. */
function otherAlgorithms(kit: Kit): Mutation[] {
  const { algorithm, signer } = kit;
  const header = (alg: unknown) => ({ ...goodHeader(kit), alg });
  const pem = publicPem(signer.privateKey);
  const der = createPublicKey(signer.privateKey).export({ type: 'spki', format: 'der' });
  const secrets: [string, string | Buffer][] = [
    ['PEM', pem],
    ['trimmed PEM', pem.trim()],
    ['DER', der],
    ['certificate', signer.certificate],
    ['nothing', ''],
  ];
  const same = (kind: string): boolean => kind.slice(0, 2) === algorithm.slice(0, 2);
  return [
    ...[...ALGORITHMS, ...WEAKER, algorithm.toLowerCase()]
      .filter((alg) => alg !== algorithm)
      .map((alg) =>
        drafted(kit, `alg ${alg}, signed as before`, { header: header(alg) }, 'signature.algorithm'),
      ),
    ...ALGORITHMS.filter((alg) => alg !== algorithm && same(alg)).map((alg) =>
      drafted(
        kit,
        `alg ${alg}, and signed so`,
        { header: header(alg), sign: (input) => signAs(alg, signer.privateKey, input) },
        'signature.algorithm',
      ),
    ),
    ...ALGORITHMS.filter((alg) => alg !== algorithm && same(alg)).map((alg) =>
      drafted(
        kit,
        `signed as ${alg}, alg as before`,
        { sign: (input) => signAs(alg, signer.privateKey, input) },
        'signature.bytes',
      ),
    ),
    ...(algorithm.startsWith('PS')
      ? ['256', '384', '512'].map((bits) =>
          drafted(
            kit,
            `alg RS${bits}, and signed so`,
            { header: header(`RS${bits}`), sign: (input) => signAs(`RS${bits}`, signer.privateKey, input) },
            'signature.algorithm',
          ),
        )
      : []),
    ...secrets.map(([what, secret]) =>
      drafted(
        kit,
        `HS256 with the ${what} as secret`,
        { header: header('HS256'), sign: (input) => createHmac('sha256', secret).update(input).digest() },
        'signature.algorithm',
      ),
    ),
    drafted(
      kit,
      'alg none without a signature',
      { header: header('none'), sign: () => Buffer.alloc(0) },
      'signature.algorithm',
    ),
    drafted(kit, 'no signature', { sign: () => Buffer.alloc(0) }, 'signature.bytes'),
    ...[1, 32, 64, 96, 132, 256, 384, 512].map((length) =>
      drafted(kit, `a signature of ${length} zeros`, { sign: () => Buffer.alloc(length) }, 'signature.bytes'),
    ),
    ...[1, 32, 64, 512].map((length) =>
      drafted(
        kit,
        `a signature of ${length} ones`,
        { sign: () => Buffer.alloc(length, 0xff) },
        'signature.bytes',
      ),
    ),
    ...[null, 5, true, ['ES256'], {}].map((alg) =>
      drafted(kit, `alg ${JSON.stringify(alg)}`, { header: header(alg) }, 'signature.malformed'),
    ),
  ];
}

/** Parts of two good envelopes of which each holds by itself. */
function swapped(kit: Kit): Mutation[] {
  const other = makeKits().find(({ keyType }) => keyType !== kit.keyType) ?? kit;
  const elsewhere = { mediaType: 'a/b', digest: `sha256:${'0'.repeat(64)}`, size: 1 };
  const mixed = (
    how: string,
    mix: (own: Parts, foreign: Parts) => unknown,
    from: Kit,
    sameTarget: boolean,
    ...expects: TrustFault[]
  ): Mutation => ({
    how: `${kit.keyType}: ${how}`,
    expects,
    make: (descriptor) => {
      const own = partsOf(draftEnvelope(kit, descriptor));
      const foreign = partsOf(draftEnvelope(from, sameTarget ? descriptor : elsewhere));
      return ask(kit, descriptor, Buffer.from(JSON.stringify(mix(own, foreign))));
    },
  });
  return [
    mixed(
      'payload of another envelope',
      (own, { payload }) => ({ ...own, payload }),
      kit,
      false,
      'signature.bytes',
    ),
    mixed(
      'signature of another envelope',
      (own, { signature }) => ({ ...own, signature }),
      kit,
      false,
      'signature.bytes',
    ),
    mixed(
      'payload put into an envelope over something else',
      ({ payload }, foreign) => ({ ...foreign, payload }),
      kit,
      false,
      'signature.bytes',
    ),
    mixed('a whole envelope over something else', (_, foreign) => foreign, kit, false, 'signature.target'),
    mixed(
      "another signer's certificates",
      (own, { header }) => ({ ...own, header }),
      other,
      true,
      'signature.algorithm',
      'signature.bytes',
    ),
    mixed(
      "another signer's signature",
      (own, { signature }) => ({ ...own, signature }),
      other,
      true,
      'signature.bytes',
    ),
    mixed(
      "another signer's header",
      (own, foreign) => ({ ...own, protected: foreign.protected }),
      other,
      true,
      'signature.algorithm',
      'signature.bytes',
    ),
    mixed(
      'payload and header changed about',
      (own) => ({ ...own, payload: own.protected, protected: own.payload }),
      kit,
      true,
      'signature.algorithm',
    ),
    mixed(
      'payload and signature changed about',
      (own) => ({ ...own, payload: own.signature, signature: own.payload }),
      kit,
      true,
      'signature.bytes',
    ),
  ];
}

/** Everything signed as it should be, and the header wrong. */
function otherHeaders(kit: Kit): Mutation[] {
  const good = goodHeader(kit);
  const without = (name: string) =>
    Object.fromEntries(Object.entries(good).filter(([each]) => each !== name));
  const header = (how: string, change: unknown, ...expects: TrustFault[]) =>
    drafted(kit, how, { header: change }, ...expects);
  const strange = [null, 5, true, {}, []];
  const CODES: [string, TrustFault][] = [
    ['alg', 'signature.algorithm'],
    ['cty', 'signature.content_type'],
    ['crit', 'signature.critical'],
    [SCHEME, 'signature.scheme'],
    [SIGNED_AT, 'signature.time'],
  ];
  return [
    ...CODES.map(([name, code]) => header(`no ${name}`, without(name), code)),
    ...CODES.flatMap(([name, code]) =>
      ['', 'x', ' notary.x509', 'NOTARY.X509', '\u0000'].map((value) =>
        header(
          `${name} of ${JSON.stringify(value)}`,
          { ...good, [name]: name === 'crit' ? [value] : value },
          code,
        ),
      ),
    ),
    ...CODES.flatMap(([name]) =>
      strange
        .filter((value) => !(name === 'crit' && Array.isArray(value)))
        .map((value) =>
          header(`${name} of ${JSON.stringify(value)}`, { ...good, [name]: value }, 'signature.malformed'),
        ),
    ),
    ...[
      'application/vnd.cncf.notary.payload.v2+json',
      'application/vnd.cncf.notary.payload.v1+json;x=1',
      'application/json',
      'application/vnd.in-toto+json',
    ].map((cty) => header(`cty ${cty}`, { ...good, cty }, 'signature.content_type')),
    header(
      'the scheme of a signing authority',
      {
        ...without(SIGNED_AT),
        [SCHEME]: 'notary.x509.signingAuthority',
        'io.cncf.notary.authenticSigningTime': '2026-11-15T12:00:00Z',
        crit: [SCHEME, 'io.cncf.notary.authenticSigningTime'],
      },
      'signature.scheme',
    ),
    ...[
      [],
      [SCHEME, SCHEME],
      [SCHEME, EXPIRY],
      [EXPIRY],
      [SCHEME, SIGNED_AT],
      [SCHEME, 'alg'],
      [SCHEME, 'cty'],
      [SCHEME, 'b64'],
      [SCHEME, 'x'],
      [SCHEME, ''],
      [`${SCHEME},x`],
      ['io.cncf.notary.verificationPlugin', SCHEME],
      [SCHEME.toLowerCase()],
    ].map((crit) => header(`crit ${JSON.stringify(crit)}`, { ...good, crit }, 'signature.critical')),
    header(
      'an expiry that is not critical',
      { ...good, [EXPIRY]: '2027-01-01T00:00:00Z' },
      'signature.critical',
    ),
    header(
      'a plugin that must verify it, critical',
      {
        ...good,
        'io.cncf.notary.verificationPlugin': 'com.example.plugin',
        crit: [SCHEME, 'io.cncf.notary.verificationPlugin'],
      },
      'signature.critical',
    ),
    ...[
      'b64',
      'jwk',
      'jku',
      'x5u',
      'x5c',
      'kid',
      'typ',
      'zip',
      'enc',
      'nonce',
      'io.example.extra',
      'x5t#S256',
    ].map((name) => header(`a member ${name}`, { ...good, [name]: 'x' }, 'signature.critical')),
    header('b64 false', { ...good, b64: false, crit: [SCHEME, 'b64'] }, 'signature.critical'),
    ...['__proto__', 'constructor', 'prototype', 'hasOwnProperty'].map((name) =>
      header(`a member ${name}`, JSON.stringify(good).replace('{', `{"${name}":"x",`), 'signature.malformed'),
    ),
    ...Object.keys(good).map((name) =>
      header(
        `${name} twice`,
        JSON.stringify(good).replace('{', `{${JSON.stringify(name)}:"x",`),
        'signature.malformed',
      ),
    ),
    ...[
      '',
      'null',
      '[]',
      '5',
      '"x"',
      '{',
      `[${JSON.stringify(good)}]`,
      `${JSON.stringify(good)} x`,
      '\ufeff{}',
    ].map((text) => header(`a header of ${text.slice(0, 20)}`, text || ' ', 'signature.malformed')),
    header('an empty header', {}, 'signature.algorithm'),
  ];
}

function otherPayloads(kit: Kit): Mutation[] {
  const payload = (how: string, change: (good: { targetArtifact: Record<string, unknown> }) => unknown) =>
    drafted(
      kit,
      how,
      (good) => ({ payload: change(good as { targetArtifact: Record<string, unknown> }) }),
      'signature.target',
    );
  const target = (how: string, change: (good: Record<string, unknown>) => Record<string, unknown>) =>
    payload(how, ({ targetArtifact }) => ({
      targetArtifact: { ...targetArtifact, ...change(targetArtifact) },
    }));
  const digest = (how: string, change: (good: string) => unknown) =>
    target(`digest ${how}`, (good) => ({ digest: change(String(good['digest'])) }));
  return [
    digest('in capitals', (good) => good.toUpperCase()),
    digest('with another digit', (good) => good.replace(/.$/, (last) => (last === '0' ? '1' : '0'))),
    digest('cut', (good) => good.slice(0, -1)),
    digest('with more', (good) => `${good}0`),
    digest('with a blank', (good) => `${good} `),
    digest('without its algorithm', (good) => good.slice(7)),
    digest('of another algorithm', (good) => good.replace('sha256', 'sha512')),
    digest('empty', () => ''),
    digest('null', () => null),
    digest('in a list', (good) => [good]),
    target('a byte more', (good) => ({ size: Number(good['size']) + 1 })),
    target('a byte less', (good) => ({ size: Number(good['size']) - 1 })),
    target('no size', () => ({ size: undefined })),
    target('a size of none', () => ({ size: 0 })),
    target('a size below none', (good) => ({ size: -Number(good['size']) })),
    target('a size in words', (good) => ({ size: String(good['size']) })),
    target('a size and a half', (good) => ({ size: Number(good['size']) + 0.5 })),
    target('no media type', () => ({ mediaType: undefined })),
    target('another media type', () => ({ mediaType: 'application/vnd.oci.image.index.v1+json' })),
    target('a media type in capitals', (good) => ({ mediaType: String(good['mediaType']).toUpperCase() })),
    target('an empty media type', () => ({ mediaType: '' })),
    target('urls besides', () => ({ urls: ['https://evil.example/'] })),
    target('data besides', () => ({ data: 'e30=' })),
    target('a platform besides', () => ({ platform: { os: 'linux' } })),
    target('annotations that are numbers', () => ({ annotations: { x: 5 } })),
    target('annotations in a list', () => ({ annotations: [] })),
    payload('no target', () => ({})),
    payload('the target by itself', ({ targetArtifact }) => targetArtifact),
    payload('the target in a list', ({ targetArtifact }) => ({ targetArtifact: [targetArtifact] })),
    payload('something besides', (good) => ({ ...good, x: 1 })),
    payload('the target twice', (good) => JSON.stringify(good).replace('{', '{"targetArtifact":{},')),
    payload('its digest twice', (good) => JSON.stringify(good).replace('"digest"', '"digest":"x","digest"')),
    payload('a payload of null', () => 'null'),
    payload('a payload of nothing', () => ' '),
    payload('no JSON', () => '{'),
    payload('the digest as text', ({ targetArtifact }) => String(targetArtifact['digest'])),
    payload('a member every object has', (good) => JSON.stringify(good).replace('{', '{"constructor":{},')),
  ];
}

/** Not what is found beside artifacts that are signed. */
function otherForms(kit: Kit): Mutation[] {
  const form = (how: string, mediaType: string, bytes?: (envelope: Buffer) => Buffer): Mutation => ({
    how: `${kit.keyType}: ${how}`,
    expects: mediaType === 'application/jose+json' ? ['signature.malformed'] : ['signature.format'],
    make: (descriptor) => {
      const envelope = draftEnvelope(kit, descriptor);
      return ask(kit, descriptor, bytes?.(envelope) ?? envelope, { mediaType });
    },
  });
  // COSE_Sign1_Tagged (RFC 9052 §4.2): tag 18, then four parts.
  const cose = (envelope: Buffer): Buffer =>
    Buffer.concat([Buffer.from('d28443a10126a0', 'hex'), Buffer.from('59ffff', 'hex'), envelope]);
  const jose = 'application/jose+json';
  return [
    form('COSE', 'application/cose', cose),
    form('COSE by name only', 'application/cose'),
    form('COSE that says it is JWS', jose, cose),
    ...[
      '',
      'application/json',
      'application/jose',
      'application/jose+json; charset=utf-8',
      'Application/JOSE+JSON',
      ' application/jose+json',
      'application/vnd.cncf.notary.signature',
      'application/vnd.dev.cosign.simplesigning.v1+json',
      'application/octet-stream',
      'text/plain',
    ].map((mediaType) => form(`of type ${JSON.stringify(mediaType)}`, mediaType)),
    form('nothing', jose, () => Buffer.alloc(0)),
    form('a zero', jose, () => Buffer.from([0])),
    form('blanks', jose, () => Buffer.from('   ')),
    form('an empty object', jose, () => Buffer.from('{}')),
    form('null', jose, () => Buffer.from('null')),
    form('too long', jose, (envelope) => Buffer.concat([envelope, Buffer.alloc(1024 * 1024, 0x20)])),
    form('in UTF-16', jose, (envelope) => Buffer.from(envelope.toString(), 'utf16le')),
    form('with a byte that is not UTF-8', jose, (envelope) =>
      Buffer.concat([envelope.subarray(0, 12), Buffer.from([0xff]), envelope.subarray(12)]),
    ),
    form('compact', jose, (envelope) => {
      const { payload, protected: header, signature } = partsOf(envelope);
      return Buffer.from(`${header}.${payload}.${signature}`);
    }),
    form('in the general form', jose, (envelope) => {
      const { payload, ...signature } = partsOf(envelope);
      return Buffer.from(JSON.stringify({ payload, signatures: [signature] }));
    }),
    form('nested without end', jose, () => Buffer.from('['.repeat(200_000))),
    form('nested deeply', jose, () => Buffer.from(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)),
    ...(['payload', 'protected', 'signature', 'header'] as const).flatMap((name) =>
      [undefined, null, 5, [], {}].map((value) =>
        form(`${name} of ${JSON.stringify(value)}`, jose, (envelope) =>
          Buffer.from(JSON.stringify({ ...partsOf(envelope), [name]: value })),
        ),
      ),
    ),
    ...[null, 5, 'x', {}, [null], [5], [['x']], ['='], ['AAAA='], ['-_-_']].map((x5c) =>
      form(`x5c of ${JSON.stringify(x5c)}`, jose, (envelope) =>
        Buffer.from(JSON.stringify({ ...partsOf(envelope), header: { x5c } })),
      ),
    ),
  ];
}

function otherTimes(kit: Kit): Mutation[] {
  const signedAt = (time: string, ...expects: TrustFault[]) =>
    drafted(kit, `signed at ${time}`, { header: { ...goodHeader(kit), [SIGNED_AT]: time } }, ...expects);
  const expiring = (time: string, code: TrustFault) =>
    drafted(
      kit,
      `expires at ${time}`,
      { header: { ...goodHeader(kit), [EXPIRY]: time, crit: [SCHEME, EXPIRY] } },
      code,
    );
  const noTimes = [
    'now',
    '1763200000',
    '2026-11-15',
    '2026-11-15T12:00:00',
    '2026-11-15 12:00:00Z',
    '2026-02-30T12:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-11-15T25:00:00Z',
    '2026-11-15T12:00:00z',
    '20261115T120000Z',
    'Sun, 15 Nov 2026 12:00:00 GMT',
    '2026-11-15T12:00:00Z\n',
    '+002026-11-15T12:00:00Z',
    '2026-11-15T12:00:00+0200',
  ];
  return [
    ...noTimes.map((time) => signedAt(time, 'signature.time')),
    ...noTimes.map((time) => expiring(time, 'signature.time')),
    ...[
      '2026-11-16T12:05:01Z',
      '2026-11-17T12:00:00Z',
      '2099-01-01T00:00:00Z',
      '2026-11-16T12:10:00+00:00',
    ].map((time) => signedAt(time, 'signature.time')),
    ...[
      '2026-11-06T11:59:59Z',
      '2020-01-01T00:00:00Z',
      '1970-01-01T00:00:00Z',
      '2026-11-06T13:00:00+02:00',
    ].map((time) => signedAt(time, 'chain.validity')),
    ...[
      '2026-11-16T12:00:00Z',
      '2026-11-16T11:59:59Z',
      '2026-11-15T12:00:00Z',
      '2000-01-01T00:00:00Z',
      '2026-11-16T13:59:59+02:00',
    ].map((time) => expiring(time, 'signature.expired')),
  ];
}
