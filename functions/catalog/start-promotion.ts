import type { Context } from '../platform/context.ts';
import type { EventOf } from '../platform/events.ts';
import { findToldPromotion } from './find-told-promotion.ts';
import type { ArtifactPromotionRequested, VersionPromotionRequested } from '../promotion/promotion.ts';
import { startWorkflow } from '../promotion/promotion-execution.ts';

type Requested = EventOf<typeof VersionPromotionRequested | typeof ArtifactPromotionRequested>;

/** What a request for a promotion leads to. */
export async function startPromotion(ctx: Context, event: Requested): Promise<void> {
  const told = await findToldPromotion(event);
  if (told?.promotion.status === 'running') await startWorkflow(ctx, told.promotion);
}
