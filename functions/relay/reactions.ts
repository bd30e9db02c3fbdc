import { followRevocation } from '../artifacts/follow-revocation.ts';
import { answerPromotion } from '../catalog/answer-promotion.ts';
import { ARTIFACT_REVOKED } from '../artifacts/revocation.ts';
import { INSTANCE_FAILED, INSTANCE_RUNNING, observeInstance } from '../catalog/judge-canary.ts';
import { PROMOTION_REQUESTED, SMOKE_ANSWERED } from '../catalog/promotion.ts';
import { startPromotion } from '../catalog/start-promotion.ts';
import type { Context } from '../platform/context.ts';
import { SELFTEST_REQUESTED } from '../selftest/selftest.ts';
import { startSelftest } from '../selftest/start-selftest.ts';
import type { FeedEvent } from './feed.ts';

/** What the platform itself does about an event. It may be asked twice, and must do it once. */
export type Reaction = (ctx: Context, event: FeedEvent) => Promise<void>;

export const REACTIONS: Readonly<Record<string, Reaction>> = {
  [SELFTEST_REQUESTED]: startSelftest,
  [PROMOTION_REQUESTED.version]: startPromotion,
  [PROMOTION_REQUESTED.artifact]: startPromotion,
  [SMOKE_ANSWERED]: answerPromotion,
  [ARTIFACT_REVOKED]: followRevocation,
  [INSTANCE_RUNNING]: observeInstance,
  [INSTANCE_FAILED]: observeInstance,
};
