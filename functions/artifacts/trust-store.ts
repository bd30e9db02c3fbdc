import type { Refusal } from '../platform/errors.ts';
// Every change of what trust is judged by also changes the head, which counts them: so they happen one after the
// other, and whoever judged by an earlier number knows that there is something to judge again.

import * as v from 'valibot';
import { putNew, remove, replace, type Write } from '../platform/data/commit.ts';
import type { PageOf } from '../platform/page.ts';
import { type PageAsked, readItems, readRows } from '../platform/data/rows.ts';
import { controlTable, type Item, queryPage, readItem } from '../platform/data/table.ts';
import {
  POLICY_ROWS,
  REVOKED_ROWS,
  revokedCertificateKey,
  TRUST_PARTITION,
  trustHeadKey,
  trustPolicyKey,
} from './keys.ts';
import { RevokedCertificate, REVOKED_CERTIFICATES_MAX } from '../trust/revoked-certificate.ts';
import { NO_TRUST, type Trust, TRUST_POLICIES_MAX, TrustHead, TrustPolicy } from '../trust/trust-policy.ts';

const ROWS_MAX = 1 + TRUST_POLICIES_MAX + REVOKED_CERTIFICATES_MAX;

/**
 * All of it, by one request as long as a page of DynamoDB holds it. The head comes first, so what changes while the
 * rest is read is told under the number from before, and is judged again.
 */
export async function readTrust(): Promise<Trust> {
  const items = await readPartition();
  const rowsOf = (kind: string) => items.filter(({ sk }) => String(sk).startsWith(kind));
  return {
    revision: headIn(items.find(({ sk }) => sk === trustHeadKey().sk)).revision,
    policies: rowsOf(POLICY_ROWS).map((item) => v.parse(TrustPolicy, item)),
    revoked: rowsOf(REVOKED_ROWS).map((item) => v.parse(RevokedCertificate, item)),
  };
}

async function readPartition(): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const page = await queryPage({
      condition: 'pk = :trust',
      values: { ':trust': TRUST_PARTITION },
      limit: ROWS_MAX,
      from,
      consistent: true,
    });
    items.push(...page.items);
    from = page.next;
  } while (from && items.length < ROWS_MAX);
  return items;
}

export async function listTrustPolicyRows(page: PageAsked): Promise<PageOf<TrustPolicy>> {
  const { items, next_cursor } = await readRows(TRUST_PARTITION, POLICY_ROWS, page);
  return { items: items.map((item) => v.parse(TrustPolicy, item)), next_cursor };
}

export async function listRevokedRows(page: PageAsked): Promise<PageOf<RevokedCertificate>> {
  const { items, next_cursor } = await readRows(TRUST_PARTITION, REVOKED_ROWS, page);
  return { items: items.map((item) => v.parse(RevokedCertificate, item)), next_cursor };
}

export async function findTrustPolicy(name: string): Promise<TrustPolicy | undefined> {
  return v.parse(v.optional(TrustPolicy), await readItem(trustPolicyKey(name)));
}

export async function findTrustPolicyAndHead(
  name: string,
): Promise<{ head: TrustHead; policy?: TrustPolicy }> {
  const [head, policy] = await readItems([trustHeadKey(), trustPolicyKey(name)]);
  return { head: headIn(head), policy: v.parse(v.optional(TrustPolicy), policy) };
}

export async function findRevokedAndHead(
  fingerprint: string,
): Promise<{ head: TrustHead; revoked?: RevokedCertificate }> {
  const [head, revoked] = await readItems([trustHeadKey(), revokedCertificateKey(fingerprint)]);
  return { head: headIn(head), revoked: v.parse(v.optional(RevokedCertificate), revoked) };
}

const headIn = (item: Record<string, unknown> | undefined): TrustHead =>
  v.parse(v.optional(TrustHead, NO_TRUST), item);

/** Puts the policy in place of the one that was read, or of none. */
export function saveTrustPolicy(
  head: TrustHead,
  before: TrustPolicy | undefined,
  after: TrustPolicy,
  stale: Refusal | undefined,
): Write[] {
  const item = { ...trustPolicyKey(after.name), ...after };
  return [
    before ? replace(item, { version: before.version }, stale) : putNew(item, stale),
    saveHead(head, { patterns: { ...head.patterns, [after.name]: after.repository_pattern } }),
  ];
}

export function removeTrustPolicy(head: TrustHead, policy: TrustPolicy, stale: Refusal | undefined): Write[] {
  const { [policy.name]: _, ...patterns } = head.patterns;
  return [
    remove(
      trustPolicyKey(policy.name),
      { condition: 'version = :before', values: { ':before': policy.version } },
      stale,
    ),
    saveHead(head, { patterns }),
  ];
}

export function saveRevoked(
  head: TrustHead,
  before: RevokedCertificate | undefined,
  after: RevokedCertificate,
): Write[] {
  const item = { ...revokedCertificateKey(after.fingerprint), ...after };
  return [
    before ? replace(item, { reason: before.reason }) : putNew(item),
    saveHead(head, { revoked_count: head.revoked_count + (before ? 0 : 1) }),
  ];
}

export function removeRevoked(head: TrustHead, { fingerprint }: RevokedCertificate): Write[] {
  return [
    remove(revokedCertificateKey(fingerprint), { condition: 'attribute_exists(pk)' }),
    saveHead(head, { revoked_count: head.revoked_count - 1 }),
  ];
}

function saveHead(before: TrustHead, change: Partial<TrustHead>): Write {
  const item = { ...trustHeadKey(), ...before, ...change, revision: before.revision + 1 };
  return before.revision === 0 ? putNew(item) : replace(item, { revision: before.revision });
}
