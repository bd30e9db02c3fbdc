import * as v from 'valibot';
import { task } from '../platform/workflow/task.ts';
import { WorkflowError } from '../platform/workflow/workflow-error.ts';
import { failPromotion } from '../promotion/fail-promotion.ts';
import { PromotionStep } from '../promotion/promotion.ts';
import { failureOf } from '../promotion/promotion-repair.ts';

const EndPromotion = v.object({ ...PromotionStep.entries, error: WorkflowError });

/** What was promoted keeps the status it has; the promotion says what went wrong. */
export const handler = task(EndPromotion, (ctx, { error, ...promotion }) =>
  failPromotion(ctx, promotion, failureOf(error)),
);
