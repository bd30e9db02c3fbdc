import type { Context } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import { answerTask, refuseTask, startExecution } from '../platform/workflow/workflow.ts';
import { type Promotion } from './promotion.ts';
import { executionInput } from './promotion-plan.ts';
import { SMOKE_FAILED } from './promotion-repair.ts';
import { start } from './promotion-steps.ts';
import { keepPromotion } from './promotion-store.ts';

/** Started twice, it runs once: the execution bears the operation's id. */
export async function startWorkflow(ctx: Context, promotion: Promotion): Promise<void> {
  const { operation_id, subject } = promotion;
  const input = executionInput(promotion);
  await startExecution(ctx, environment('PROMOTION_MACHINE_ARN'), operation_id, input);
  await keepPromotion(subject, (current) =>
    current.operation_id === operation_id && current.status === 'running' && current.started_at === undefined
      ? start(current, ctx.now())
      : undefined,
  );
}

/** Tells the workflow that what it waits for is there. */
export async function answerWorkflow({ step, gates, task_token }: Promotion): Promise<void> {
  if (task_token === undefined) return;
  if (step === 'smoke_answered' && gates.smoke?.verdict === 'failed') {
    const message = gates.smoke.notes || 'The smoke run failed.';
    await refuseTask(task_token, { name: SMOKE_FAILED, message });
  } else await answerTask(task_token);
}
