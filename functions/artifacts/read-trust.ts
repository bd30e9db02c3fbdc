import * as v from 'valibot';
import { queryAll } from '../platform/data/rows.ts';
import { RevokedCertificate, REVOKED_CERTIFICATES_MAX } from '../trust/revoked-certificate.ts';
import {
  hostRevisionOf,
  type Trust,
  TRUST_POLICIES_MAX,
  TrustHead,
  TrustPolicy,
} from '../trust/trust-policy.ts';
import { readItem } from '../platform/data/table.ts';
import { POLICY_ROWS, REVOKED_ROWS, TRUST_PARTITION, trustHeadKey } from './keys.ts';

const ROWS_MAX = 1 + TRUST_POLICIES_MAX + REVOKED_CERTIFICATES_MAX;

interface KeptTrust {
  head: TrustHead;
  policies: TrustPolicy[];
  revoked: RevokedCertificate[];
}

/**
 * Everything that trust is judged by, in one request if it fits a page of DynamoDB. The head with the revision is read
 * first: a change during the read leaves the older revision, and artifacts are verified again.
 */
async function readAll(): Promise<KeptTrust> {
  const { items } = await queryAll({
    condition: 'pk = :trust',
    values: { ':trust': TRUST_PARTITION },
    max: ROWS_MAX,
    consistent: true,
  });
  const rowsOf = (kind: string) => items.filter(({ sk }) => String(sk).startsWith(kind));
  return {
    head: headIn(items.find(({ sk }) => sk === trustHeadKey().sk)),
    policies: rowsOf(POLICY_ROWS).map((item) => v.parse(TrustPolicy, item)),
    revoked: rowsOf(REVOKED_ROWS).map((item) => v.parse(RevokedCertificate, item)),
  };
}

export async function readTrust(): Promise<Trust> {
  const { head, policies, revoked } = await readAll();
  return { revision: head.revision, policies, revoked };
}

/** The same as hosts are told it, under the number they go by. */
export async function readHostTrust(): Promise<Trust & { revoked: RevokedCertificate[] }> {
  const { head, policies, revoked } = await readAll();
  return { revision: hostRevisionOf(head), policies, revoked };
}

export async function readHostRevision(): Promise<number> {
  return hostRevisionOf(headIn(await readItem(trustHeadKey())));
}

export const headIn = (item: Record<string, unknown> | undefined): TrustHead =>
  v.parse(TrustHead, item ?? {});
