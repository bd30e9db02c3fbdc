import { command } from '../platform/http/endpoint.ts';
import { findPromotableVersion, PROMOTION_REFUSALS } from './promotable-version.ts';
import { PromoteVersion } from '../promotion/promotion.ts';
import { planPromotion } from '../promotion/promotion-plan.ts';
import { PromotionView } from '../promotion/promotion-view.ts';
import { requestPromotion } from '../promotion/request-promotion.ts';
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
  async (ctx, { params, body }) => {
    const at = await findPromotableVersion(params);
    return requestPromotion(ctx, at, body.reason, (request) => planPromotion(at, body, request));
  },
);
