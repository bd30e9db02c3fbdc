// Certificates nobody's signature counts under any more, whatever policy trusts their root.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import { Description } from '../platform/name.ts';
import type { TrustHead } from './trust-policy.ts';
import { refuse } from './problems.ts';

/** All of them are read to judge one signature. */
export const REVOKED_CERTIFICATES_MAX = 1_000;

/** SHA-256 over the certificate in DER. */
const Fingerprint = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/, '64 hexadecimal digits in lower case'));

export const RevokedCertificateParams = v.object({ fingerprint: Fingerprint });

export const RevokeCertificate = v.strictObject({ reason: v.pipe(Description, v.minLength(1)) });

export const RevokedCertificate = v.object({
  /** SHA-256 over the certificate, in hexadecimal digits. */
  fingerprint: v.string(),
  reason: v.string(),
  revoked_at: v.string(),
  revoked_by: v.string(),
});
export type RevokedCertificate = v.InferOutput<typeof RevokedCertificate>;

export const RevokedCertificatePage = v.object({
  items: v.array(RevokedCertificate),
  next_cursor: v.nullable(v.string()),
});

export function requireRoomToRevoke(
  { revoked_count }: TrustHead,
  before: RevokedCertificate | undefined,
): void {
  if (!before && revoked_count >= REVOKED_CERTIFICATES_MAX)
    throw refuse('certificate.too_many', {
      detail: `At most ${REVOKED_CERTIFICATES_MAX} certificates can be revoked. Restore those that have expired: they are not accepted anyway.`,
    });
}

/** Revoking again keeps the first time and replaces the reason. */
export function planRevocation(
  before: RevokedCertificate | undefined,
  fingerprint: string,
  reason: string,
  by: string,
  now: Date,
): RevokedCertificate {
  return { fingerprint, revoked_at: now.toISOString(), revoked_by: by, ...before, reason };
}

export const subjectOfCertificate = (fingerprint: string): string => `certificate:${fingerprint}`;

export const CertificateRevoked = event(
  'apps.trust.certificate_revoked',
  1,
  v.object({ fingerprint: Fingerprint, reason: v.string() }),
);

export const CertificateRestored = event(
  'apps.trust.certificate_restored',
  1,
  v.object({ fingerprint: Fingerprint }),
);
