import type { Actor } from '../platform/actor.ts';
import { commitDecision } from '../platform/change.ts';
import type { Context } from '../platform/context.ts';
import { placeOfApp } from './app.ts';
import { aboutPromotion, type Failure, PromotionFailed, subjectOfPromotion } from './promotion.ts';
import { fail } from './promotion-steps.ts';
import { findPromotion, savePromotion } from './promotion-store.ts';

/** Ends a promotion that cannot go on; one that has ended, or has made place for another, stays as it is. */
export async function failPromotion(
  ctx: Context,
  { app_slug, version, operation_id }: { app_slug: string; version: string; operation_id: string },
  error: Failure,
  by?: Actor,
): Promise<void> {
  await commitDecision(ctx, 'catalog.version.fail_promotion', async () => {
    const { app, promotion } = await findPromotion(app_slug, version);
    if (!app || promotion?.operation_id !== operation_id || promotion.status !== 'running') return undefined;
    const failed = fail(promotion, error, ctx.now());
    return {
      subject: subjectOfPromotion(failed),
      before: aboutPromotion(promotion),
      after: { ...aboutPromotion(failed), error },
      reason: error.detail,
      actor: by ?? promotion.actor,
      place: placeOfApp(app),
      writes: [savePromotion(promotion, failed)],
      events: [PromotionFailed(failed)],
    };
  });
}
