import type { Promotable } from '../promotion/promotable.ts';
import type { Promotion } from '../promotion/promotion.ts';
import type { Write } from '../platform/data/commit.ts';
import { pathOfArtifact } from './artifact.ts';
import { requireSpared } from './artifact-binding.ts';
import {
  findArtifactPromotion,
  findArtifactPromotionOf,
  type Found,
  requireState,
} from './artifact-promotion-store.ts';
import { requireNotRevoked } from './artifact-trust.ts';
import { findBound, holdVersion } from './binding-store.ts';
import { decideArtifactMove, type Standing } from './decide-artifact-move.ts';
import { countInstances } from './usage-store.ts';
import { refuse } from './problems.ts';

/** What every command that begins a promotion of an artifact may refuse with. */
export const PROMOTION_REFUSALS = [
  'artifact.unknown',
  'artifact.wrong_state',
  'promotion.in_progress',
] as const;

export async function findPromotableArtifact({ artifact_id }: { artifact_id: string }): Promise<Promotable> {
  return promotableArtifact(await findArtifactPromotion(artifact_id));
}

/** The same, where a project asks. */
export async function findPromotableArtifactOf(projectId: string, id: string): Promise<Promotable> {
  return promotableArtifact(await findArtifactPromotionOf(projectId, id));
}

/** Only on its way out does it matter who uses it; until then nothing more is read. */
async function promotableArtifact(found: Found): Promise<Promotable> {
  const { artifact, promotion } = found;
  const isLeaving = artifact.lifecycle_state === 'deprecated';
  const standing: Standing = { ...found, ...(isLeaving && { bound: await findBound(artifact) }) };
  const instance_count = isLeaving ? await countInstances(artifact) : 0;
  return {
    subject: { kind: 'artifact', artifact_id: artifact.id },
    status: artifact.lifecycle_state,
    promotion,
    retire_after: artifact.retire_after,
    instance_count,
    place: { org_id: artifact.org_id, project_id: artifact.project_id },
    path: pathOfArtifact(artifact),
    hold: (planned) => hold(standing, planned, instance_count),
    move: async (to, after, now) => decideArtifactMove(standing, { to }, after, now).decision,
  };
}

function hold({ artifact, bound }: Standing, { target }: Promotion, instances: number): Write[] {
  if (target !== 'retired' || !bound) {
    requireNotRevoked(artifact);
    return [requireState(artifact)];
  }
  requireSpared(bound, artifact, 'retired');
  if (instances > 0) {
    const detail = instances === 1 ? 'One instance runs it.' : `${instances} instances run it.`;
    throw refuse('artifact.in_use', { detail });
  }
  return [holdVersion(artifact, bound)];
}
