// Whether a chain of certificates may sign: Notary Project signature specification, "Certificate Requirements". Checked
// before signing, as the specification asks: a signature nobody will accept is not worth making.

import { X509Certificate } from 'node:crypto';
import { CODE_SIGNING } from './certificates.ts';
import { readElement, readElements } from './der-reader.ts';
import { objectId } from './der-writer.ts';
import { SigningError } from './signing-error.ts';

const KEY_USAGE = objectId('2.5.29.15');
const BASIC_CONSTRAINTS = objectId('2.5.29.19');
const EXTENSIONS_TAG = 0xa3;
const BOOLEAN_TAG = 0x01;
const DIGITAL_SIGNATURE = 0x80;
const KEY_CERT_SIGN = 0x04;
/** RFC 5280 4.2.1.12 and 4.2.2.1: any, serverAuth, clientAuth, emailProtection, timeStamping, OCSPSigning. */
const OTHER_PURPOSES = new Set(['2.5.29.37.0', ...[1, 2, 4, 8, 9].map((last) => `1.3.6.1.5.5.7.3.${last}`)]);
/** nonRepudiation is the one other use a signer's certificate may have. */
const LEAF_USES = 0xc0;

/** Throws with what is wrong with which certificate. */
export function requireSigningChain(chain: Buffer[], at: Date): void {
  const certificates = chain.map((der) => new X509Certificate(der));
  for (const [place, certificate] of certificates.entries()) {
    requireValid(certificate, at);
    requireIssuer(certificate, certificates[place + 1]);
    // A single self-signed certificate is a signer's, whatever else it is.
    if (place === 0) requireSignerUsage(certificate);
    else requireAuthority(certificate, place - 1);
  }
}

function requireValid(certificate: X509Certificate, at: Date): void {
  const { validFromDate, validToDate } = certificate;
  if (at < validFromDate || at > validToDate) {
    const span = `from ${validFromDate.toISOString()} to ${validToDate.toISOString()}`;
    throw unfit(
      certificate,
      `is not valid now, only ${span}`,
      'Renew the certificate, or correct the clock.',
    );
  }
}

function requireIssuer(certificate: X509Certificate, issuer: X509Certificate | undefined): void {
  if (isIssuedBy(certificate, issuer ?? certificate)) return;
  throw issuer === undefined
    ? unfit(
        certificate,
        'is the last one of the chain and is not a root',
        'Add the certificate of its issuer, up to the root that signs itself.',
      )
    : unfit(
        certificate,
        'was not issued by the next one in the chain',
        "Order the chain: the signer's own certificate first, then each one's issuer, the root last.",
      );
}

/** Node's own check looks at the issuer's uses as well, of which more is told below. */
const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.issuer === issuer.subject && certificate.verify(issuer.publicKey);

function requireSignerUsage(certificate: X509Certificate): void {
  const usage = keyUsageOf(certificate);
  const isForSigning = (usage & DIGITAL_SIGNATURE) !== 0 && (usage & ~LEAF_USES) === 0;
  const purposes = certificate.keyUsage ?? [CODE_SIGNING];
  const isForCode =
    purposes.includes(CODE_SIGNING) && !purposes.some((purpose) => OTHER_PURPOSES.has(purpose));
  if (certificate.ca || !isForSigning || !isForCode) {
    throw unfit(
      certificate,
      'is not a code signing certificate',
      'It needs a critical key usage of digitalSignature only, codeSigning as its only extended key usage, and must not be an authority.',
    );
  }
}

function requireAuthority(certificate: X509Certificate, authoritiesBelow: number): void {
  const pathLength = pathLengthOf(certificate);
  if (!certificate.ca || (keyUsageOf(certificate) & KEY_CERT_SIGN) === 0) {
    throw unfit(
      certificate,
      'is not a certificate authority',
      'It needs critical basic constraints with cA, and a critical key usage with keyCertSign.',
    );
  }
  if (pathLength !== undefined && pathLength < authoritiesBelow) {
    const most = `allows ${pathLength} authorities below it and has ${authoritiesBelow}`;
    throw unfit(certificate, most, 'Use a chain with fewer authorities.');
  }
}

const unfit = ({ subject }: X509Certificate, what: string, advice: string): SigningError =>
  new SigningError('failed', `The certificate of “${subject.replaceAll('\n', ', ')}” ${what}.`, advice);

/** The first eight uses as bits; none where the extension is missing or not critical. */
function keyUsageOf(certificate: X509Certificate): number {
  const value = criticalExtension(certificate, KEY_USAGE);
  if (value === undefined) return 0;
  const [, uses = 0, more = 0] = readElement(value).content;
  // What stands in a second byte is decipherOnly: one use more, whichever bit says so.
  return more === 0 ? uses : uses | 0x01;
}

function pathLengthOf(certificate: X509Certificate): number | undefined {
  const value = criticalExtension(certificate, BASIC_CONSTRAINTS);
  if (value === undefined) return undefined;
  const [, length] = readElements(readElement(value).content);
  return length?.content.reduce((sum, byte) => sum * 256 + byte, 0);
}

/** RFC 5280 4.1: Node tells of few extensions, and of none whether it is critical. */
function criticalExtension(certificate: X509Certificate, id: Buffer): Uint8Array | undefined {
  const [toBeSigned] = readElements(readElement(certificate.raw).content);
  const extensions = readElements(toBeSigned?.content ?? new Uint8Array()).find(
    ({ tag }) => tag === EXTENSIONS_TAG,
  );
  if (extensions === undefined) return undefined;
  for (const extension of readElements(readElement(extensions.content).content)) {
    const [, isCritical, value] = readElements(extension.content);
    if (id.compare(extension.content, 0, id.length) === 0 && isCritical?.tag === BOOLEAN_TAG) {
      return value?.content;
    }
  }
  return undefined;
}
