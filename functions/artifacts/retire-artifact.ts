import * as v from 'valibot';
import { Reason } from '../promotion/promotion.ts';
import { planRetirement } from '../promotion/promotion-plan.ts';
import { requestPromotion } from '../promotion/request-promotion.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ArtifactParams } from './artifact.ts';
import { findPromotableArtifactOf } from './artifact-kind.ts';
import { ArtifactPromotionView, PROMOTION_REFUSALS } from './artifact-promotion.ts';

export const retireArtifact = command(
  {
    summary: 'Retire a deprecated artifact once its grace period is over and nothing uses it',
    action: 'artifacts.artifact.retire',
    params: ArtifactParams,
    body: v.strictObject({ reason: Reason }),
    reply: ArtifactPromotionView,
    status: 202,
    refusals: [...PROMOTION_REFUSALS, 'artifact.in_use'],
  },
  async (ctx, { params, body }) => {
    const at = await findPromotableArtifactOf(projectOf(ctx).id, params.artifact_id);
    return requestPromotion(ctx, at, body.reason, (asker) => planRetirement(at, asker));
  },
);
