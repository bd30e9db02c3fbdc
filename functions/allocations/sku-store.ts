import * as v from 'valibot';
import { putNew, remove, replace, sameAs, type Write } from '../platform/data/commit.ts';
import { type PageAsked, readRows } from '../platform/data/rows.ts';
import { readItem } from '../platform/data/table.ts';
import type { Refusal } from '../platform/errors.ts';
import type { PageOf } from '../platform/page.ts';
import { SKU_PARTITION, SKU_ROWS, skuKey } from './keys.ts';
import { Sku, type SkuName } from './sku.ts';

export async function findSku(sku: SkuName): Promise<Sku | undefined> {
  return v.parse(v.optional(Sku), await readItem(skuKey(sku)));
}

export async function listSkuRows(page: PageAsked): Promise<PageOf<Sku>> {
  const { items, next_cursor } = await readRows(SKU_PARTITION, SKU_ROWS, page);
  return { items: items.map((item) => v.parse(Sku, item)), next_cursor };
}

/** Puts it in place of the one that was read, or of none. */
export function saveSku(before: Sku | undefined, after: Sku, stale: Refusal | undefined): Write {
  const item = { ...skuKey(after.sku), ...after };
  return before ? replace(item, { version: before.version }, stale) : putNew(item, stale);
}

export const removeSkuRow = ({ sku, version }: Sku, stale: Refusal | undefined): Write =>
  remove(skuKey(sku), sameAs({ version }), stale);
