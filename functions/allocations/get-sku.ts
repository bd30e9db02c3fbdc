import { query } from '../platform/http/endpoint.ts';
import { refuse } from './problems.ts';
import { Sku, SkuParams } from './sku.ts';
import { findSku } from './sku-store.ts';

export const getSku = query(
  { summary: 'Get a SKU', params: SkuParams, reply: Sku, refusals: ['sku.unknown'] },
  async (_, { params }) => {
    const sku = await findSku(params.sku);
    if (!sku) throw refuse('sku.unknown');
    return sku;
  },
);
