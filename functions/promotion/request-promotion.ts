import type { Change } from '../platform/data/change.ts';
import type { Context } from '../platform/context.ts';
import type { Promotable } from './promotable.ts';
import { aboutPromotion, type Promotion, PromotionRequested, subjectOfPromotion } from './promotion.ts';
import type { Request } from './promotion-plan.ts';
import { savePromotion } from './promotion-store.ts';
import { viewPromotion } from './promotion-view.ts';

/** What every command that begins a promotion does; its event then starts the workflow. */
export function requestPromotion(
  ctx: Context,
  at: Promotable,
  reason: string,
  plan: (request: Request) => Promotion,
): Change {
  const { correlationId, traceparent, actor } = ctx;
  const operationId = ctx.newId();
  const promotion = plan({ operationId, correlationId, traceparent, actor, reason, now: ctx.now() });
  return {
    subject: subjectOfPromotion(promotion),
    after: aboutPromotion(promotion),
    reason,
    place: at.place,
    writes: [savePromotion(at.promotion, promotion), ...at.hold(promotion)],
    events: [PromotionRequested(promotion)],
    location: `${at.path}/promotion`,
    reply: { ...viewPromotion(promotion, at, true) },
  };
}
