import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { SkuPage, viewSku } from './sku.ts';
import { listSkuRows } from './sku-store.ts';

export const listSkus = query(
  {
    summary: 'List SKUs: what can be allocated, and what an hour of it costs',
    query: v.strictObject(PageQuery),
    reply: SkuPage,
  },
  async (_, { query: page }) => {
    const { items, next_cursor } = await listSkuRows(page);
    return { items: items.map(viewSku), next_cursor };
  },
);
