import { type Context, createContext } from '../platform/context.ts';
import { sweeping } from '../platform/workflow/sweep.ts';
import { answerWorkflow, startWorkflow } from './drive-workflow.ts';
import { failPromotion } from './fail-promotion.ts';
import type { Kind } from './kind.ts';
import type { Promotion } from './promotion.ts';
import { STALLED, repairOf } from './promotion-repair.ts';
import { listOpenPromotions } from './keep-promotion.ts';

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
