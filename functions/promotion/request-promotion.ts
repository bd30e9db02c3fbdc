import type { Context } from '../platform/context.ts';
import type { Change } from '../platform/data/change.ts';
import type { OperationId } from '../platform/ids.ts';
import { auditPromotion, type Promotable } from './kind.ts';
import type { Promotion } from './promotion.ts';
import type { Asker } from './promotion-plan.ts';
import { savePromotion } from './keep-promotion.ts';
import { viewPromotion } from './promotion-view.ts';

/** What every command that begins a promotion does; its event then starts the workflow. */
export function requestPromotion(
  ctx: Context,
  at: Promotable,
  reason: string,
  plan: (asker: Asker) => Promotion,
): Change {
  const { correlationId, traceparent, actor } = ctx;
  const operationId = ctx.newId<OperationId>();
  const promotion = plan({ operationId, correlationId, traceparent, actor, reason, now: ctx.now() });
  const audited = auditPromotion(at.kind, undefined, promotion);
  const { smoke } = promotion;
  return {
    ...audited,
    after: { ...audited.after, ...(smoke && { smoke }) },
    reason,
    place: at.place,
    writes: [savePromotion(at.promotion, promotion), ...at.hold(promotion)],
    events: [at.kind.requested(promotion)],
    location: `${at.path}/promotion`,
    reply: { ...viewPromotion(promotion, at, true) },
  };
}
