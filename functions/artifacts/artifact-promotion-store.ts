import * as v from 'valibot';
import { promotionKey } from '../promotion/keys.ts';
import type { Promotion } from '../promotion/promotion.ts';
import { parsePromotion } from '../promotion/keep-promotion.ts';
import { subjectOfPromotion } from './artifact-promotion.ts';
import { requireThat, type Write } from '../platform/data/commit.ts';
import { readItems, readItemsAtOnce } from '../platform/data/rows.ts';
import { Artifact } from './artifact.ts';
import { artifactKey } from '../catalog/artifact-id.ts';
import { refuse } from './problems.ts';

/** An artifact and how it was last promoted. */
export interface PromotedArtifact {
  artifact: Artifact;
  promotion?: Promotion;
}

/** An artifact and how it was last promoted, by one request. */
export async function findArtifactPromotion(id: string): Promise<PromotedArtifact> {
  return parseFound(await readItems(keysOf(id)));
}

/** The same, where a project asks. */
export async function findArtifactPromotionOf(projectId: string, id: string): Promise<PromotedArtifact> {
  return requireOwn(projectId, await findArtifactPromotion(id));
}

/** As they stand at one moment: neither tells of a step the other has not made. */
export async function findArtifactPromotionAtOnce(projectId: string, id: string): Promise<PromotedArtifact> {
  return requireOwn(projectId, parseFound(await readItemsAtOnce(keysOf(id))));
}

function requireOwn(projectId: string, found: PromotedArtifact): PromotedArtifact {
  if (found.artifact.project_id !== projectId) throw refuse('artifact.unknown');
  return found;
}

const keysOf = (id: string) => [
  artifactKey(id.toLowerCase()),
  promotionKey(subjectOfPromotion(id.toLowerCase())),
];

function parseFound([artifact, promotion]: unknown[]): PromotedArtifact {
  if (!artifact) throw refuse('artifact.unknown');
  return { artifact: v.parse(Artifact, artifact), promotion: parsePromotion(promotion) };
}

/** Holds an artifact to the state it was read with, where the change does not touch it. */
export function requireState({ id, lifecycle_state }: Artifact): Write {
  return requireThat(artifactKey(id), {
    condition: 'lifecycle_state = :state AND trust_state <> :revoked',
    values: { ':state': lifecycle_state, ':revoked': 'revoked' },
  });
}
