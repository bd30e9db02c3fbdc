// Certificates, RFC 5280. Node reads them and does not make them, and openssl may be absent.

import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
  type KeyPairKeyObjectResult,
} from 'node:crypto';
import { hashOf, algorithmOf, type KeyType } from './algorithms.ts';
import {
  bits,
  explicit,
  implicit,
  integer,
  nothing,
  objectId,
  octets,
  sequence,
  small,
  time,
  yes,
} from './der-writer.ts';
import { encodeName } from './distinguished-name.ts';

/** RFC 5280 4.2.1.3, in the order of their bits. */
const KEY_USAGES = [
  'digitalSignature',
  'nonRepudiation',
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const;
export type KeyUsage = (typeof KEY_USAGES)[number];

/** RFC 5280 4.2.1.12. */
export const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';

type SignatureHash = 'sha1' | 'sha256' | 'sha384' | 'sha512';

export interface CertificateRequest {
  /** RFC 4514: `CN=release,O=Example,C=US`. */
  subject: string;
  publicKey: KeyObject;
  /** Who signs it. Without one it signs itself, with `privateKey`. */
  issuer?: { subject: string; privateKey: KeyObject };
  privateKey?: KeyObject;
  /** Hexadecimal digits; drawn at random without. */
  serialNumber?: string;
  notBefore: Date;
  notAfter: Date;
  /** What is left out here is left out of the certificate: nothing is added by itself. */
  isCa?: boolean;
  pathLength?: number;
  keyUsage?: KeyUsage[];
  /** Object identifiers. */
  extendedKeyUsage?: string[];
  /** By default what fits the issuer's key. */
  signatureHash?: SignatureHash;
}

/** A certificate in DER. */
export function issueCertificate(request: CertificateRequest): Buffer {
  const { subject, publicKey, notBefore, notAfter } = request;
  const issuerKey = request.issuer?.privateKey ?? request.privateKey;
  if (issuerKey === undefined)
    throw new Error('Give an issuer, or the private key of the certificate itself.');
  const hash = request.signatureHash ?? hashFor(issuerKey);
  const algorithm = signatureAlgorithm(issuerKey, hash);
  const serialNumber = request.serialNumber ?? `01${randomBytes(15).toString('hex')}`;
  const toBeSigned = sequence(
    explicit(0, small(VERSION_3)),
    integer(Buffer.from(serialNumber, 'hex')),
    algorithm,
    encodeName(request.issuer?.subject ?? subject),
    sequence(time(notBefore), time(notAfter)),
    encodeName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...extensionsOf(request, createPublicKey(issuerKey)))),
  );
  return sequence(toBeSigned, algorithm, bits(sign(hash, toBeSigned, issuerKey)));
}

const VERSION_3 = 2;

function extensionsOf(request: CertificateRequest, issuerKey: KeyObject): Buffer[] {
  const { isCa, pathLength, keyUsage, extendedKeyUsage } = request;
  const pathLengthPart = pathLength === undefined ? [] : [small(pathLength)];
  return [
    ...(isCa ? [critical('2.5.29.19', sequence(yes(), ...pathLengthPart))] : []),
    ...(keyUsage === undefined ? [] : [critical('2.5.29.15', usageBits(keyUsage))]),
    ...(extendedKeyUsage === undefined
      ? []
      : [extension('2.5.29.37', sequence(...extendedKeyUsage.map(objectId)))]),
    extension('2.5.29.14', octets(keyIdentifier(request.publicKey))),
    extension('2.5.29.35', sequence(implicit(0, keyIdentifier(issuerKey)))),
  ];
}

const extension = (id: string, value: Buffer): Buffer => sequence(objectId(id), octets(value));
const critical = (id: string, value: Buffer): Buffer => sequence(objectId(id), yes(), octets(value));

/** X.690 11.2.2: of a list of named bits the trailing zeros are left out. */
function usageBits(usages: KeyUsage[]): Buffer {
  const places = usages.map((usage) => KEY_USAGES.indexOf(usage));
  const highest = Math.max(-1, ...places);
  const bytes = Buffer.alloc(Math.ceil((highest + 1) / 8));
  for (const place of places) bytes[place >> 3] = (bytes[place >> 3] ?? 0) | (0x80 >> (place & 7));
  return bits(bytes, bytes.length * 8 - (highest + 1));
}

/** RFC 7093 2, method 4: the name by which an issuer's key is found. */
const keyIdentifier = (key: KeyObject): Buffer =>
  createHash('sha256')
    .update(key.export({ type: 'spki', format: 'der' }))
    .digest();

/** RFC 5758 3.2 for curves; RFC 4055 5 for RSA, where the old padding is what every verifier reads. */
const SIGNATURE_IDS: Record<'ec' | 'rsa', Record<SignatureHash, string>> = {
  ec: {
    sha1: '1.2.840.10045.4.1',
    sha256: '1.2.840.10045.4.3.2',
    sha384: '1.2.840.10045.4.3.3',
    sha512: '1.2.840.10045.4.3.4',
  },
  rsa: {
    sha1: '1.2.840.113549.1.1.5',
    sha256: '1.2.840.113549.1.1.11',
    sha384: '1.2.840.113549.1.1.12',
    sha512: '1.2.840.113549.1.1.13',
  },
};

function signatureAlgorithm(key: KeyObject, hash: SignatureHash): Buffer {
  return key.asymmetricKeyType === 'ec'
    ? sequence(objectId(SIGNATURE_IDS.ec[hash]))
    : sequence(objectId(SIGNATURE_IDS.rsa[hash]), nothing());
}

const hashFor = (key: KeyObject): SignatureHash => hashOf(algorithmOf(key));

/** RFC 7468. */
export function toPem(certificate: Uint8Array): string {
  const lines =
    Buffer.from(certificate)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}

export interface DevelopmentChain {
  /** What a trust policy names. */
  rootPem: string;
  /** The signer's certificate first, the root last. */
  chainPem: string;
  keyPem: string;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** A signature lasts no longer than its certificates. */
const DEVELOPMENT_DAYS = 365;

/** A root and a signer below it, as the specification wants them of certificates that sign code. */
export function createDevelopmentChain(options: {
  organisation: string;
  commonName?: string;
  now?: Date;
  keyType?: KeyType;
}): DevelopmentChain {
  const { organisation, commonName = 'development', now = new Date(), keyType = 'P-256' } = options;
  const organisationPart = `O=${escapeValue(organisation)}`;
  const rootSubject = `CN=${escapeValue(`${commonName} root`)},${organisationPart}`;
  const root = createKeyPair(keyType);
  const signer = createKeyPair(keyType);
  const validity = {
    // The clock of whoever verifies may be a little behind.
    notBefore: new Date(now.getTime() - DAY_MS),
    notAfter: new Date(now.getTime() + DEVELOPMENT_DAYS * DAY_MS),
  };
  const rootCertificate = issueCertificate({
    subject: rootSubject,
    publicKey: root.publicKey,
    privateKey: root.privateKey,
    ...validity,
    isCa: true,
    pathLength: 0,
    keyUsage: ['keyCertSign', 'cRLSign'],
  });
  const signerCertificate = issueCertificate({
    subject: `CN=${escapeValue(commonName)},${organisationPart}`,
    publicKey: signer.publicKey,
    issuer: { subject: rootSubject, privateKey: root.privateKey },
    ...validity,
    keyUsage: ['digitalSignature'],
    extendedKeyUsage: [CODE_SIGNING],
  });
  return {
    rootPem: toPem(rootCertificate),
    chainPem: toPem(signerCertificate) + toPem(rootCertificate),
    keyPem: String(signer.privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

/** RFC 4514 2.4. */
const escapeValue = (value: string): string => value.trim().replaceAll(/[\\,+"<>;=#]/g, String.raw`\$&`);

function createKeyPair(type: KeyType): KeyPairKeyObjectResult {
  return type.startsWith('RSA-')
    ? generateKeyPairSync('rsa', { modulusLength: Number(type.slice(4)) })
    : generateKeyPairSync('ec', { namedCurve: type });
}
