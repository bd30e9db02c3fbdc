import * as v from 'valibot';
import { BakeSeconds } from '../promotion/canary-guard.ts';
import { PROMOTED_TO, Reason } from '../promotion/promotion.ts';
import { planPromotion } from '../promotion/promotion-plan.ts';
import { ArtifactPromotionView } from '../promotion/promotion-view.ts';
import { requestPromotion } from '../promotion/request-promotion.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ArtifactParams } from './artifact.ts';
import { findPromotableArtifactOf, PROMOTION_REFUSALS } from './promotable-artifact.ts';

const PromoteArtifact = v.strictObject({
  target: v.picklist(PROMOTED_TO),
  bake_seconds: v.optional(BakeSeconds),
  reason: Reason,
});

export const promoteArtifact = command(
  {
    summary: 'Verify an artifact once more and take it on to staged, canary or active',
    action: 'artifacts.artifact.promote',
    params: ArtifactParams,
    body: PromoteArtifact,
    reply: ArtifactPromotionView,
    status: 202,
    refusals: [...PROMOTION_REFUSALS, 'artifact.revoked'],
  },
  async (ctx, { params, body }) => {
    const at = await findPromotableArtifactOf(projectOf(ctx).id, params.artifact_id);
    return requestPromotion(ctx, at, body.reason, (request) => planPromotion(at, body, request));
  },
);
