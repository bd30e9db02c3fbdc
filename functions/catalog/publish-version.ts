import { command } from '../platform/http/endpoint.ts';
import { findPromotableVersion, PROMOTION_REFUSALS } from './promotable-version.ts';
import { PublishVersion } from '../promotion/promotion.ts';
import { planPromotion } from '../promotion/promotion-plan.ts';
import { PromotionView } from '../promotion/promotion-view.ts';
import { requestPromotion } from '../promotion/request-promotion.ts';
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
  async (ctx, { params, body }) => {
    const at = await findPromotableVersion(params);
    return requestPromotion(ctx, at, body.reason, (request) =>
      planPromotion(at, { ...body, target: 'active' }, request),
    );
  },
);
