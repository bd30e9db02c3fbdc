import { requireSpared } from './artifact-binding.ts';
import {
  ArtifactPromotionFailed,
  ArtifactPromotionRequested,
  ArtifactSubject,
  namesOfArtifact,
  subjectOfPromotion,
} from './artifact-promotion.ts';
import { requireNotRevoked } from './artifact-trust.ts';
import { pathOfArtifact } from './artifact.ts';
import { decideArtifactMove, type MovableArtifact } from './decide-artifact-move.ts';
import {
  findArtifactPromotion,
  findArtifactPromotionAndPolicy,
  findArtifactPromotionOf,
  type PromotedArtifact,
} from './find-artifact.ts';
import { findBound, holdVersion } from './find-bound-version.ts';
import { refuse } from './problems.ts';
import { requireState } from './save-artifact.ts';
import { countInstances } from './usage-store.ts';
import type { Write } from '../platform/data/commit.ts';
import type { ArtifactId, ProjectId } from '../platform/ids.ts';
import type { Kind, Promotable } from '../promotion/kind.ts';
import { nextStepFrom } from '../promotion/promotion-plan.ts';
import type { Promotion, Target } from '../promotion/promotion.ts';
import type { PromotionPolicy } from '../promotion/promotion-policy.ts';

/** Artifacts, as promotions know them. */
export const artifactKind: Kind<ArtifactSubject> = {
  name: 'artifact',
  audited: 'artifacts.artifact',
  subject: ArtifactSubject,
  find: async ({ artifact_id }) => promotableArtifact(await findArtifactPromotion(artifact_id)),
  names: namesOfArtifact,
  requested: ArtifactPromotionRequested,
  failed: ArtifactPromotionFailed,
  wrongStatus: (detail) => refuse('artifact.wrong_state', { detail }),
  termsOf: ({ artifacts }, _, target) => (target === 'staged' ? {} : { canary: artifacts }),
  gate: 'verifying',
  // However far it has come, it is verified again before it goes on.
  isGated: (from) => from !== 'deprecated',
  afterGate: ({ from }) => nextStepFrom(from),
  requireGates,
  view: ({ artifact_id }, status) => ({ artifact_id, lifecycle_state: status }),
};

/** An artifact, where its project asks. */
export async function findPromotableArtifactOf(projectId: ProjectId, id: ArtifactId): Promise<Promotable> {
  return promotableArtifact(await findArtifactPromotionOf(projectId, id));
}

/** The same with the policy in force, by one request. */
export async function findArtifactOfAndPolicy(
  projectId: ProjectId,
  id: ArtifactId,
): Promise<{ at: Promotable; policy: PromotionPolicy }> {
  const { found, policy } = await findArtifactPromotionAndPolicy(projectId, id);
  return { at: await promotableArtifact(found), policy };
}

/** Who uses the artifact matters only for its retirement, so only then more is read. */
async function promotableArtifact(found: PromotedArtifact): Promise<Promotable> {
  const { artifact, promotion } = found;
  const isLeaving = artifact.lifecycle_state === 'deprecated';
  const movable: MovableArtifact = { ...found, ...(isLeaving && { bound: await findBound(artifact) }) };
  const instance_count = isLeaving ? await countInstances(artifact) : 0;
  return {
    kind: artifactKind,
    subject: subjectOfPromotion(artifact.id),
    status: artifact.lifecycle_state,
    promotion,
    retire_after: artifact.retire_after,
    instance_count,
    place: { org_id: artifact.org_id, project_id: artifact.project_id },
    path: pathOfArtifact(artifact),
    hold: (planned) => hold(movable, planned, instance_count),
    move: async (to, after, now) => decideArtifactMove(movable, { to }, after, now).decision,
  };
}

function hold({ artifact, bound }: MovableArtifact, { target }: Promotion, instances: number): Write[] {
  if (target !== 'retired' || !bound) {
    requireNotRevoked(artifact);
    return [requireState(artifact)];
  }
  requireSpared(bound, artifact, 'retired');
  if (instances > 0) {
    const detail =
      instances === 1 ? 'One instance runs the artifact.' : `${instances} instances run the artifact.`;
    throw refuse('artifact.in_use', { detail });
  }
  return [holdVersion(artifact, bound)];
}

/** No gate is skipped, however the workflow came to ask. */
function requireGates({ gates }: Promotion, to: Target): void {
  if (to !== 'retired' && gates.verification?.verdict !== 'verified')
    throw refuse('artifact.untrusted', { detail: 'The artifact was not verified for this promotion.' });
}
