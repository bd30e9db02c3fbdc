// What signatures under test are made of: signers of every kind, the policy that trusts them, and envelopes that can
// be made wrong at any one place and signed all the same.

import {
  constants,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  type SignKeyObjectInput,
} from 'node:crypto';
import type { TrustPolicy } from '../../functions/trust/trust-policy.ts';
import type { Question } from '../../functions/trust/trust.ts';
import type { Descriptor, TrustFault } from '../../functions/trust/verification.ts';
import { KEY_TYPES, type KeyType } from '../../sdk/signing/algorithms.ts';
import {
  CODE_SIGNING,
  type CertificateRequest,
  issueCertificate,
  toPem,
} from '../../sdk/signing/certificates.ts';

export const NOW = new Date('2026-11-16T12:00:00.000Z');
const DAY_MS = 24 * 3600 * 1000;
export const at = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS);

export const REPOSITORY = 'gpuaas/apps/example/demo';
export const ENVELOPE = 'application/jose+json';
export const DSSE = 'application/vnd.dsse.envelope.v1+json';

/** Something that must not be admitted, of an artifact yet to be named. */
export interface Mutation {
  how: string;
  /** What it must be refused for, where that is the point of it. */
  expects?: TrustFault[];
  make: (descriptor: Descriptor) => Question;
}

export interface Party {
  certificate: Buffer;
  subject: string;
  privateKey: KeyObject;
}

/** A signer with everybody who vouches for it. */
export interface Kit {
  keyType: KeyType;
  algorithm: string;
  root: Party;
  authority: Party;
  signer: Party;
  /** Leaf first. */
  chain: Buffer[];
  policy: TrustPolicy;
}

const ALGORITHMS: Record<KeyType, string> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  'RSA-2048': 'PS256',
  'RSA-3072': 'PS384',
  'RSA-4096': 'PS512',
};

const keys = new Map<string, KeyObject>();

/** Of each kind and purpose one, as making them takes long. */
export function keyOf(kind: string, purpose: string): KeyObject {
  const name = `${kind} ${purpose}`;
  const key = keys.get(name) ?? makeKey(kind);
  keys.set(name, key);
  return key;
}

function makeKey(kind: string): KeyObject {
  if (kind === 'Ed25519') return generateKeyPairSync('ed25519').privateKey;
  if (!kind.startsWith('RSA-')) return generateKeyPairSync('ec', { namedCurve: kind }).privateKey;
  const [, bits, publicExponent = 65_537] = kind.split('-').map(Number);
  return generateKeyPairSync('rsa', { modulusLength: bits ?? 0, publicExponent }).privateKey;
}

const LIFE = { notBefore: at(-10), notAfter: at(300) };
export const ROOT_SUBJECT = 'CN=Example Root,O=Example,C=US';
export const AUTHORITY_SUBJECT = 'CN=Example Issuing,O=Example,C=US';
export const SIGNER_SUBJECT = 'CN=release,OU=Build,O=Example,L=Berlin,C=US';

type Change = Partial<CertificateRequest> & { kind?: string };

export function issueRoot(
  kind: string,
  { kind: own = kind, ...change }: Change = {},
  purpose = 'root',
): Party {
  const privateKey = keyOf(own, purpose);
  const subject = change.subject ?? ROOT_SUBJECT;
  const certificate = issueCertificate({
    subject,
    publicKey: createPublicKey(privateKey),
    privateKey,
    ...LIFE,
    isCa: true,
    keyUsage: ['keyCertSign', 'cRLSign'],
    ...change,
  });
  return { certificate, subject, privateKey };
}

export function issueAuthority(
  issuer: Party,
  kind: string,
  { kind: own = kind, ...change }: Change = {},
  purpose = 'authority',
): Party {
  const privateKey = keyOf(own, purpose);
  const subject = change.subject ?? AUTHORITY_SUBJECT;
  const certificate = issueCertificate({
    subject,
    publicKey: createPublicKey(privateKey),
    issuer,
    ...LIFE,
    isCa: true,
    pathLength: 0,
    keyUsage: ['keyCertSign', 'cRLSign'],
    ...change,
  });
  return { certificate, subject, privateKey };
}

export function issueSigner(
  issuer: Party,
  kind: string,
  { kind: own = kind, ...change }: Change = {},
): Party {
  const privateKey = keyOf(own, 'signer');
  const subject = change.subject ?? SIGNER_SUBJECT;
  const certificate = issueCertificate({
    subject,
    publicKey: createPublicKey(privateKey),
    issuer,
    ...LIFE,
    keyUsage: ['digitalSignature'],
    extendedKeyUsage: [CODE_SIGNING],
    ...change,
  });
  return { certificate, subject, privateKey };
}

/** Authorities have keys of the signer's family, none of them slow to make. */
export const authorityKind = (keyType: KeyType): string => (keyType.startsWith('RSA') ? 'RSA-2048' : 'P-256');

function makeKit(keyType: KeyType): Kit {
  const kind = authorityKind(keyType);
  const root = issueRoot(kind);
  const authority = issueAuthority(root, kind);
  const signer = issueSigner(authority, keyType);
  return {
    keyType,
    algorithm: ALGORITHMS[keyType],
    root,
    authority,
    signer,
    chain: [signer.certificate, authority.certificate, root.certificate],
    policy: policyFor(root.certificate),
  };
}

export const BUILDER_ID = 'https://builders.example/release';
export const BUILD_TYPE = 'https://builders.example/container/v1';
export const SOURCE = 'git+https://code.example/team/demo@refs/heads/main';

export const publicPem = (privateKey: KeyObject): string =>
  String(createPublicKey(privateKey).export({ type: 'spki', format: 'pem' }));

export function policyFor(root: Buffer, change: Partial<TrustPolicy> = {}): TrustPolicy {
  return {
    name: 'example',
    description: '',
    repository_pattern: 'gpuaas/apps/example/*',
    roots: [toPem(root)],
    identities: ['CN=release,O=Example'],
    provenance: { required: false, builders: [], source_repositories: [] },
    version: 1,
    created_at: NOW.toISOString(),
    updated_at: NOW.toISOString(),
    updated_by: 'user:somebody',
    ...change,
  };
}

let kits: Kit[] | undefined;

export function makeKits(): Kit[] {
  kits ??= KEY_TYPES.map(makeKit);
  return kits;
}

export function kitOf(keyType: KeyType): Kit {
  const kit = makeKits().find((each) => each.keyType === keyType);
  if (!kit) throw new Error(`There is no signer with ${keyType}.`);
  return kit;
}

/** Of the same as a mutation, everything right. */
export function ask(
  kit: Kit,
  descriptor: Descriptor,
  signature: Buffer,
  change: Partial<Question> & { policy?: TrustPolicy; mediaType?: string } = {},
): Question {
  const { policy = kit.policy, mediaType = ENVELOPE, ...question } = change;
  return {
    descriptor,
    repository: REPOSITORY,
    evidence: { signatures: [{ mediaType, bytes: signature }], provenances: [] },
    trust: { revision: 7, policies: [policy], revoked: [] },
    now: NOW,
    ...question,
  };
}

type Members = Record<string, unknown>;

/** What an envelope is made of, each part to be given as it is or, where it is no object, as raw text. */
export interface Draft {
  header: unknown;
  payload: unknown;
  chain: unknown;
  /** Signs what is to be signed; the signer's own way unless told. */
  sign: (input: Buffer) => Buffer;
  /** Changes the finished envelope. */
  finish: (envelope: Members) => unknown;
}

export const SCHEME = 'io.cncf.notary.signingScheme';
export const SIGNED_AT = 'io.cncf.notary.signingTime';
export const EXPIRY = 'io.cncf.notary.expiry';

export const goodHeader = ({ algorithm }: Pick<Kit, 'algorithm'>): Members => ({
  alg: algorithm,
  crit: [SCHEME],
  cty: 'application/vnd.cncf.notary.payload.v1+json',
  [SCHEME]: 'notary.x509',
  [SIGNED_AT]: '2026-11-15T12:00:00Z',
});

export const goodPayload = ({ mediaType, digest, size }: Descriptor): Members => ({
  targetArtifact: { mediaType, digest, size },
});

export function draftEnvelope(kit: Kit, descriptor: Descriptor, draft: Partial<Draft> = {}): Buffer {
  const header = encode(draft.header ?? goodHeader(kit));
  const payload = encode(draft.payload ?? goodPayload(descriptor));
  const signed = (draft.sign ?? ((input) => signOnce(kit, input)))(Buffer.from(`${header}.${payload}`));
  const envelope: Members = {
    payload,
    protected: header,
    header: {
      x5c: draft.chain ?? kit.chain.map((certificate) => certificate.toString('base64')),
      'io.cncf.notary.signingAgent': 'gpuaas/0.1.0',
    },
    signature: signed.toString('base64url'),
  };
  return Buffer.from(textOf(draft.finish?.(envelope) ?? envelope));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
const encode = (value: unknown): string => Buffer.from(textOf(value)).toString('base64url');

const signatures = new Map<string, Buffer>();

/** Most envelopes say the same, and large keys sign slowly. */
export function signOnce({ keyType, algorithm, signer }: Kit, input: Buffer): Buffer {
  const name = `${keyType} ${algorithm} ${input.toString()}`;
  const signature = signatures.get(name) ?? signAs(algorithm, signer.privateKey, input);
  signatures.set(name, signature);
  return signature;
}

/** RFC 7518, by the name of the algorithm, whatever the key. */
export function signAs(algorithm: string, key: KeyObject, input: Uint8Array): Buffer {
  const padding = algorithm.startsWith('PS')
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : {};
  const options: SignKeyObjectInput = { key, dsaEncoding: 'ieee-p1363', ...padding };
  return sign(`sha${algorithm.slice(2)}`, input, options);
}

export const describeContent = (
  content: string,
  mediaType = 'application/vnd.oci.image.manifest.v1+json',
) => ({
  mediaType,
  digest: `sha256:${hash('sha256', content)}`,
  size: Buffer.byteLength(content),
});

/** The same numbers every time. */
export function random(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    const mixed = Math.imul(state ^ (state >>> 13), 0x297a2d39);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % below;
  };
}

/** So many places of a length, spread over all of it. */
export function places(length: number, count: number): number[] {
  return Array.from({ length: Math.min(length, count) }, (_, index) =>
    Math.floor((index * length) / Math.min(length, count)),
  );
}

export function flip(bytes: Uint8Array, place: number, bit: number): Buffer {
  const flipped = Buffer.from(bytes);
  flipped[place] = (flipped[place] ?? 0) ^ (1 << bit);
  return flipped;
}
