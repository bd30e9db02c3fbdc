import type { Actor } from '../platform/actor.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { Context } from '../platform/context.ts';
import { findPromotable } from '../catalog/find-promotable.ts';
import {
  aboutPromotion,
  actionOf,
  type Failure,
  PromotionFailed,
  type Subject,
  subjectOfPromotion,
} from './promotion.ts';
import { fail } from './promotion-steps.ts';
import { savePromotion } from './promotion-store.ts';

/** Ends a promotion that cannot go on; one that has ended, or has made place for another, stays as it is. */
export async function failPromotion(
  ctx: Context,
  { subject, operation_id }: { subject: Subject; operation_id: string },
  error: Failure,
  by?: Actor,
): Promise<void> {
  await commitDecision(ctx, actionOf(subject, 'fail_promotion'), async () => {
    const { promotion, place } = await findPromotable(subject);
    if (promotion?.operation_id !== operation_id || promotion.status !== 'running') return undefined;
    const failed = fail(promotion, error, ctx.now());
    return {
      subject: subjectOfPromotion(failed),
      before: aboutPromotion(promotion),
      after: { ...aboutPromotion(failed), error },
      reason: error.detail,
      actor: by ?? promotion.actor,
      place,
      writes: [savePromotion(promotion, failed)],
      events: [PromotionFailed(failed, error)],
    };
  });
}
