import type { Promotion } from '../promotion/promotion.ts';
import { savePromotion } from '../promotion/keep-promotion.ts';
import type { Decision } from '../platform/data/change.ts';
import type { Artifact } from './artifact.ts';
import { type Bound, requireSpared } from './artifact-binding.ts';
import { saveArtifact } from './save-artifact.ts';
import { ArtifactMoved, auditArtifactMove, type ArtifactMove, moveArtifact } from './artifact-transition.ts';
import { holdVersion } from './find-bound-version.ts';

/** An artifact about to move. */
export interface MovableArtifact {
  artifact: Artifact;
  promotion?: Promotion;
  /** Its version, where the move may be one that takes something away from it. */
  bound?: Bound;
}

/** A move of an artifact with everything that belongs to it: its row, the promotion it is part of, audit and event. */
export function decideArtifactMove(
  { artifact, promotion: last, bound }: MovableArtifact,
  move: ArtifactMove,
  promotion: Promotion | undefined,
  now: Date,
  told: { reason?: string } = {},
): { moved: Artifact; decision: Decision } {
  const moved = moveArtifact(artifact, move, now);
  if (bound) requireSpared(bound, artifact, move.to);
  return {
    moved,
    decision: {
      ...auditArtifactMove(artifact, moved),
      place: { org_id: artifact.org_id, project_id: artifact.project_id },
      writes: [
        ...saveArtifact(artifact, moved),
        ...(bound ? [holdVersion(artifact, bound)] : []),
        ...(promotion ? [savePromotion(last, promotion)] : []),
      ],
      events: [ArtifactMoved(artifact, moved, told)],
    },
  };
}
