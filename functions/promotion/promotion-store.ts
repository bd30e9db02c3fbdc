import * as v from 'valibot';
import { queryAll } from '../platform/data/rows.ts';
import { openPromotions } from './keys.ts';
import { Promotion } from './promotion.ts';

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
