import { command } from '../platform/endpoint.ts';
import { PromoteVersion } from './promotion.ts';
import { planPromotion } from './promotion-plan.ts';
import { PromotionView } from './promotion-view.ts';
import { PROMOTION_REFUSALS, requestPromotion } from './request-promotion.ts';
import { VersionParams } from './version.ts';

export const promoteVersion = command(
  {
    summary: 'Take a version on to staged, canary or active, through every gate on the way',
    action: 'catalog.version.promote',
    params: VersionParams,
    body: PromoteVersion,
    reply: PromotionView,
    status: 202,
    refusals: [...PROMOTION_REFUSALS, 'version.artifacts_unready'],
  },
  (ctx, { params, body }) =>
    requestPromotion(ctx, params, body.reason, ({ version, promotion }, request) =>
      planPromotion(promotion, version, body, request),
    ),
);
