// What a promotion of an artifact is asked for with, how it is shown, and which events tell of it.

import * as v from 'valibot';
import { LIFECYCLE_STATES } from './artifact.ts';
import { event } from '../platform/events.ts';
import { ArtifactId, textOf } from '../platform/ids.ts';
import { PromotionView } from '../promotion/promotion-view.ts';
import {
  Bake,
  BakeSeconds,
  dataOf,
  Failure,
  PROMOTED_TO,
  type Promotion,
  PromotionData,
  Reason,
} from '../promotion/promotion.ts';

export const ArtifactSubject = v.object({
  kind: v.literal('artifact'),
  id: textOf<ArtifactId>(),
  artifact_id: textOf<ArtifactId>(),
});
export type ArtifactSubject = v.InferOutput<typeof ArtifactSubject>;

export const subjectOfPromotion = (artifact_id: ArtifactId): ArtifactSubject => ({
  kind: 'artifact',
  id: artifact_id,
  artifact_id,
});

export const PromoteArtifact = v.strictObject({
  target: v.picklist(PROMOTED_TO),
  bake_seconds: v.optional(BakeSeconds),
  reason: Reason,
});

/** What every command that begins a promotion of an artifact may refuse with. */
export const PROMOTION_REFUSALS = [
  'artifact.unknown',
  'artifact.wrong_state',
  'promotion.in_progress',
] as const;

export const ArtifactPromotionView = v.object({
  ...PromotionView,
  artifact_id: textOf<ArtifactId>(),
  lifecycle_state: v.picklist(LIFECYCLE_STATES),
  canary: v.optional(Bake),
});

const Data = v.object({ ...PromotionData.entries, artifact_id: ArtifactId });

export const namesOfArtifact = ({ artifact_id }: ArtifactSubject) => ({ artifact_id });

const about = (promotion: Promotion) => ({
  ...dataOf(promotion),
  ...namesOfArtifact(promotion.subject as ArtifactSubject),
});

export const ArtifactPromotionRequested = event('apps.artifact.promotion_requested', 1, Data, about);

export const ArtifactPromotionFailed = event(
  'apps.artifact.promotion_failed',
  1,
  v.object({ ...Data.entries, error: Failure }),
  (promotion: Promotion, error: Failure) => ({ ...about(promotion), error }),
);
