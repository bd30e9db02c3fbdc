import * as v from 'valibot';
import { createContext } from '../platform/context.ts';
import { task } from '../platform/workflow/task.ts';
import { failPromotion } from './fail-promotion.ts';
import { findPromotable } from '../catalog/find-promotable.ts';
import { type Promotion } from './promotion.ts';
import { STALLED, sweepOf } from './promotion-repair.ts';
import { answerWorkflow, startWorkflow } from './promotion-execution.ts';
import { openPromotions } from './promotion-store.ts';

const SWEEP = { kind: 'platform', id: 'promotion-sweep' } as const;

/** Takes no input and trusts only what is stored; running it twice changes nothing the second time. */
export const handler = task(v.unknown(), async (ctx) => {
  for (const promotion of await openPromotions()) {
    try {
      await repair(promotion);
    } catch (error) {
      // The others must not wait for the one that cannot be helped.
      ctx.log.error('A promotion could not be repaired.', { operation_id: promotion.operation_id, error });
    }
  }
});

async function repair({ operation_id, subject, correlation_id, traceparent }: Promotion): Promise<void> {
  const ctx = createContext(correlation_id, traceparent);
  // The index may lag behind.
  const { promotion, ...at } = await findPromotable(subject);
  if (promotion?.operation_id !== operation_id) return;
  const decision = sweepOf(promotion, at, ctx.now());
  if (decision === 'wait') return;
  ctx.log.warn('A promotion needs help.', { operation_id, ...subject, decision });
  if (decision === 'start') await startWorkflow(ctx, promotion);
  else if (decision === 'answer') await answerWorkflow(promotion);
  else await failPromotion(ctx, promotion, STALLED, SWEEP);
}
