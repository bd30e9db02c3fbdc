// What reads and writes the row of the promotion policy, for the domains that go by it.

import * as v from 'valibot';
import { putNew, replace, type Write } from '../platform/data/commit.ts';
import { readItem } from '../platform/data/table.ts';
import type { Refusal } from '../platform/errors.ts';
import { promotionPolicyKey } from './keys.ts';
import { DEFAULT_POLICY, PromotionPolicy } from './promotion-policy.ts';

/** As it was read along with something else; without a row, the default is in force. */
export const parsePolicy = (row: unknown): PromotionPolicy =>
  row === undefined ? DEFAULT_POLICY : v.parse(PromotionPolicy, row);

export async function findPromotionPolicy(): Promise<PromotionPolicy> {
  return parsePolicy(await readItem(promotionPolicyKey()));
}

/** Puts the policy in place of the one that was read, or of none. */
export function savePromotionPolicy(
  before: PromotionPolicy,
  after: PromotionPolicy,
  stale: Refusal | undefined,
): Write {
  const item = { ...promotionPolicyKey(), ...after };
  return before.version === 0 ? putNew(item, stale) : replace(item, { version: before.version }, stale);
}
