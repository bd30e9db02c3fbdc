import { InstanceFailed, InstanceRunning } from '../instances/instance-events.ts';
import { on, reactions } from '../platform/workflow/reactions.ts';
import { answerPromotion } from './answer-promotion.ts';
import { observeInstance } from './judge-canary.ts';
import {
  ArtifactPromotionRequested,
  SmokeAnswered,
  VersionPromotionRequested,
} from '../promotion/promotion.ts';
import { startPromotion } from './start-promotion.ts';

/** Artifacts are promoted by the same workflow as versions, so both are started here. */
export const handler = reactions(
  on(VersionPromotionRequested, startPromotion),
  on(ArtifactPromotionRequested, startPromotion),
  on(SmokeAnswered, answerPromotion),
  on(InstanceRunning, observeInstance),
  on(InstanceFailed, observeInstance),
);
