// Every change of what trust is judged by also changes the head, which counts them: so they happen one after the
// other, and whoever judged by an earlier number knows that there is something to judge again.

import * as v from 'valibot';
import { change, putNew, remove, replace, update, type Write } from '../platform/data/commit.ts';
import type { Refusal } from '../platform/errors.ts';
import type { PageOf } from '../platform/page.ts';
import { type PageAsked, readItems, readRows } from '../platform/data/rows.ts';
import { readItem } from '../platform/data/table.ts';
import {
  POLICY_ROWS,
  REVOKED_ROWS,
  revokedCertificateKey,
  TRUST_PARTITION,
  trustHeadKey,
  trustPolicyKey,
} from './keys.ts';
import { RevokedCertificate } from '../trust/revoked-certificate.ts';
import { type TrustHead, TrustPolicy } from '../trust/trust-policy.ts';
import { headIn } from './read-trust.ts';

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

/** Counts that bytes were revoked. Whoever does so meets no other who does, nor who changes a policy. */
export const countRevocation = (): Write =>
  update(trustHeadKey(), { update: 'ADD revocations :one', values: { ':one': 1 } });

function saveHead({ revision }: TrustHead, changed: Partial<TrustHead>): Write {
  const unchanged = revision === 0 ? { condition: 'attribute_not_exists(revision)' } : sameRevision(revision);
  return change(trustHeadKey(), { ...changed, revision: revision + 1 }, unchanged);
}

const sameRevision = (revision: number) => ({
  condition: 'revision = :before',
  values: { ':before': revision },
});
