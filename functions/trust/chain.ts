// From a signer's certificate to a root that a policy pins: Notary Project, signature specification, "Certificate
// Requirements", and in two points less lenient (docs/trust.md).

import { ANY_PURPOSE, type Certificate, CODE_SIGNING, isIssuedBy, type KeyUsage } from './certificate.ts';
import { distrust } from './distrust.ts';

export type Chain = [Certificate, ...Certificate[]];

/** Each was issued by the next, and the last is one of the roots, byte for byte. */
export function requireTrusted(chain: Chain, roots: Buffer[]): void {
  const last = chain.at(-1) ?? chain[0];
  for (const [index, certificate] of chain.entries()) {
    const issuer = chain[index + 1] ?? last;
    requireAccepted(certificate, issuer);
    if (!isIssuedBy(certificate, issuer))
      throw distrust(
        'chain.untrusted',
        'Expected each certificate to be issued by the next one, and the last to be self-signed.',
      );
  }
  if (!roots.some((root) => root.equals(last.bytes)))
    throw distrust('chain.untrusted', 'Expected the last certificate to be one of the roots of the policy.');
}

/** Checked before the signature: a forgeable signature proves nothing. */
function requireAccepted({ signedWith }: Certificate, issuer: Certificate): void {
  if (!signedWith)
    throw distrust(
      'chain.usage',
      'Expected certificates signed by ECDSA or RSA (PKCS #1 v1.5) with SHA-256, SHA-384 or SHA-512.',
    );
  if (!issuer.key.isStrong)
    throw distrust('chain.usage', 'Expected keys of P-256, P-384, P-521, or RSA of 2048 to 8192 bits.');
}

/** What each certificate says it is for. */
export function requireUsage([leaf, ...authorities]: Chain): void {
  for (const certificate of [leaf, ...authorities]) {
    if (certificate.hasUnknownCritical)
      throw distrust(
        'chain.usage',
        'Expected no critical extension besides basic constraints and key usage.',
      );
  }
  requireSigner(leaf);
  for (const [below, authority] of authorities.entries()) requireAuthority(authority, below);
}

const NOT_FOR_SIGNERS = [
  'keyEncipherment',
  'dataEncipherment',
  'keyAgreement',
  'keyCertSign',
  'cRLSign',
  'encipherOnly',
  'decipherOnly',
] as const satisfies KeyUsage[];

/** TLS servers and clients, mail, timestamps: certificates for these purposes are issued under other rules. */
const OTHER_PURPOSES = new Set([
  ANY_PURPOSE,
  '1.3.6.1.5.5.7.3.1',
  '1.3.6.1.5.5.7.3.2',
  '1.3.6.1.5.5.7.3.4',
  '1.3.6.1.5.5.7.3.8',
]);

function requireSigner({ basicConstraints, keyUsage, purposes, key }: Certificate): void {
  if (basicConstraints?.isAuthority)
    throw distrust('chain.usage', "Expected the signer's certificate not to be a certificate authority.");
  const mayOnlySign =
    keyUsage?.isCritical &&
    keyUsage.has('digitalSignature') &&
    !NOT_FOR_SIGNERS.some((usage) => keyUsage.has(usage));
  if (!mayOnlySign)
    throw distrust(
      'chain.usage',
      "Expected the signer's key usage to be critical and for digital signatures only.",
    );
  const isForCode =
    purposes?.includes(CODE_SIGNING) && !purposes.some((purpose) => OTHER_PURPOSES.has(purpose));
  if (!isForCode)
    throw distrust(
      'chain.usage',
      "Expected the signer's extended key usage to include code signing, and neither TLS, mail nor timestamps.",
    );
  if (!key.isStrong) throw distrust('chain.usage', 'Expected the signer to have a strong key.');
}

/** `below`: how many authorities stand between this one and the signer. */
function requireAuthority({ basicConstraints, keyUsage, purposes }: Certificate, below: number): void {
  if (!basicConstraints?.isAuthority || !basicConstraints.isCritical)
    throw distrust(
      'chain.usage',
      'Expected every certificate after the first to be a certificate authority.',
    );
  if ((basicConstraints.pathLength ?? Infinity) < below)
    throw distrust(
      'chain.usage',
      'Expected no more authorities below an authority than its path length allows.',
    );
  if (!keyUsage?.isCritical || !keyUsage.has('keyCertSign'))
    throw distrust(
      'chain.usage',
      'Expected the key usage of authorities to be critical and to include certificate signing.',
    );
  if (purposes && !purposes.includes(CODE_SIGNING) && !purposes.includes(ANY_PURPOSE))
    throw distrust('chain.usage', 'Expected authorities that allow code signing.');
}

/** Without a trusted timestamp, all certificates must be valid now, and must have been valid at the signing time. */
export function requireValid(chain: Chain, now: Date, signedAt: Date): void {
  const holds = ({ notBefore, notAfter }: Certificate, at: Date): boolean =>
    notBefore <= at && at <= notAfter;
  if (!chain.every((certificate) => holds(certificate, now)))
    throw distrust('chain.validity', 'Expected every certificate to be valid now.');
  if (!chain.every((certificate) => holds(certificate, signedAt)))
    throw distrust('chain.validity', 'Expected every certificate to be valid at the time of signing.');
}

export function requireUnrevoked(chain: Chain, revoked: ReadonlySet<string>): void {
  if (chain.some(({ fingerprint }) => revoked.has(fingerprint)))
    throw distrust('chain.revoked', 'Expected none of the certificates to be revoked.');
}
