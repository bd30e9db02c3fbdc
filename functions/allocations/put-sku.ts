import { nameActor } from '../platform/actor.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import { planSku, PutSku, SkuChanged, SkuParams, SkuView, subjectOfSku, viewSku } from './sku.ts';
import { findSku, saveSku } from './sku-store.ts';

export const putSku = command(
  {
    summary: 'Create or replace a SKU; allocations keep the price they were requested at',
    action: 'allocations.sku.put',
    params: SkuParams,
    body: PutSku,
    reply: SkuView,
    refusals: ['precondition.failed'],
  },
  async (ctx, { params: { sku }, body }) => {
    const before = await findSku(sku);
    const stale = requireVersion({ version: before?.version ?? 0 }, ctx.ifMatch);
    const after = planSku(before, sku, body, nameActor(ctx.actor), ctx.now());
    return {
      subject: subjectOfSku(sku),
      before: before && viewSku(before),
      after: viewSku(after),
      writes: [saveSku(before, after, stale)],
      events: [SkuChanged(after)],
      reply: viewSku(after),
    };
  },
);
