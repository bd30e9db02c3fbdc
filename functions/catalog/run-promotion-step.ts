import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { OperationId } from '../platform/ids.ts';
import { auditPromotion } from '../promotion/kind.ts';
import type { Subject } from '../promotion/promotion.ts';
import { promotionSteps } from '../promotion/run-step.ts';
import { awaitSmoke } from '../promotion/promotion-steps.ts';
import { keepPromotion, savePromotion } from '../promotion/keep-promotion.ts';
import { refuse } from './problems.ts';
import { versionKind } from './version-kind.ts';
import { SmokeRequested, type VersionSubject } from './version-promotion.ts';

interface SmokeStep {
  subject: Subject;
  operation_id: OperationId;
  task_token: string;
}

export const handler = promotionSteps(versionKind, requestSmoke);

/** Until hosts run it themselves, a platform admin does, and answers. The token stays here. */
async function requestSmoke(ctx: Context, { subject, operation_id, task_token }: SmokeStep): Promise<void> {
  await commitDecision(ctx, 'catalog.version.request_smoke', async () => {
    const { promotion, place } = await versionKind.find(subject as VersionSubject);
    if (promotion?.operation_id !== operation_id || promotion.status !== 'running')
      throw refuse('promotion.not_waiting');
    // The smoke run was already requested: no second event is needed.
    if (promotion.step !== 'checking') return undefined;
    const waiting = awaitSmoke(promotion, task_token, ctx.now());
    return {
      ...auditPromotion(versionKind, promotion, waiting),
      reason: promotion.reason,
      actor: promotion.actor,
      place,
      writes: [savePromotion(promotion, waiting)],
      events: [SmokeRequested(waiting)],
    };
  });
  // A repeated request has a new token and makes the old one useless. A late call finds that the promotion has moved
  // on, and changes nothing.
  await keepPromotion(subject, (promotion) =>
    promotion.operation_id === operation_id &&
    (promotion.step === 'awaiting_smoke' || promotion.step === 'smoke_answered') &&
    promotion.task_token !== task_token
      ? awaitSmoke(promotion, task_token, ctx.now())
      : undefined,
  );
}
