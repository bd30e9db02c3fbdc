// Keys that sign, by what they are: each has one algorithm, which nothing in a signature can choose.

import { constants, createPublicKey, hash, type KeyObject, verify } from 'node:crypto';
import {
  bytesOf,
  contentOf,
  type Element,
  identifierOf,
  readDer,
  sequenceOf,
  TAG,
  Unreadable,
} from './der.ts';

const RSA = '1.2.840.113549.1.1.1';
const ELLIPTIC = '1.2.840.10045.2.1';

const CURVES = new Map([
  ['1.2.840.10045.3.1.7', 'P-256'],
  ['1.3.132.0.34', 'P-384'],
  ['1.3.132.0.35', 'P-521'],
]);

const RSA_BITS_MIN = 2048;
const RSA_BITS_MAX = 8192;
const RSA_EXPONENT_MIN = 65_537n;
/** One as long as the modulus makes each verification take a hundred times as long. */
const RSA_EXPONENT_BYTES_MAX = 8;

export type Hash = 'sha256' | 'sha384' | 'sha512';

/** Notary Project, signature specification, "Algorithm Selection": what each kind of key signs with. */
const SIGNING: Record<string, { algorithm: string; hash: Hash }> = {
  'P-256': { algorithm: 'ES256', hash: 'sha256' },
  'P-384': { algorithm: 'ES384', hash: 'sha384' },
  'P-521': { algorithm: 'ES512', hash: 'sha512' },
  'RSA-2048': { algorithm: 'PS256', hash: 'sha256' },
  'RSA-3072': { algorithm: 'PS384', hash: 'sha384' },
  'RSA-4096': { algorithm: 'PS512', hash: 'sha512' },
};

export interface PublicKey {
  family: 'elliptic' | 'rsa';
  /** `P-256`, `RSA-2048`. */
  kind: string;
  /** Whether a certificate may be issued for it, or with it. */
  isStrong: boolean;
  /** What it signs artifacts and statements with; an RSA key of an odd size does not. */
  signing?: { algorithm: string; hash: Hash };
  key: KeyObject;
  /** SHA-256 over its encoding, in hexadecimal digits. */
  fingerprint: string;
}

export function readPublicKey(spki: Element): PublicKey {
  const [algorithm, bits, ...more] = sequenceOf(spki, 'a public key');
  if (more.length > 0) throw new Unreadable('expected a public key of an algorithm and a bit string');
  const [type, parameters, ...others] = sequenceOf(algorithm, 'the algorithm of a public key');
  if (others.length > 0) throw new Unreadable('expected at most one parameter of a public key');
  const about = describe(identifierOf(type, 'the type of a public key'), parameters, bits);
  const signing = SIGNING[about.kind];
  return {
    ...about,
    ...(signing && { signing }),
    key: load(spki.bytes),
    fingerprint: hash('sha256', spki.bytes),
  };
}

function describe(
  type: string,
  parameters: Element | undefined,
  bits: Element | undefined,
): Pick<PublicKey, 'family' | 'kind' | 'isStrong'> {
  if (type === ELLIPTIC) {
    // Only by name: a curve that is spelled out may look like a good one and have another generator.
    const kind = CURVES.get(identifierOf(parameters, 'the name of a curve'));
    return { family: 'elliptic', kind: kind ?? 'another curve', isStrong: kind !== undefined };
  }
  if (type !== RSA) throw new Unreadable('expected an elliptic or an RSA key');
  contentOf(parameters, TAG.null, 'no parameters of an RSA key');
  const [modulus, exponent] = sequenceOf(readDer(bytesOf(bits, 'an RSA key')), 'an RSA key');
  const size = bitsOf(contentOf(modulus, TAG.integer, 'an RSA modulus'));
  const exponentBytes = contentOf(exponent, TAG.integer, 'an RSA exponent');
  if (exponentBytes.length > RSA_EXPONENT_BYTES_MAX)
    throw new Unreadable(`expected an RSA exponent of at most ${RSA_EXPONENT_BYTES_MAX} bytes`);
  const power = numberOf(exponentBytes);
  const isStrong = size >= RSA_BITS_MIN && size <= RSA_BITS_MAX && power >= RSA_EXPONENT_MIN;
  return { family: 'rsa', kind: `RSA-${size}`, isStrong };
}

const numberOf = (integer: Buffer): bigint => BigInt(`0x${integer.toString('hex')}`);
const bitsOf = (integer: Buffer): number => numberOf(integer).toString(2).length;

function load(spki: Buffer): KeyObject {
  try {
    return createPublicKey({ key: spki, format: 'der', type: 'spki' });
  } catch {
    throw new Unreadable('expected a valid public key');
  }
}

/** RFC 7518 §3.4, §3.5: both numbers of an elliptic signature side by side, PSS with a salt as long as the hash. */
export function isJwsSignature(key: PublicKey, data: Uint8Array, signature: Uint8Array): boolean {
  return key.signing !== undefined && isSigned(key, key.signing.hash, data, signature, 'ieee-p1363', PSS);
}

/** As DSSE signatures are commonly made: an elliptic one in DER, otherwise the same. */
export function isDsseSignature(key: PublicKey, data: Uint8Array, signature: Uint8Array): boolean {
  return key.signing !== undefined && isSigned(key, key.signing.hash, data, signature, 'der', PSS);
}

/** RFC 3279 §2.2, RFC 5758 §3.2: as certificates are signed. */
export function isCertificateSignature(
  key: PublicKey,
  digest: Hash,
  data: Uint8Array,
  signature: Uint8Array,
): boolean {
  return isSigned(key, digest, data, signature, 'der', { padding: constants.RSA_PKCS1_PADDING });
}

const PSS = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

function isSigned(
  { family, key }: PublicKey,
  digest: Hash,
  data: Uint8Array,
  signature: Uint8Array,
  dsaEncoding: 'der' | 'ieee-p1363',
  padding: { padding: number; saltLength?: number },
): boolean {
  try {
    return verify(digest, data, { key, dsaEncoding, ...(family === 'rsa' && padding) }, signature);
  } catch {
    // OpenSSL would rather not even try.
    return false;
  }
}
