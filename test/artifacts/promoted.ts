import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { artifactKind } from '../../functions/artifacts/artifact-kind.ts';
import { subjectOfPromotion } from '../../functions/artifacts/artifact-promotion.ts';
import { DEFAULT_POLICY } from '../../functions/promotion/promotion-policy.ts';
import { planPromotion } from '../../functions/promotion/promotion-plan.ts';
import { savePromotion } from '../../functions/promotion/keep-promotion.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';

/** An artifact whose promotion to active was asked for a moment ago. */
export async function promoteOne(artifact: Artifact): Promise<Artifact> {
  const at = await artifactKind.find(subjectOfPromotion(artifact.id));
  const { correlationId, traceparent } = createContext(newId());
  const request = {
    operationId: newId(),
    correlationId,
    traceparent,
    actor: { kind: 'user', id: 'somebody' } as const,
    reason: 'To be tried.',
    now: new Date(),
  };
  await commit([savePromotion(undefined, planPromotion(at, { target: 'active' }, DEFAULT_POLICY, request))]);
  return artifact;
}
