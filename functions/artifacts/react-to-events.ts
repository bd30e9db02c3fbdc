import { on, reactions } from '../platform/workflow/reactions.ts';
import { startPromotion } from '../promotion/drive-workflow.ts';
import { artifactKind } from './artifact-kind.ts';
import { ArtifactPromotionRequested, subjectOfPromotion } from './artifact-promotion.ts';
import { followRevocation } from './follow-revocation.ts';
import { ArtifactRevoked } from './revocation.ts';

export const handler = reactions(
  on(ArtifactPromotionRequested, (ctx, { data }) =>
    startPromotion(ctx, artifactKind, {
      subject: subjectOfPromotion(data.artifact_id),
      operation_id: data.operation_id,
    }),
  ),
  on(ArtifactRevoked, followRevocation),
);
