// An X.509 certificate (RFC 5280), read by our own reader alone: two readers of the same bytes may disagree on what
// was signed. Nothing here knows AWS.

import { hash } from 'node:crypto';
import {
  bytesOf,
  contentOf,
  contextTag,
  countOf,
  type Element,
  identifierOf,
  isTrue,
  namedBitsOf,
  readDer,
  sequenceOf,
  TAG,
  timeOf,
  Unreadable,
} from './der.ts';
import { type DistinguishedName, readName } from './distinguished-name.ts';
import { type Hash, isCertificateSignature, type PublicKey, readPublicKey } from './public-key.ts';

const CERTIFICATE_BYTES_MAX = 16 * 1024;
/** RFC 5280 §4.1.2.2. */
const SERIAL_NUMBER_BYTES_MAX = 20;

export const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
export const ANY_PURPOSE = '2.5.29.37.0';

const BASIC_CONSTRAINTS = '2.5.29.19';
const KEY_USAGE = '2.5.29.15';
const EXTENDED_KEY_USAGE = '2.5.29.37';

/** By their bits: RFC 5280 §4.2.1.3. */
const USAGES = [
  'digitalSignature',
  'contentCommitment',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;
export type KeyUsage = (typeof USAGES)[number];

const SIGNED_WITH = new Map<string, { family: PublicKey['family']; hash: Hash }>([
  ['1.2.840.113549.1.1.11', { family: 'rsa', hash: 'sha256' }],
  ['1.2.840.113549.1.1.12', { family: 'rsa', hash: 'sha384' }],
  ['1.2.840.113549.1.1.13', { family: 'rsa', hash: 'sha512' }],
  ['1.2.840.10045.4.3.2', { family: 'elliptic', hash: 'sha256' }],
  ['1.2.840.10045.4.3.3', { family: 'elliptic', hash: 'sha384' }],
  ['1.2.840.10045.4.3.4', { family: 'elliptic', hash: 'sha512' }],
]);

interface Critical {
  isCritical: boolean;
}

export interface Certificate {
  bytes: Buffer;
  /** SHA-256 over the whole, in hexadecimal digits. */
  fingerprint: string;
  serialNumber: string;
  subject: DistinguishedName;
  subjectBytes: Buffer;
  issuer: DistinguishedName;
  issuerBytes: Buffer;
  notBefore: Date;
  notAfter: Date;
  key: PublicKey;
  basicConstraints?: Critical & { isAuthority: boolean; pathLength?: number };
  keyUsage?: Critical & { has: (usage: KeyUsage) => boolean };
  /** What its key is for, by object identifier. */
  purposes?: string[];
  /** Whether it says something that must be understood, and is not. */
  hasUnknownCritical: boolean;
  /** Undefined where it was signed in a way that is not accepted any more, or not known. */
  signedWith?: { family: PublicKey['family']; hash: Hash };
  signed: Buffer;
  signature: Buffer;
}

export function readCertificate(bytes: Uint8Array): Certificate {
  if (bytes.length > CERTIFICATE_BYTES_MAX)
    throw new Unreadable(`expected certificates of at most ${CERTIFICATE_BYTES_MAX} bytes`);
  const whole = readDer(bytes);
  const [signed, algorithm, signature, ...more] = sequenceOf(whole, 'a certificate');
  const [version, serial, innerAlgorithm, issuer, validity, subject, spki, extensions, ...others] =
    sequenceOf(signed, 'the signed part of a certificate');
  if (!signed || !algorithm || !spki || more.length > 0 || others.length > 0)
    throw new Unreadable('expected a complete certificate');
  const [number] = version?.tag === contextTag(0) ? version.children : [];
  if (!number || countOf(number, 'the version of a certificate') !== 2)
    throw new Unreadable('expected a certificate of version 3');
  // What is outside is not signed, so it may only repeat what is inside (RFC 5280 §4.1.1.2).
  if (!innerAlgorithm?.bytes.equals(algorithm.bytes))
    throw new Unreadable('expected the same algorithm inside and outside the signed part of a certificate');
  const [notBefore, notAfter] = sequenceOf(validity, 'the validity of a certificate');
  return {
    bytes: whole.bytes,
    fingerprint: hash('sha256', whole.bytes),
    serialNumber: readSerialNumber(serial),
    subject: readName(subject, 'a subject'),
    subjectBytes: subject?.bytes ?? Buffer.alloc(0),
    issuer: readName(issuer, 'an issuer'),
    issuerBytes: issuer?.bytes ?? Buffer.alloc(0),
    notBefore: timeOf(notBefore, 'the start time of a certificate'),
    notAfter: timeOf(notAfter, 'the end time of a certificate'),
    key: readPublicKey(spki),
    ...readExtensions(extensions),
    ...readAlgorithm(algorithm),
    signed: signed.bytes,
    signature: bytesOf(signature, 'the signature of a certificate'),
  };
}

function readSerialNumber(element: Element | undefined): string {
  const content = contentOf(element, TAG.integer, 'a serial number');
  if (content.length > SERIAL_NUMBER_BYTES_MAX || (content[0] ?? 0) >= 0x80)
    throw new Unreadable('expected a positive serial number of at most 20 bytes');
  return content.toString('hex');
}

function readAlgorithm(element: Element): Pick<Certificate, 'signedWith'> {
  const [type, parameters, ...more] = sequenceOf(element, 'the algorithm of a certificate');
  const signedWith = SIGNED_WITH.get(identifierOf(type, 'the algorithm of a certificate'));
  if (!signedWith) return {};
  // RFC 4055 §5 has a null there, RFC 5758 §3.2 nothing.
  const isAsWritten = signedWith.family === 'rsa' ? parameters?.tag === TAG.null : !parameters;
  if (!isAsWritten || more.length > 0) throw new Unreadable('expected an algorithm without parameters');
  return { signedWith };
}

type Extensions = Pick<Certificate, 'basicConstraints' | 'keyUsage' | 'purposes' | 'hasUnknownCritical'>;

function readExtensions(element: Element | undefined): Extensions {
  const extensions: Extensions = { hasUnknownCritical: false };
  if (!element) return extensions;
  // Unique identifiers, which stand before, are of a time when names were given twice.
  const [list, ...more] = element.tag === contextTag(3) ? element.children : [];
  if (!list || more.length > 0) throw new Unreadable('expected the extensions of a certificate');
  const seen = new Set<string>();
  for (const extension of sequenceOf(list, 'the extensions of a certificate')) {
    const [type, ...rest] = sequenceOf(extension, 'an extension');
    const id = identifierOf(type, 'the identifier of an extension');
    const [value, flag, ...tooMany] = rest.toReversed();
    if (seen.has(id) || tooMany.length > 0)
      throw new Unreadable('expected each extension only once and complete');
    seen.add(id);
    const isCritical = flag ? isTrue(flag, 'the critical flag of an extension') : false;
    const content = contentOf(value, TAG.octetString, 'the value of an extension');
    readExtension(extensions, id, isCritical, content);
  }
  return extensions;
}

function readExtension(extensions: Extensions, id: string, isCritical: boolean, content: Buffer): void {
  switch (id) {
    case BASIC_CONSTRAINTS:
      extensions.basicConstraints = { isCritical, ...readBasicConstraints(readDer(content)) };
      return;
    case KEY_USAGE: {
      const bits = namedBitsOf(readDer(content), 'a key usage');
      extensions.keyUsage = { isCritical, has: (usage) => bits.has(USAGES.indexOf(usage)) };
      return;
    }
    case EXTENDED_KEY_USAGE:
      extensions.purposes = sequenceOf(readDer(content), 'an extended key usage').map((purpose) =>
        identifierOf(purpose, 'an extended key usage'),
      );
      return;
    default:
      extensions.hasUnknownCritical ||= isCritical;
  }
}

function readBasicConstraints(element: Element): { isAuthority: boolean; pathLength?: number } {
  const parts = sequenceOf(element, 'basic constraints');
  const isAuthority = parts[0]?.tag === TAG.boolean && isTrue(parts[0], 'the authority flag');
  const [length, ...more] = parts.slice(isAuthority ? 1 : 0);
  if (more.length > 0 || (length && !isAuthority)) throw new Unreadable('expected basic constraints');
  return { isAuthority, ...(length && { pathLength: countOf(length, 'a path length') }) };
}

/** Whether one certificate was issued with the key and under the name of another. */
export function isIssuedBy(certificate: Certificate, issuer: Certificate): boolean {
  const { signedWith, signed, signature, issuerBytes } = certificate;
  if (!signedWith || signedWith.family !== issuer.key.family) return false;
  if (!issuerBytes.equals(issuer.subjectBytes)) return false;
  return isCertificateSignature(issuer.key, signedWith.hash, signed, signature);
}

/** RFC 7468: one block and nothing else; undefined where it is not. */
export function pemBytes(text: string, label: 'CERTIFICATE' | 'PUBLIC KEY'): Buffer | undefined {
  const [begin, ...lines] = text.trim().split(/\r?\n/);
  const end = lines.pop();
  if (begin !== `-----BEGIN ${label}-----` || end !== `-----END ${label}-----`) return undefined;
  const base64 = lines.join('');
  const bytes = Buffer.from(base64, 'base64');
  return bytes.length > 0 && bytes.toString('base64') === base64 ? bytes : undefined;
}
