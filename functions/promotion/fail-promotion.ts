import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { OperationId } from '../platform/ids.ts';
import { auditPromotion, type Kind } from './kind.ts';
import type { Failure, Subject } from './promotion.ts';
import { fail } from './promotion-steps.ts';
import { savePromotion } from './keep-promotion.ts';

/** Ends a promotion that cannot continue; one that has ended or was replaced is left unchanged. */
export async function failPromotion(
  ctx: Context,
  kind: Kind,
  { subject, operation_id }: { subject: Subject; operation_id: OperationId },
  error: Failure,
  by?: Actor,
): Promise<void> {
  await commitDecision(ctx, `${kind.audited}.fail_promotion`, async () => {
    const { promotion, place } = await kind.find(subject);
    if (promotion?.operation_id !== operation_id || promotion.status !== 'running') return undefined;
    const failed = fail(promotion, error, ctx.now());
    const audited = auditPromotion(kind, promotion, failed);
    return {
      ...audited,
      after: { ...audited.after, error },
      reason: error.detail,
      actor: by ?? promotion.actor,
      place,
      writes: [savePromotion(promotion, failed)],
      events: [kind.failed(failed, error)],
    };
  });
}
