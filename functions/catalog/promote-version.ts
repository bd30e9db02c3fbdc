import { command } from '../platform/http/endpoint.ts';
import { findVersionAndPolicy } from './version-kind.ts';
import { planPromotion } from '../promotion/promotion-plan.ts';
import { PromoteVersion, PROMOTION_REFUSALS, VersionPromotionView } from './version-promotion.ts';
import { requestPromotion } from '../promotion/request-promotion.ts';
import { VersionParams } from './version.ts';

export const promoteVersion = command(
  {
    summary: 'Promote a version to staged, canary or active, through every gate on the way',
    action: 'catalog.version.promote',
    params: VersionParams,
    body: PromoteVersion,
    reply: VersionPromotionView,
    status: 202,
    refusals: [...PROMOTION_REFUSALS, 'version.artifacts_unready'],
  },
  async (ctx, { params, body }) => {
    const { at, policy } = await findVersionAndPolicy(params);
    return requestPromotion(ctx, at, body.reason, (asker) => planPromotion(at, body, policy, asker));
  },
);
