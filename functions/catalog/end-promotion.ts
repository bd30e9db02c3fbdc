import * as v from 'valibot';
import { task } from '../platform/task.ts';
import { WorkflowError } from '../platform/workflow-error.ts';
import { failPromotion } from './fail-promotion.ts';
import { PromotionStep } from './promotion.ts';
import { failureOf } from './promotion-repair.ts';

const EndPromotion = v.object({ ...PromotionStep.entries, error: WorkflowError });

/** What was promoted keeps the status it has; the promotion says what went wrong. */
export const handler = task(EndPromotion, (ctx, { error, ...promotion }) =>
  failPromotion(ctx, promotion, failureOf(error)),
);
