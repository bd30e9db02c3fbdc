import type { Context } from '../platform/context.ts';
import type { PlatformEvent } from '../platform/events.ts';
import { findToldPromotion } from './find-told-promotion.ts';
import { startWorkflow } from './promotion-execution.ts';

/** What a request for a promotion leads to. */
export async function startPromotion(ctx: Context, event: PlatformEvent): Promise<void> {
  const told = await findToldPromotion(event);
  if (told?.promotion.status === 'running') await startWorkflow(told.promotion, ctx.now());
}
