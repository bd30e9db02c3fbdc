import { viewPromotion } from '../promotion/promotion-view.ts';
import { artifactKind } from './artifact-kind.ts';
import { ArtifactPromotionView } from './artifact-promotion.ts';
import { projectOf } from '../platform/context.ts';
import { query } from '../platform/http/endpoint.ts';
import { ArtifactParams, pathOfArtifact } from './artifact.ts';
import { findArtifactPromotionAtOnce } from './find-artifact.ts';
import { countInstances } from './usage-store.ts';
import { refuse } from './problems.ts';

export const getArtifactPromotion = query(
  {
    summary: 'Get the promotion of an artifact: its progress and what it is waiting for',
    params: ArtifactParams,
    reply: ArtifactPromotionView,
    refusals: ['artifact.unknown', 'promotion.unknown'],
  },
  async (ctx, { params }) => {
    const { artifact, promotion } = await findArtifactPromotionAtOnce(projectOf(ctx).id, params.artifact_id);
    if (!promotion) throw refuse('promotion.unknown');
    const waits = promotion.step === 'awaiting_last_instance';
    const at = {
      kind: artifactKind,
      status: artifact.lifecycle_state,
      instance_count: waits ? await countInstances(artifact) : 0,
      path: pathOfArtifact(artifact),
    };
    return viewPromotion(promotion, at, false);
  },
);
