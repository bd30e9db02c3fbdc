import * as v from 'valibot';
import { subjectOfPromotion } from './artifact-promotion.ts';
import { Artifact } from './artifact.ts';
import { refuse } from './problems.ts';
import { artifactKey } from '../catalog/readiness.ts';
import { readItems, readItemsAtOnce } from '../platform/data/rows.ts';
import { readItem } from '../platform/data/table.ts';
import { type ArtifactId, lowerCased, type ProjectId } from '../platform/ids.ts';
import { parsePromotion } from '../promotion/keep-promotion.ts';
import { promotionKey, promotionPolicyKey } from '../promotion/keys.ts';
import { parsePolicy } from '../promotion/keep-policy.ts';
import type { PromotionPolicy } from '../promotion/promotion-policy.ts';
import type { Promotion } from '../promotion/promotion.ts';

export async function findArtifact(projectId: ProjectId, id: ArtifactId): Promise<Artifact> {
  const artifact = await findAnyArtifact(id);
  if (artifact?.project_id !== projectId) throw refuse('artifact.unknown');
  return artifact;
}

/** For the platform's own work; everybody else asks in a project. */
export async function findAnyArtifact(id: ArtifactId): Promise<Artifact | undefined> {
  const item = await readItem(artifactKey(lowerCased(id)));
  return item && v.parse(Artifact, item);
}

/** Those of them that exist. */
export async function findArtifacts(ids: ArtifactId[]): Promise<Artifact[]> {
  const items = await readItems(ids.map(artifactKey));
  return items.flatMap((item) => (item ? [v.parse(Artifact, item)] : []));
}

/** An artifact and how it was last promoted. */
export interface PromotedArtifact {
  artifact: Artifact;
  promotion?: Promotion;
}

/** An artifact and how it was last promoted, by one request. */
export async function findArtifactPromotion(id: ArtifactId): Promise<PromotedArtifact> {
  return requireThere(await findAnyArtifactPromotion(id));
}

/** The same, where the artifact may be gone. */
export async function findAnyArtifactPromotion(id: ArtifactId): Promise<PromotedArtifact | undefined> {
  return parseFound(await readItems(keysOf(id)));
}

/** The same, where a project asks. */
export async function findArtifactPromotionOf(
  projectId: ProjectId,
  id: ArtifactId,
): Promise<PromotedArtifact> {
  return requireOwn(projectId, await findArtifactPromotion(id));
}

/** The same with the policy that promotions follow, by one request too. */
export async function findArtifactPromotionAndPolicy(
  projectId: ProjectId,
  id: ArtifactId,
): Promise<{ found: PromotedArtifact; policy: PromotionPolicy }> {
  const [policy, ...rows] = await readItems([promotionPolicyKey(), ...keysOf(id)]);
  return { found: requireOwn(projectId, requireThere(parseFound(rows))), policy: parsePolicy(policy) };
}

/** As they stand at one moment: neither tells of a step the other has not made. */
export async function findArtifactPromotionAtOnce(
  projectId: ProjectId,
  id: ArtifactId,
): Promise<PromotedArtifact> {
  return requireOwn(projectId, requireThere(parseFound(await readItemsAtOnce(keysOf(id)))));
}

function requireOwn(projectId: ProjectId, found: PromotedArtifact): PromotedArtifact {
  if (found.artifact.project_id !== projectId) throw refuse('artifact.unknown');
  return found;
}

const keysOf = (id: ArtifactId) => [
  artifactKey(lowerCased(id)),
  promotionKey(subjectOfPromotion(lowerCased(id))),
];

function requireThere(found: PromotedArtifact | undefined): PromotedArtifact {
  if (!found) throw refuse('artifact.unknown');
  return found;
}

function parseFound([artifact, promotion]: unknown[]): PromotedArtifact | undefined {
  if (!artifact) return undefined;
  return { artifact: v.parse(Artifact, artifact), promotion: parsePromotion(promotion) };
}
