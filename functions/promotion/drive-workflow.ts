import { type Context, createContext } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import type { OperationId } from '../platform/ids.ts';
import { sweeping } from '../platform/workflow/sweep.ts';
import { answerTask, refuseTask, startExecution } from '../platform/workflow/workflow.ts';
import { keepPromotion, listOpenPromotions } from './keep-promotion.ts';
import type { Kind } from './kind.ts';
import { executionInput } from './promotion-plan.ts';
import { failPromotion } from './run-step.ts';
import { isAnswerable, repairOf, SMOKE_FAILED, STALLED, start } from './promotion-steps.ts';
import type { Promotion, Subject } from './promotion.ts';

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
async function startWorkflow(ctx: Context, kind: Kind, promotion: Promotion): Promise<void> {
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
async function answerWorkflow({ step, gates, task_token }: Promotion): Promise<void> {
  if (task_token === undefined) return;
  if (step === 'smoke_answered' && gates.smoke?.verdict === 'failed') {
    const message = gates.smoke.notes || 'The smoke run failed.';
    await refuseTask(task_token, { name: SMOKE_FAILED, message });
  } else await answerTask(task_token);
}

const SWEEP = { kind: 'platform', id: 'promotion-sweep' } as const;

/** Starts promotions that no event started, answers those that wait, and ends those that hang. */
export const sweepPromotions = (kind: Kind) =>
  sweeping<Promotion>({
    noun: 'promotion',
    find: () => listOpenPromotions(kind.name),
    mend: (_ctx, promotion) => mend(kind, promotion),
    label: ({ operation_id }) => ({ operation_id }),
    secondsMax: 90,
  });

async function mend(
  kind: Kind,
  { operation_id, subject, correlation_id, traceparent }: Promotion,
): Promise<void> {
  const ctx: Context = createContext(correlation_id, traceparent);
  // The index may lag behind.
  const { promotion, ...at } = await kind.find(subject);
  if (promotion?.operation_id !== operation_id) return;
  const decision = repairOf(promotion, at, ctx.now());
  if (decision === 'wait') return;
  ctx.log.warn('A promotion did not continue by itself and is repaired.', {
    operation_id,
    ...subject,
    decision,
  });
  if (decision === 'start') await startWorkflow(ctx, kind, promotion);
  else if (decision === 'answer') await answerWorkflow(promotion);
  else await failPromotion(ctx, kind, promotion, STALLED, SWEEP);
}
