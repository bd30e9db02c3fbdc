import * as v from 'valibot';
import { command } from '../platform/http/endpoint.ts';
import { findPromotableVersion } from './version-kind.ts';
import { Reason } from '../promotion/promotion.ts';
import { planRetirement } from '../promotion/promotion-plan.ts';
import { PROMOTION_REFUSALS, VersionPromotionView } from './version-promotion.ts';
import { requestPromotion } from '../promotion/request-promotion.ts';
import { VersionParams } from './version.ts';

export const retireVersion = command(
  {
    summary: 'Retire a deprecated version once its grace period is over and its last instance has ended',
    action: 'catalog.version.retire',
    params: VersionParams,
    body: v.strictObject({ reason: Reason }),
    reply: VersionPromotionView,
    status: 202,
    refusals: [...PROMOTION_REFUSALS, 'version.in_use'],
  },
  async (ctx, { params, body }) => {
    const at = await findPromotableVersion(params);
    return requestPromotion(ctx, at, body.reason, (asker) => planRetirement(at, asker));
  },
);
