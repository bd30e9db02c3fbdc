import * as v from 'valibot';
import type { Context } from '../platform/context.ts';
import { type OperationId, textOf } from '../platform/ids.ts';
import { task } from '../platform/workflow/task.ts';
import { WorkflowError } from '../platform/workflow/workflow-error.ts';
import { advancePromotion } from './advance-promotion.ts';
import { failPromotion } from './fail-promotion.ts';
import type { Kind } from './kind.ts';
import { refuse } from './problems.ts';
import { type Subject, type Target, TARGETS } from './promotion.ts';
import { failureOf } from './promotion-repair.ts';
import { awaitLastInstance } from './promotion-steps.ts';
import { keepPromotion } from './keep-promotion.ts';

/** The input of each step of the workflow: the subject, and the operation. */
export const stepOf = <S extends Subject>({ subject }: Kind<S>) =>
  v.object({ subject, operation_id: textOf<OperationId>() });

interface Waiting {
  subject: Subject;
  operation_id: OperationId;
  task_token: string;
}

/**
 * The function behind the steps every kind has, by the name the workflow gives each. Asking for a smoke run is the
 * kind's own, where it has one.
 */
export function promotionSteps(kind: Kind, requestSmoke?: (ctx: Context, step: Waiting) => Promise<void>) {
  const { entries } = stepOf(kind);
  const token = { task_token: v.string() };
  const Step = v.variant('run', [
    v.object({ run: v.literal('advance'), ...entries, to: v.picklist(TARGETS) }),
    v.object({ run: v.literal('request_smoke'), ...entries, ...token }),
    v.object({ run: v.literal('watch_instances'), ...entries, ...token }),
    v.object({ run: v.literal('fail'), ...entries, error: WorkflowError }),
  ]);
  return task<AnyStep, unknown>(Step, async (ctx, step) => {
    switch (step.run) {
      case 'advance':
        return advancePromotion(ctx, kind, step);
      case 'request_smoke':
        if (!requestSmoke) throw refuse('promotion.not_waiting');
        return requestSmoke(ctx, step);
      case 'watch_instances':
        return watchInstances(ctx, step);
      case 'fail':
        return failPromotion(ctx, kind, step, failureOf(step.error));
    }
  });
}

type AnyStep =
  | { run: 'advance'; subject: Subject; operation_id: OperationId; to: Target }
  | ({ run: 'request_smoke' | 'watch_instances' } & Waiting)
  | { run: 'fail'; subject: Subject; operation_id: OperationId; error: WorkflowError };

/** Keeps the token until the last instance has ended; the sweep sees to it that it is answered. */
async function watchInstances(ctx: Context, { subject, operation_id, task_token }: Waiting) {
  await keepPromotion(subject, (promotion) => {
    if (promotion.operation_id !== operation_id || promotion.status !== 'running')
      throw refuse('promotion.not_waiting');
    return promotion.task_token === task_token
      ? undefined
      : awaitLastInstance(promotion, task_token, ctx.now());
  });
}
