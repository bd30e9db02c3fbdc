import * as v from 'valibot';
import { commitDecision } from '../platform/data/change.ts';
import { task } from '../platform/workflow/task.ts';
import { placeOfApp } from './app.ts';
import { findRelease } from './find-release.ts';
import { aboutPromotion, SmokeRequested, subjectOfPromotion, VersionStep } from '../promotion/promotion.ts';
import { awaitSmoke } from '../promotion/promotion-steps.ts';
import { keepPromotion, savePromotion } from '../promotion/promotion-store.ts';
import { refuse } from './problems.ts';

const RequestSmoke = v.object({ ...VersionStep.entries, task_token: v.string() });

/** Until hosts run it themselves, a platform admin does, and answers. The token stays here. */
export const handler = task(RequestSmoke, async (ctx, { subject, operation_id, task_token }) => {
  await commitDecision(ctx, 'catalog.version.request_smoke', async () => {
    const { app, promotion } = await findRelease(subject);
    if (promotion?.operation_id !== operation_id || promotion.status !== 'running')
      throw refuse('promotion.not_waiting');
    // Asked before: nobody needs to hear of it again.
    if (promotion.step !== 'checking') return undefined;
    const waiting = awaitSmoke(promotion, task_token, ctx.now());
    return {
      subject: subjectOfPromotion(waiting),
      before: aboutPromotion(promotion),
      after: aboutPromotion(waiting),
      reason: promotion.reason,
      actor: promotion.actor,
      place: placeOfApp(app),
      writes: [savePromotion(promotion, waiting)],
      events: [SmokeRequested(waiting)],
    };
  });
  // A workflow that asks again does so with another token, and the one before is good for nothing any more. A call
  // that comes late finds the promotion gone on, and leaves it there.
  await keepPromotion(subject, (promotion) =>
    promotion.operation_id === operation_id &&
    (promotion.step === 'awaiting_smoke' || promotion.step === 'smoke_answered') &&
    promotion.task_token !== task_token
      ? awaitSmoke(promotion, task_token, ctx.now())
      : undefined,
  );
});
