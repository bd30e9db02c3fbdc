import type { Context } from '../platform/context.ts';
import type { EventOf } from '../platform/events.ts';
import { findToldPromotion } from './find-told-promotion.ts';
import type { SmokeAnswered } from '../promotion/promotion.ts';
import { isAnswerable } from '../promotion/promotion-repair.ts';
import { answerWorkflow } from '../promotion/promotion-execution.ts';

/** What an answered smoke run leads to. The token is the one of now, not of when the verdict came. */
export async function answerPromotion(_ctx: Context, event: EventOf<typeof SmokeAnswered>): Promise<void> {
  const told = await findToldPromotion(event);
  if (told && isAnswerable(told.promotion, told)) await answerWorkflow(told.promotion);
}
