import * as v from 'valibot';
import { Promotion } from '../promotion/promotion.ts';
import { requireThat, type Write } from '../platform/data/commit.ts';
import { readItems, readItemsAtOnce } from '../platform/data/rows.ts';
import { Artifact } from './artifact.ts';
import { artifactKey, artifactPromotionKey } from './keys.ts';
import { refuse } from './problems.ts';

export interface Found {
  artifact: Artifact;
  promotion?: Promotion;
}

/** An artifact and how it was last promoted, by one request. */
export async function findArtifactPromotion(id: string): Promise<Found> {
  return parseFound(await readItems(keysOf(id)));
}

/** The same, where a project asks. */
export async function findArtifactPromotionOf(projectId: string, id: string): Promise<Found> {
  return requireOwn(projectId, await findArtifactPromotion(id));
}

/** As they stand at one moment: neither tells of a step the other has not made. */
export async function findArtifactPromotionAtOnce(projectId: string, id: string): Promise<Found> {
  return requireOwn(projectId, parseFound(await readItemsAtOnce(keysOf(id))));
}

function requireOwn(projectId: string, found: Found): Found {
  if (found.artifact.project_id !== projectId) throw refuse('artifact.unknown');
  return found;
}

const keysOf = (id: string) => [artifactKey(id.toLowerCase()), artifactPromotionKey(id.toLowerCase())];

function parseFound([artifact, promotion]: unknown[]): Found {
  if (!artifact) throw refuse('artifact.unknown');
  return { artifact: v.parse(Artifact, artifact), promotion: v.parse(v.optional(Promotion), promotion) };
}

/** Holds an artifact to the state it was read with, where the change does not touch it. */
export function requireState({ id, lifecycle_state }: Artifact): Write {
  return requireThat(artifactKey(id), {
    condition: 'lifecycle_state = :state AND trust_state <> :revoked',
    values: { ':state': lifecycle_state, ':revoked': 'revoked' },
  });
}
