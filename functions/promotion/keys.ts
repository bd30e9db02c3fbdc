// Where promotions are kept. Pure, because the CDK app reads it too: a function's role reaches the promotions of its
// own kind and no others.

import type { Key } from '../platform/data/table.ts';
import type { Subject } from './promotion.ts';

export const promotionPartitions = (kind: string): string => `PROMOTION#${kind}#*`;

/** Promotions of a kind that have not ended, in gsi1, by when they were asked for. An ended one leaves the index. */
export const openPromotions = (kind: string): string => `PROMOTIONS#OPEN#${kind}`;

/** The policy that all of them follow; one row. */
export const PROMOTION_POLICY_PARTITION = 'PROMOTION_POLICY';
export const promotionPolicyKey = (): Key => ({ pk: PROMOTION_POLICY_PARTITION, sk: 'POLICY' });

export const promotionKey = ({ kind, id }: Pick<Subject, 'kind' | 'id'>): Key => ({
  pk: `PROMOTION#${kind}#${id}`,
  sk: 'PROMOTION',
});
