// What reads and writes the row of a promotion, for every kind.

import * as v from 'valibot';
import { decidingAgain } from '../platform/data/change.ts';
import { change, commit, type Write } from '../platform/data/commit.ts';
import { queryAll } from '../platform/data/rows.ts';
import { readItem, updateItem } from '../platform/data/table.ts';
import type { AppInstanceId } from '../platform/ids.ts';
import { openPromotions, promotionKey } from './keys.ts';
import { refuse } from './problems.ts';
import { OBSERVED_MAX, Promotion, type Subject } from './promotion.ts';

/** As it was read, if there is one. */
export const parsePromotion = (row: unknown): Promotion | undefined => v.parse(v.optional(Promotion), row);

/**
 * Writes what has changed since the promotion was read, unless there was a concurrent change. The counted instances are
 * not written here: they are added separately, and only a new canary clears them.
 */
export function savePromotion(before: Promotion | undefined, after: Promotion): Write {
  const { running_ids, failed_ids, ...row } = after;
  const isOpen = row.status === 'running';
  return change(
    promotionKey(after.subject),
    {
      ...OPTIONAL,
      ...row,
      revision: (before?.revision ?? 0) + 1,
      gsi1pk: isOpen ? openPromotions(row.subject.kind) : undefined,
      gsi1sk: isOpen ? row.requested_at : undefined,
      ...(before?.running_ids && !running_ids && { running_ids: undefined }),
      ...(before?.failed_ids && !failed_ids && { failed_ids: undefined }),
    },
    before
      ? { condition: '#revision = :before', values: { ':before': before.revision } }
      : { condition: 'attribute_not_exists(pk)' },
  );
}

/** Members that a change may remove. */
const OPTIONAL = {
  smoke: undefined,
  grace_seconds: undefined,
  canary: undefined,
  grace_until: undefined,
  task_token: undefined,
  started_at: undefined,
  ended_at: undefined,
  error: undefined,
};

/** Stores what a step must remember, without an audit row or an event. */
export async function keepPromotion(
  subject: Subject,
  decide: (promotion: Promotion) => Promotion | undefined,
): Promise<void> {
  await decidingAgain(async () => {
    const promotion = parsePromotion(await readItem(promotionKey(subject)));
    const after = promotion && decide(promotion);
    if (after) await commit([savePromotion(promotion, after)]);
  }, refuse('unavailable'));
}

/** Counts an instance towards the canary under way; false where there is none. The same one twice counts once. */
export async function countInstance(
  subject: Subject,
  instance: { id: AppInstanceId; list: 'running_ids' | 'failed_ids'; at: string },
): Promise<boolean> {
  return updateItem(promotionKey(subject), {
    update: 'ADD #list :instance',
    condition:
      'canary.began_at <= :at AND attribute_not_exists(canary.ended_at) AND (attribute_not_exists(#list) OR size(#list) < :max)',
    names: { '#list': instance.list },
    values: { ':instance': new Set([instance.id]), ':at': instance.at, ':max': OBSERVED_MAX },
  });
}

const OPEN_MAX = 500;

/** Promotions of a kind that have not ended, oldest first; what one sweep leaves over, the next may find ended. */
export async function listOpenPromotions(kind: string): Promise<Promotion[]> {
  const { items } = await queryAll({
    index: 'gsi1',
    condition: 'gsi1pk = :open',
    values: { ':open': openPromotions(kind) },
    max: OPEN_MAX,
  });
  return items.map((item) => v.parse(Promotion, item));
}
