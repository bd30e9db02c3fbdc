// Where promotions are kept. Pure, because the CDK app reads it too: a function's role reaches the promotions of its
// own kind and no others.

import type { Key } from '../platform/data/table.ts';
import type { Subject } from './promotion.ts';

export const promotionPartitions = (kind: string): string => `PROMOTION#${kind}#*`;

/** Promotions of a kind that have not ended, in gsi1, by when they were asked for. An ended one leaves the index. */
export const openPromotions = (kind: string): string => `PROMOTIONS#OPEN#${kind}`;

export const promotionKey = ({ kind, id }: Pick<Subject, 'kind' | 'id'>): Key => ({
  pk: `PROMOTION#${kind}#${id}`,
  sk: 'PROMOTION',
});
