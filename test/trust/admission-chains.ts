// Signatures that are right, by signers nobody should believe: chains that are broken, foreign, misused, out of their
// time, revoked or written in another way than the one there is.

import { createPublicKey, hash, type KeyObject, sign } from 'node:crypto';
import { type Element, readDer } from '../../functions/trust/der.ts';
import type { TrustPolicy } from '../../functions/trust/trust-policy.ts';
import type { Question } from '../../functions/trust/trust.ts';
import type { TrustFault } from '../../functions/trust/verification.ts';
import { CODE_SIGNING, issueCertificate, type KeyUsage, toPem } from '../../sdk/signing/certificates.ts';
import {
  bits,
  explicit,
  nothing,
  objectId,
  octets,
  sequence,
  small,
  yes,
} from '../../sdk/signing/der-writer.ts';
import {
  ask,
  at,
  authorityKind,
  AUTHORITY_SUBJECT,
  draftEnvelope,
  issueAuthority,
  issueRoot,
  issueSigner,
  type Kit,
  keyOf,
  kitOf,
  makeKits,
  type Mutation,
  NOW,
  type Party,
  policyFor,
  ROOT_SUBJECT,
  signAs,
  signOnce,
  SIGNER_SUBJECT,
} from './admission-kit.ts';

export function chainMutations(): Mutation[] {
  return [
    ...makeKits().flatMap((kit) => [
      ...otherOrders(kit),
      ...strangers(kit),
      ...misused(kit),
      ...outOfTime(kit),
      ...revoked(kit),
    ]),
    ...[kitOf('P-256'), kitOf('RSA-2048')].flatMap((kit) => [
      ...weak(kit),
      ...otherSpellings(kit),
      ...otherIdentities(kit),
      ...otherPolicies(kit),
    ]),
  ];
}

interface Asked {
  chain?: Buffer[];
  signer?: Pick<Party, 'privateKey'>;
  algorithm?: string;
  policy?: TrustPolicy;
  question?: Partial<Question>;
}

function signed(kit: Kit, how: string, asked: () => Asked, ...expects: TrustFault[]): Mutation {
  return {
    how: `${kit.keyType}: ${how}`,
    ...(expects.length > 0 && { expects }),
    make: (descriptor) => {
      const { chain = kit.chain, signer = kit.signer, algorithm = kit.algorithm, policy, question } = asked();
      const envelope = draftEnvelope({ ...kit, algorithm }, descriptor, {
        chain: chain.map((certificate) => certificate.toString('base64')),
        sign: (input) =>
          signer === kit.signer && algorithm === kit.algorithm
            ? signOnce(kit, input)
            : signAs(algorithm, signer.privateKey, input),
      });
      return ask(kit, descriptor, envelope, { ...question, ...(policy && { policy }) });
    },
  };
}

function otherOrders(kit: Kit): Mutation[] {
  const [leaf, authority, root] = kit.chain as [Buffer, Buffer, Buffer];
  const foreign = makeKits().find(({ root }) => root.privateKey !== kit.root.privateKey)?.chain ?? [];
  const chain = (how: string, chain: Buffer[], ...expects: TrustFault[]) =>
    signed(kit, how, () => ({ chain }), ...expects);
  return [
    chain('no certificates', [], 'chain.malformed'),
    chain('the leaf alone', [leaf], 'chain.untrusted'),
    chain('no root', [leaf, authority], 'chain.untrusted'),
    chain('no authority', [leaf, root], 'chain.untrusted'),
    chain('authority before root changed about', [leaf, root, authority], 'chain.untrusted'),
    chain('leaf last', [authority, root, leaf], 'signature.algorithm', 'signature.bytes'),
    chain('backwards', [root, authority, leaf], 'signature.algorithm', 'signature.bytes'),
    chain('root alone', [root], 'signature.algorithm', 'signature.bytes'),
    chain('leaf twice', [leaf, leaf, authority, root], 'chain.malformed'),
    chain('authority twice', [leaf, authority, authority, root], 'chain.malformed'),
    chain('root twice', [leaf, authority, root, root], 'chain.malformed'),
    chain('a foreign root after', [leaf, authority, root, ...foreign.slice(-1)], 'chain.untrusted'),
    chain('a foreign chain after', [leaf, authority, root, ...foreign], 'chain.untrusted'),
    chain(
      'a foreign chain before',
      [...foreign, leaf, authority, root],
      'signature.algorithm',
      'signature.bytes',
    ),
    chain('a foreign root instead', [leaf, authority, ...foreign.slice(-1)], 'chain.untrusted'),
    chain('eleven', [leaf, ...Array.from({ length: 9 }, () => authority), root], 'chain.malformed'),
    chain('an empty one between', [leaf, Buffer.alloc(0), root], 'chain.malformed'),
    chain('a byte too many', [Buffer.concat([leaf, Buffer.from([0])]), authority, root], 'chain.malformed'),
    chain('a byte too few', [leaf.subarray(0, -1), authority, root], 'chain.malformed'),
    chain('two in one', [Buffer.concat([leaf, authority]), root], 'chain.malformed'),
    chain('a key instead', [publicKeyOf(kit.signer), authority, root], 'chain.malformed'),
    chain('text', [Buffer.from(toPem(leaf)), authority, root], 'chain.malformed'),
  ];
}

const publicKeyOf = ({ privateKey }: Pick<Party, 'privateKey'>): Buffer =>
  createPublicKey(privateKey).export({ type: 'spki', format: 'der' });

/** Everything as it should be, but below a root of somebody else's. */
function strangers(kit: Kit): Mutation[] {
  const kind = authorityKind(kit.keyType);
  const below = (root: Party): Asked => {
    const authority = issueAuthority(root, kind, {}, 'stranger');
    const signer = issueSigner(authority, kit.keyType);
    return { chain: [signer.certificate, authority.certificate, root.certificate], signer };
  };
  return [
    signed(
      kit,
      "a stranger's root",
      () => below(issueRoot(kind, { subject: 'CN=Stranger' }, 'stranger root')),
      'chain.untrusted',
    ),
    signed(
      kit,
      "a root of the same name, of another's key",
      () => below(issueRoot(kind, {}, 'stranger root')),
      'chain.untrusted',
    ),
    signed(
      kit,
      'a root of the same name and key, issued again',
      () => below(issueRoot(kind, { serialNumber: '0777' })),
      'chain.untrusted',
    ),
    signed(
      kit,
      "the true root under a stranger's authority",
      () => {
        const [leaf, authority] = below(issueRoot(kind, {}, 'stranger root')).chain ?? [];
        return { chain: [leaf ?? Buffer.alloc(0), authority ?? Buffer.alloc(0), kit.root.certificate] };
      },
      'chain.untrusted',
    ),
    signed(
      kit,
      'a leaf that signed itself',
      () => {
        const certificate = issueCertificate({
          subject: SIGNER_SUBJECT,
          publicKey: createPublicKey(kit.signer.privateKey),
          privateKey: kit.signer.privateKey,
          notBefore: at(-1),
          notAfter: at(1),
          keyUsage: ['digitalSignature'],
          extendedKeyUsage: [CODE_SIGNING],
        });
        return { chain: [certificate] };
      },
      'chain.untrusted',
    ),
    signed(
      kit,
      'a leaf that names the authority, and signed itself',
      () => {
        const forged = issueSigner({ ...kit.authority, privateKey: kit.signer.privateKey }, kit.keyType);
        return { chain: kit.chain.with(0, forged.certificate) };
      },
      'chain.untrusted',
    ),
    signed(
      kit,
      'signed with another key of the same kind',
      () => ({
        signer: {
          privateKey: keyOf(kit.keyType === 'RSA-4096' ? 'RSA-3072' : kit.keyType, 'stranger signer'),
        },
      }),
      'signature.bytes',
    ),
  ];
}

const EVERY_USAGE: KeyUsage[] = [
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
];
const PURPOSES = {
  'any purpose': '2.5.29.37.0',
  'TLS servers': '1.3.6.1.5.5.7.3.1',
  'TLS clients': '1.3.6.1.5.5.7.3.2',
  mail: '1.3.6.1.5.5.7.3.4',
  timestamps: '1.3.6.1.5.5.7.3.8',
  OCSP: '1.3.6.1.5.5.7.3.9',
};

type IssueChange = Parameters<typeof issueSigner>[2];

function misused(kit: Kit): Mutation[] {
  const kind = authorityKind(kit.keyType);
  const leaf = (how: string, change: IssueChange) =>
    signed(
      kit,
      how,
      () => {
        const signer = issueSigner(kit.authority, kit.keyType, change);
        return { chain: kit.chain.with(0, signer.certificate) };
      },
      'chain.usage',
    );
  const authority = (how: string, change: IssueChange, ...expects: TrustFault[]) =>
    signed(
      kit,
      how,
      () => {
        const between = issueAuthority(kit.root, kind, change);
        const signer = issueSigner(between, kit.keyType);
        return { chain: [signer.certificate, between.certificate, kit.root.certificate] };
      },
      ...(expects.length > 0 ? expects : (['chain.usage'] as const)),
    );
  return [
    leaf('a leaf that is an authority', { isCa: true }),
    leaf('a leaf that is an authority and may sign', {
      isCa: true,
      keyUsage: ['digitalSignature', 'keyCertSign'],
    }),
    leaf('a leaf without usage', { keyUsage: undefined }),
    leaf('a leaf of no usage', { keyUsage: [] }),
    leaf('a leaf that may not sign', { keyUsage: ['nonRepudiation'] }),
    ...EVERY_USAGE.map((usage) => leaf(`a leaf for ${usage} too`, { keyUsage: ['digitalSignature', usage] })),
    leaf('a leaf without purpose', { extendedKeyUsage: undefined }),
    leaf('a leaf of no purpose', { extendedKeyUsage: [] }),
    ...Object.entries(PURPOSES).map(([name, id]) => leaf(`a leaf for ${name}`, { extendedKeyUsage: [id] })),
    ...Object.entries(PURPOSES)
      .filter(([name]) => name !== 'OCSP')
      .map(([name, id]) => leaf(`a leaf for code and ${name}`, { extendedKeyUsage: [CODE_SIGNING, id] })),
    authority('an authority that is none', { isCa: false, pathLength: undefined }),
    authority('an authority that may not issue', { keyUsage: ['cRLSign'] }),
    authority('an authority without usage', { keyUsage: undefined }),
    authority('an authority that only signs', { keyUsage: ['digitalSignature'] }),
    authority('an authority for TLS alone', { extendedKeyUsage: [PURPOSES['TLS servers']] }),
    signed(
      kit,
      'a leaf that issued a leaf',
      () => {
        const issuer = issueSigner(kit.authority, kind, { subject: 'CN=A leaf,O=Example' });
        const signer = issueSigner(issuer, kit.keyType);
        return { chain: [signer.certificate, issuer.certificate, ...kit.chain.slice(1)] };
      },
      'chain.usage',
    ),
    signed(
      kit,
      'one authority too many below another',
      () => {
        const second = issueAuthority(kit.authority, kind, { subject: 'CN=Second,O=Example' }, 'second');
        const signer = issueSigner(second, kit.keyType);
        return { chain: [signer.certificate, second.certificate, ...kit.chain.slice(1)] };
      },
      'chain.usage',
    ),
    signed(
      kit,
      'an authority below a root that allows none',
      () => {
        const root = issueRoot(kind, { pathLength: 0 });
        return { chain: kit.chain.with(2, root.certificate), policy: policyFor(root.certificate) };
      },
      'chain.usage',
    ),
    signed(
      kit,
      'a pinned root that is no authority',
      () => {
        const root = issueRoot(kind, { isCa: false });
        return { chain: kit.chain.with(2, root.certificate), policy: policyFor(root.certificate) };
      },
      'chain.usage',
    ),
  ];
}

function outOfTime(kit: Kit): Mutation[] {
  const kind = authorityKind(kit.keyType);
  const past = { notBefore: at(-100), notAfter: new Date(NOW.getTime() - 1000) };
  const future = { notBefore: new Date(NOW.getTime() + 1000), notAfter: at(100) };
  const late = { notBefore: new Date(NOW.getTime() - 1000), notAfter: at(100) };
  const whole = (how: string, which: 0 | 1 | 2, life: { notBefore: Date; notAfter: Date }) =>
    signed(
      kit,
      how,
      () => {
        const root = which === 2 ? issueRoot(kind, life) : kit.root;
        const authority = issueAuthority(root, kind, which === 1 ? life : {});
        const signer = issueSigner(authority, kit.keyType, which === 0 ? life : {});
        return {
          chain: [signer.certificate, authority.certificate, root.certificate],
          policy: policyFor(root.certificate),
        };
      },
      'chain.validity',
    );
  const WHICH = [
    [0, 'leaf'],
    [1, 'authority'],
    [2, 'root'],
  ] as const;
  return WHICH.flatMap(([which, name]) => [
    whole(`the ${name} expired`, which, past),
    whole(`the ${name} not yet begun`, which, future),
    whole(`the ${name} begun after the signing`, which, late),
    signed(
      kit,
      `a year after the ${name} expired`,
      () => ({ question: { now: at(400 + which) } }),
      'chain.validity',
    ),
  ]);
}

function revoked(kit: Kit): Mutation[] {
  const fingerprints = kit.chain.map((certificate) => fingerprintOf(certificate));
  return fingerprints.flatMap((fingerprint, which) =>
    [[fingerprint], ['0'.repeat(64), fingerprint, 'f'.repeat(64)]].map((list) =>
      signed(
        kit,
        `certificate ${which} revoked, of ${list.length}`,
        () => ({
          question: {
            trust: {
              revision: 8,
              policies: [kit.policy],
              revoked: list.map((each) => ({ fingerprint: each })),
            },
          },
        }),
        'chain.revoked',
      ),
    ),
  );
}

const fingerprintOf = (certificate: Buffer): string => hash('sha256', certificate);

/** Weak keys have no hash of their own. */
const SHA_256 = { signatureHash: 'sha256' } as const;

/** Keys and hashes that can be forged. */
function weak(kit: Kit): Mutation[] {
  const kind = authorityKind(kit.keyType);
  const leaf = (how: string, kind: string, algorithm: string, ...expects: TrustFault[]) =>
    signed(
      kit,
      how,
      () => {
        const signer = issueSigner(kit.authority, kind);
        return { chain: kit.chain.with(0, signer.certificate), signer, algorithm };
      },
      ...expects,
    );
  const below = (how: string, root: () => Party, authority: (root: Party) => Party) =>
    signed(
      kit,
      how,
      () => {
        const top = root();
        const between = authority(top);
        const signer = issueSigner(between, kit.keyType, SHA_256);
        return {
          chain: [signer.certificate, between.certificate, top.certificate],
          policy: policyFor(top.certificate),
        };
      },
      'chain.usage',
    );
  return [
    leaf('RSA of 1024 bits', 'RSA-1024', 'PS256', 'signature.algorithm'),
    leaf('RSA of 1536 bits', 'RSA-1536', 'PS256', 'signature.algorithm'),
    leaf('RSA of 2560 bits', 'RSA-2560', 'PS256', 'signature.algorithm'),
    leaf('RSA with a power of 3', 'RSA-2048-3', 'PS256', 'chain.usage'),
    leaf("Bitcoin's curve", 'secp256k1', 'ES256', 'signature.algorithm'),
    leaf('a curve of 224 bits', 'secp224r1', 'ES256', 'signature.algorithm'),
    leaf('a curve of 192 bits', 'prime192v1', 'ES256', 'signature.algorithm'),
    below(
      'an authority of RSA-1024',
      () => kit.root,
      (root) => issueAuthority(root, 'RSA-1024', SHA_256),
    ),
    below(
      'a root of RSA-1024',
      () => issueRoot('RSA-1024', SHA_256),
      (root) => issueAuthority(root, kind, SHA_256),
    ),
    below(
      "an authority of Bitcoin's curve",
      () => kit.root,
      (root) => issueAuthority(root, 'secp256k1'),
    ),
    signed(
      kit,
      'a leaf signed with SHA-1',
      () => {
        const signer = issueSigner(kit.authority, kit.keyType, { signatureHash: 'sha1' });
        return { chain: kit.chain.with(0, signer.certificate) };
      },
      'chain.usage',
    ),
    below(
      'an authority signed with SHA-1',
      () => kit.root,
      (root) => issueAuthority(root, kind, { signatureHash: 'sha1' }),
    ),
    below(
      'a root signed with SHA-1',
      () => issueRoot(kind, { signatureHash: 'sha1' }),
      (root) => issueAuthority(root, kind),
    ),
    signed(
      kit,
      'an Ed25519 leaf',
      () => {
        const publicKey = createPublicKey(keyOf('Ed25519', 'signer'));
        return {
          chain: kit.chain.with(0, issueSigner(kit.authority, kit.keyType, { publicKey }).certificate),
        };
      },
      'chain.malformed',
    ),
  ];
}

/** Certificates taken apart, made other ones, and signed by the authority all the same. */
function otherSpellings(kit: Kit): Mutation[] {
  const [leaf] = kit.chain as [Buffer];
  const again = (
    how: string,
    edit: (parts: Buffer[], elements: Element[]) => Buffer[],
    ...expects: TrustFault[]
  ) =>
    signed(
      kit,
      how,
      () => ({ chain: kit.chain.with(0, issueAgain(leaf, kit.authority.privateKey, edit)) }),
      ...(expects.length > 0 ? expects : (['chain.malformed'] as const)),
    );
  const outside = (how: string, edit: (whole: Buffer) => Buffer) =>
    signed(kit, how, () => ({ chain: kit.chain.with(0, edit(leaf)) }), 'chain.malformed');
  const extensions = (how: string, edit: (extensions: Buffer[]) => Buffer[], ...expects: TrustFault[]) =>
    again(
      how,
      (parts, elements) => {
        const list = elements[7]?.children[0]?.children.map(({ bytes }) => bytes) ?? [];
        return parts.with(7, explicit(3, sequence(...edit(list))));
      },
      ...expects,
    );
  const DIGITAL_SIGNATURE = bits(Buffer.from([0x80]), 7);
  const usage = (...rest: Buffer[]): Buffer => sequence(objectId('2.5.29.15'), ...rest);
  const no = Buffer.from([0x01, 0x01, 0x00]);
  return [
    outside('a length that is longer than it must be', (whole) =>
      Buffer.concat([Buffer.from([0x30, 0x83, 0x00]), whole.subarray(2)]),
    ),
    outside('a length without end', (whole) =>
      Buffer.concat([Buffer.from([0x30, 0x80]), whole.subarray(4), Buffer.from([0, 0])]),
    ),
    outside('a set instead', (whole) => Buffer.concat([Buffer.from([0x31]), whole.subarray(1)])),
    outside('a signature that ends within a byte', (whole) => {
      const { children } = readDer(whole);
      const [signedPart, algorithm, signature] = children as [Element, Element, Element];
      const padded = Buffer.concat([signature.content.subarray(1), Buffer.from([0])]);
      return sequence(signedPart.bytes, algorithm.bytes, bits(padded, 4));
    }),
    outside('another algorithm outside than inside', (whole) => {
      const [signedPart, , signature] = readDer(whole).children as [Element, Element, Element];
      return sequence(signedPart.bytes, sequence(objectId('1.2.840.10045.4.3.3')), signature.bytes);
    }),
    outside('something after the signature', (whole) =>
      sequence(...readDer(whole).children.map(({ bytes }) => bytes), nothing()),
    ),
    again('version 1', (parts) => parts.slice(1)),
    again('version 2', (parts) => parts.with(0, explicit(0, small(1)))),
    again('version 4', (parts) => parts.with(0, explicit(0, small(3)))),
    again('a serial number below none', (parts) => parts.with(1, Buffer.from([0x02, 0x01, 0x80]))),
    again('a serial number of 21 bytes', (parts) =>
      parts.with(1, Buffer.concat([Buffer.from([0x02, 21]), Buffer.alloc(21, 1)])),
    ),
    again('a serial number with a zero before', (parts) =>
      parts.with(1, Buffer.from([0x02, 0x02, 0x00, 0x01])),
    ),
    again('a year in two digits that is none', (parts) =>
      parts.with(
        4,
        sequence(
          Buffer.from('\x17\x0d261106000000Z', 'latin1'),
          Buffer.from('\x17\x0d279999000000Z', 'latin1'),
        ),
      ),
    ),
    again('times with a zone', (parts) =>
      parts.with(
        4,
        sequence(
          Buffer.from('\x17\x11261106000000+0000', 'latin1'),
          Buffer.from('\x17\x11271106000000+0000', 'latin1'),
        ),
      ),
    ),
    again('a year in four digits too early', (parts) =>
      parts.with(
        4,
        sequence(
          Buffer.from('\x18\x0f20261106000000Z', 'latin1'),
          Buffer.from('\x18\x0f20271106000000Z', 'latin1'),
        ),
      ),
    ),
    again('unique identifiers', (parts) => [
      ...parts.slice(0, 7),
      Buffer.from([0x81, 0x02, 0x00, 0x01]),
      ...parts.slice(7),
    ]),
    again('no extensions', (parts) => parts.slice(0, 7), 'chain.usage'),
    again('a key in other words', (parts) =>
      parts.with(6, sequence(sequence(objectId('1.3.101.112')), bits(Buffer.alloc(32)))),
    ),
    again('a point that is not on its curve', (parts) =>
      parts.with(
        6,
        sequence(
          sequence(objectId('1.2.840.10045.2.1'), objectId('1.2.840.10045.3.1.7')),
          bits(Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 7)])),
        ),
      ),
    ),
    again('a curve that is spelled out', (parts) =>
      parts.with(
        6,
        sequence(sequence(objectId('1.2.840.10045.2.1'), sequence(small(1))), bits(Buffer.alloc(65, 4))),
      ),
    ),
    extensions(
      'usage that is not critical',
      (list) => [...list.slice(1), usage(octets(DIGITAL_SIGNATURE))],
      'chain.usage',
    ),
    extensions('usage whose no is spelled out', (list) => [
      ...list.slice(1),
      usage(no, octets(DIGITAL_SIGNATURE)),
    ]),
    extensions('usage twice', (list) => [...list, ...list.slice(0, 1)]),
    extensions('usage with bits that say nothing', (list) => [
      ...list.slice(1),
      usage(yes(), octets(bits(Buffer.from([0x80, 0x00]), 0))),
    ]),
    extensions('usage that is a number', (list) => [...list.slice(1), usage(yes(), octets(small(1)))]),
    extensions('usage with more after', (list) => [
      ...list.slice(1),
      usage(yes(), octets(Buffer.concat([DIGITAL_SIGNATURE, nothing()]))),
    ]),
    extensions(
      'something unknown that is critical',
      (list) => [...list, sequence(objectId('1.3.6.1.4.1.99999.1'), yes(), octets(nothing()))],
      'chain.usage',
    ),
    extensions(
      'names it is limited to, critical',
      (list) => [...list, sequence(objectId('2.5.29.30'), yes(), octets(sequence()))],
      'chain.usage',
    ),
    extensions('that it is no authority, spelled out', (list) => [
      ...list,
      sequence(objectId('2.5.29.19'), octets(sequence(no))),
    ]),
    extensions('a path length without authority', (list) => [
      ...list,
      sequence(objectId('2.5.29.19'), yes(), octets(sequence(small(3)))),
    ]),
    extensions('a yes that is one', (list) => [
      ...list.slice(1),
      usage(Buffer.from([0x01, 0x01, 0x01]), octets(DIGITAL_SIGNATURE)),
    ]),
    extensions('an extension without value', (list) => [...list, sequence(objectId('1.2.3.4'))]),
    extensions('an extension with too much', (list) => [
      ...list,
      sequence(objectId('1.2.3.4'), yes(), octets(nothing()), nothing()),
    ]),
    extensions('an extension nested without end', (list) => {
      let deep = nothing();
      for (let depth = 0; depth < 40; depth += 1) deep = sequence(deep);
      return [...list, sequence(objectId('2.5.29.19'), octets(deep))];
    }),
  ];
}

/** The signed part taken apart, changed, and signed again by the authority. */
function issueAgain(
  certificate: Buffer,
  key: KeyObject,
  edit: (parts: Buffer[], elements: Element[]) => Buffer[],
): Buffer {
  const [signedPart, algorithm] = readDer(certificate).children as [Element, Element];
  const elements = signedPart.children;
  const again = sequence(
    ...edit(
      elements.map(({ bytes }) => bytes),
      elements,
    ),
  );
  return sequence(again, algorithm.bytes, bits(sign('sha256', again, key)));
}

/** The right authority, for somebody else. */
function otherIdentities(kit: Kit): Mutation[] {
  const subject = (how: string, subject: string, identities?: string[]) =>
    signed(
      kit,
      `signed by ${how}`,
      () => {
        const signer = issueSigner(kit.authority, kit.keyType, { subject });
        return {
          chain: kit.chain.with(0, signer.certificate),
          ...(identities && { policy: policyFor(kit.root.certificate, { identities }) }),
        };
      },
      'identity.not_accepted',
    );
  const accepted = (...identities: string[]) =>
    signed(
      kit,
      `accepted ${identities.join(' · ')}`,
      () => ({ policy: policyFor(kit.root.certificate, { identities }) }),
      'identity.not_accepted',
    );
  return [
    subject('nobody', ''),
    subject('another name', 'CN=releases,OU=Build,O=Example,L=Berlin,C=US'),
    subject('another case', 'CN=Release,OU=Build,O=Example,L=Berlin,C=US'),
    subject('a name with a blank', String.raw`CN=release\ ,OU=Build,O=Example,C=US`),
    subject('a name with a zero', String.raw`CN=release\00,OU=Build,O=Example,C=US`),
    subject('a name that looks the same', 'CN=r\u0435lease,O=Example,C=US'),
    subject('another organisation', 'CN=release,O=Example Inc,C=US'),
    subject('no organisation', 'CN=release,C=US'),
    subject('no name', 'O=Example,C=US'),
    subject('a name in the place of another', 'OU=release,O=Example,C=US'),
    subject('names changed about', 'CN=Example,O=release'),
    subject('a comma in a name', String.raw`CN=release\,O=Example`),
    subject('a name within a name', String.raw`CN=x\,CN\=release\,O\=Example,O=Evil`),
    subject('parts that stand together elsewhere', 'CN=release,O=Example', ['CN=release+O=Example']),
    subject('the authority’s own name', AUTHORITY_SUBJECT),
    subject('the root’s own name', ROOT_SUBJECT),
    accepted('CN=release,O=Example,ST=Berlin'),
    accepted('CN=release,OU=Build,O=Example,L=Berlin,C=DE'),
    accepted('CN=release,OU=Build,O=Example,L=Munich,C=US'),
    accepted('CN=release,OU=build,O=Example'),
    accepted('CN=release,CN=other'),
    accepted('CN=rel*'),
    accepted('CN=*'),
    accepted('O=Example.'),
    accepted('O=Nobody', 'CN=nobody,O=Example', 'UID=release'),
    // What can no longer be read accepts nobody.
    accepted('*'),
    accepted(''),
    accepted('release'),
    accepted('CN=release,'),
    accepted('=release'),
    accepted('CN=release O=Example;'),
    accepted(`CN=${'r'.repeat(600)}`),
  ];
}

function otherPolicies(kit: Kit): Mutation[] {
  const policy = (how: string, policies: TrustPolicy[], ...expects: TrustFault[]) =>
    signed(kit, how, () => ({ question: { trust: { revision: 9, policies, revoked: [] } } }), ...expects);
  const pattern = (repository_pattern: string) => policyFor(kit.root.certificate, { repository_pattern });
  const strict = (repository_pattern: string) => ({
    ...pattern(repository_pattern),
    name: 'strict',
    identities: ['CN=nobody'],
  });
  return [
    policy('no policy', [], 'policy.none'),
    ...[
      'gpuaas/apps/other/*',
      'gpuaas/apps/example/other',
      'gpuaas/apps/example/dem',
      'gpuaas/apps/example/demo2',
      'gpuaas/apps/example/demo/*',
      'gpuaas/apps/exam/*',
      'gpuaas/apps/example',
      'gpuaas/apps/EXAMPLE/*',
      'example/demo',
      '',
      '*/demo',
      'gpuaas/apps/*/demo',
    ].map((each) => policy(`a policy for ${JSON.stringify(each)}`, [pattern(each)], 'policy.none')),
    // The more specific one decides, whatever the order, and whatever the others would say.
    policy(
      'a stricter one for the repository',
      [pattern('*'), pattern('gpuaas/apps/example/*'), strict('gpuaas/apps/example/demo')],
      'identity.not_accepted',
    ),
    policy(
      'a stricter one for the project',
      [pattern('gpuaas/apps/*'), strict('gpuaas/apps/example/*'), pattern('*')],
      'identity.not_accepted',
    ),
    policy('a stricter one for all apps', [strict('gpuaas/apps/*'), pattern('*')], 'identity.not_accepted'),
    policy('no roots', [{ ...pattern('*'), roots: [] }], 'chain.untrusted'),
    policy(
      'roots that cannot be read',
      [{ ...pattern('*'), roots: ['', 'x', '-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----'] }],
      'chain.untrusted',
    ),
    policy('the authority for a root', [policyFor(kit.authority.certificate)], 'chain.untrusted'),
    policy('the leaf for a root', [policyFor(kit.signer.certificate)], 'chain.untrusted'),
    policy('nobody accepted', [{ ...pattern('*'), identities: [] }], 'identity.not_accepted'),
    signed(
      kit,
      'content that is gone',
      () => ({ question: { evidence: { signatures: [], provenances: [], isContentAbsent: true } } }),
      'content.absent',
    ),
    signed(
      kit,
      'another repository',
      () => ({ question: { repository: 'gpuaas/apps/other/demo' } }),
      'policy.none',
    ),
    signed(
      kit,
      'a repository that begins the same',
      () => ({ question: { repository: 'gpuaas/apps/example2/demo' } }),
      'policy.none',
    ),
  ];
}
