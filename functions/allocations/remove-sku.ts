import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import { refuse } from './problems.ts';
import { SkuParams, SkuRemoved, subjectOfSku, viewSku } from './sku.ts';
import { findSku, removeSkuRow } from './sku-store.ts';

export const removeSku = command(
  {
    summary: 'Remove a SKU; allocations requested by it go on at their price',
    action: 'allocations.sku.remove',
    params: SkuParams,
    status: 204,
    refusals: ['sku.unknown', 'precondition.failed'],
  },
  async (ctx, { params }) => {
    const sku = await findSku(params.sku);
    if (!sku) throw refuse('sku.unknown');
    const stale = requireVersion(sku, ctx.ifMatch);
    return {
      subject: subjectOfSku(sku.sku),
      before: viewSku(sku),
      writes: [removeSkuRow(sku, stale)],
      events: [SkuRemoved(sku)],
      reply: {},
    };
  },
);
