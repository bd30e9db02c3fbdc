import { command } from '../platform/endpoint.ts';
import { PublishVersion } from './promotion.ts';
import { planPromotion } from './promotion-plan.ts';
import { PromotionView } from './promotion-view.ts';
import { PROMOTION_REFUSALS, requestPromotion } from './request-promotion.ts';
import { VersionParams } from './version.ts';

export const publishVersion = command(
  {
    summary: 'Promote a version until it is active; no gate is skipped',
    action: 'catalog.version.publish',
    params: VersionParams,
    body: PublishVersion,
    reply: PromotionView,
    status: 202,
    refusals: [...PROMOTION_REFUSALS, 'version.artifacts_unready'],
  },
  (ctx, { params, body }) =>
    requestPromotion(ctx, params, body.reason, ({ version, promotion }, request) =>
      planPromotion(promotion, version, { ...body, target: 'active' }, request),
    ),
);
