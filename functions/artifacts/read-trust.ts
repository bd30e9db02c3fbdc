import * as v from 'valibot';
import { queryAll } from '../platform/data/rows.ts';
import { RevokedCertificate, REVOKED_CERTIFICATES_MAX } from '../trust/revoked-certificate.ts';
import { NO_TRUST, type Trust, TRUST_POLICIES_MAX, TrustHead, TrustPolicy } from '../trust/trust-policy.ts';
import { POLICY_ROWS, REVOKED_ROWS, TRUST_PARTITION, trustHeadKey } from './keys.ts';

const ROWS_MAX = 1 + TRUST_POLICIES_MAX + REVOKED_CERTIFICATES_MAX;

/**
 * Everything that trust is judged by, in one request if it fits a page of DynamoDB. The head with the revision is read
 * first: a change during the read leaves the older revision, and artifacts are verified again.
 */
export async function readTrust(): Promise<Trust> {
  const { items } = await queryAll({
    condition: 'pk = :trust',
    values: { ':trust': TRUST_PARTITION },
    max: ROWS_MAX,
    consistent: true,
  });
  const rowsOf = (kind: string) => items.filter(({ sk }) => String(sk).startsWith(kind));
  return {
    revision: headIn(items.find(({ sk }) => sk === trustHeadKey().sk)).revision,
    policies: rowsOf(POLICY_ROWS).map((item) => v.parse(TrustPolicy, item)),
    revoked: rowsOf(REVOKED_ROWS).map((item) => v.parse(RevokedCertificate, item)),
  };
}

export const headIn = (item: Record<string, unknown> | undefined): TrustHead =>
  v.parse(v.optional(TrustHead, NO_TRUST), item);
