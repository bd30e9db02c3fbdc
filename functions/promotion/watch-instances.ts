import * as v from 'valibot';
import { task } from '../platform/workflow/task.ts';
import { PromotionStep } from './promotion.ts';
import { awaitLastInstance } from './promotion-steps.ts';
import { keepPromotion } from './promotion-store.ts';
import { refuse } from './problems.ts';

const WatchInstances = v.object({ ...PromotionStep.entries, task_token: v.string() });

/** Keeps the token until the last instance has ended; the sweep sees to it that it is answered. */
export const handler = task(WatchInstances, async (ctx, { subject, operation_id, task_token }) => {
  await keepPromotion(subject, (promotion) => {
    if (promotion.operation_id !== operation_id || promotion.status !== 'running')
      throw refuse('promotion.not_waiting');
    return promotion.task_token === task_token
      ? undefined
      : awaitLastInstance(promotion, task_token, ctx.now());
  });
});
