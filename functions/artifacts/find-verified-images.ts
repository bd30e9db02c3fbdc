import * as v from 'valibot';
import { artifactKey } from '../catalog/readiness.ts';
import { readItems } from '../platform/data/rows.ts';
import { type ArtifactId, type ProjectId, textOf } from '../platform/ids.ts';
import { findOwners } from '../storage/keep-repository.ts';
import { contentKey } from './keys.ts';

export interface Image {
  repository: string;
  digest: string;
}

const ContentRow = v.object({ artifact_ids: v.optional(v.set(textOf<ArtifactId>()), () => new Set()) });
const ArtifactRow = v.object({ repository: v.string(), trust_state: v.string() });
const TOGETHER_MAX = 100;

/**
 * Those of the images that somebody has registered in just this repository and that are verified, each with the project
 * that published it. At most as many as one task can name.
 */
export async function findVerifiedImages<I extends Image>(
  images: I[],
): Promise<(I & { publisher_project_id: ProjectId })[]> {
  const owners = await findOwnersOf(images);
  const owned = images.flatMap((image) => {
    const owner = owners.get(image.repository);
    return owner === undefined ? [] : { ...image, publisher_project_id: owner };
  });
  const contents = await readItems(
    owned.map(({ digest, publisher_project_id }) => contentKey(digest, publisher_project_id)),
  );
  const idsOf = contents.map((row) => [...v.parse(ContentRow, row ?? {}).artifact_ids]);
  const verified = await findVerified([...new Set(idsOf.flat())]);
  return owned.filter(({ repository }, index) =>
    idsOf[index]?.some((id) => verified.get(id)?.repository === repository),
  );
}

async function findOwnersOf(images: Image[]): Promise<Map<string, ProjectId | undefined>> {
  const names = [...new Set(images.map(({ repository }) => repository))];
  const owners = await findOwners(names);
  return new Map(names.map((name, index) => [name, owners[index]]));
}

async function findVerified(ids: ArtifactId[]): Promise<Map<ArtifactId, { repository: string }>> {
  const verified = new Map<ArtifactId, { repository: string }>();
  for (let start = 0; start < ids.length; start += TOGETHER_MAX) {
    const some = ids.slice(start, start + TOGETHER_MAX);
    const rows = await readItems(some.map(artifactKey));
    some.forEach((id, index) => {
      const row = rows[index] && v.parse(ArtifactRow, rows[index]);
      if (row?.trust_state === 'verified') verified.set(id, row);
    });
  }
  return verified;
}
