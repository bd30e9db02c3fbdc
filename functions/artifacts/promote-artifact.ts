import { planPromotion } from '../promotion/promotion-plan.ts';
import { requestPromotion } from '../promotion/request-promotion.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ArtifactParams } from './artifact.ts';
import { findArtifactOfAndPolicy } from './artifact-kind.ts';
import { ArtifactPromotionView, PromoteArtifact, PROMOTION_REFUSALS } from './artifact-promotion.ts';

export const promoteArtifact = command(
  {
    summary: 'Verify an artifact again and promote it to staged, canary or active',
    action: 'artifacts.artifact.promote',
    params: ArtifactParams,
    body: PromoteArtifact,
    reply: ArtifactPromotionView,
    status: 202,
    refusals: [...PROMOTION_REFUSALS, 'artifact.revoked'],
  },
  async (ctx, { params, body }) => {
    const { at, policy } = await findArtifactOfAndPolicy(projectOf(ctx).id, params.artifact_id);
    return requestPromotion(ctx, at, body.reason, (asker) => planPromotion(at, body, policy, asker));
  },
);
