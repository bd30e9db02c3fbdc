import type { Failure, Promotion } from '../promotion/promotion.ts';
import { stepOf } from '../promotion/run-step.ts';
import { nextStepFrom } from '../promotion/promotion-plan.ts';
import { recordVerification } from '../promotion/promotion-steps.ts';
import { savePromotion } from '../promotion/keep-promotion.ts';
import { commitDecision } from '../platform/data/change.ts';
import { task } from '../platform/workflow/task.ts';
import { artifactKind } from './artifact-kind.ts';
import { findArtifactPromotion } from './find-artifact.ts';
import { requireNotRevoked, untrusted } from './artifact-trust.ts';
import { findBound } from './find-bound-version.ts';
import { decideVerification } from './decide-verification.ts';
import { examineArtifact } from './examine-artifact.ts';
import { readTrust } from './read-trust.ts';

/** The first gate. Its verdict counts for the artifact and for the promotion, which ends if trust is missing. */
export const handler = task(stepOf(artifactKind), async (ctx, { subject, operation_id }) => {
  let found: { fault?: Failure } | undefined;
  await commitDecision(ctx, 'artifacts.artifact.verify', async () => {
    const { artifact, promotion } = await findArtifactPromotion(subject.artifact_id);
    // The promotion is over or has moved on; the next step reports that.
    if (promotion?.operation_id !== operation_id || promotion.step !== 'verifying') return undefined;
    found = refusedBefore(promotion);
    if (found) return undefined;
    requireNotRevoked(artifact);
    const verification = await examineArtifact(artifact, await readTrust(), ctx.now());
    if (verification.verdict === 'refused') found = verification;
    const after = recordVerification(promotion, verification, nextStepFrom(promotion.from), ctx.now());
    const { writes, ...decision } = decideVerification(
      artifact,
      await findBound(artifact),
      verification,
      ctx.now(),
    );
    return {
      ...decision,
      writes: [...writes, savePromotion(promotion, after)],
      actor: promotion.actor,
      reason: promotion.reason,
    };
  });
  if (found) throw untrusted(found.fault);
});

/** A repeated step gives the same answer: the verdict is stored. */
function refusedBefore({ gates: { verification } }: Promotion): typeof verification {
  return verification?.verdict === 'refused' ? verification : undefined;
}
