import { command } from '../platform/http/endpoint.ts';
import { findVersionAndPolicy } from './version-kind.ts';
import { planPromotion } from '../promotion/promotion-plan.ts';
import { PublishVersion, PROMOTION_REFUSALS, VersionPromotionView } from './version-promotion.ts';
import { requestPromotion } from '../promotion/request-promotion.ts';
import { VersionParams } from './version.ts';

export const publishVersion = command(
  {
    summary: 'Promote a version to active, through every gate on the way',
    action: 'catalog.version.publish',
    params: VersionParams,
    body: PublishVersion,
    reply: VersionPromotionView,
    status: 202,
    refusals: [...PROMOTION_REFUSALS, 'version.artifacts_unready'],
  },
  async (ctx, { params, body }) => {
    const { at, policy } = await findVersionAndPolicy(params);
    return requestPromotion(ctx, at, body.reason, (asker) =>
      planPromotion(at, { ...body, target: 'active' }, policy, asker),
    );
  },
);
