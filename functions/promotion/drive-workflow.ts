import type { Context } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import type { OperationId } from '../platform/ids.ts';
import { answerTask, refuseTask, startExecution } from '../platform/workflow/workflow.ts';
import type { Kind } from './kind.ts';
import type { Promotion, Subject } from './promotion.ts';
import { executionInput } from './promotion-plan.ts';
import { isAnswerable, SMOKE_FAILED } from './promotion-repair.ts';
import { start } from './promotion-steps.ts';
import { keepPromotion } from './keep-promotion.ts';

interface Asked {
  subject: Subject;
  operation_id: OperationId;
}

/** Starts the workflow of a requested promotion, unless another one has replaced it. */
export async function startPromotion(
  ctx: Context,
  kind: Kind,
  { subject, operation_id }: Asked,
): Promise<void> {
  const { promotion } = await kind.find(subject);
  if (promotion?.operation_id === operation_id && promotion.status === 'running')
    await startWorkflow(ctx, kind, promotion);
}

/** Continues the workflow after an answer, with the current token, which may be newer than the answer. */
export async function answerPromotion(kind: Kind, { subject, operation_id }: Asked): Promise<void> {
  const { promotion, ...at } = await kind.find(subject);
  if (promotion?.operation_id === operation_id && isAnswerable(promotion, at))
    await answerWorkflow(promotion);
}

/** Started twice, it runs once: the execution bears the operation's id. */
export async function startWorkflow(ctx: Context, kind: Kind, promotion: Promotion): Promise<void> {
  const { operation_id, subject } = promotion;
  const input = executionInput(kind, promotion);
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
