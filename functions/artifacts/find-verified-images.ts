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
  const registered = await findRegistered(owned);
  const verified = await findVerified([...new Set([...registered.values()].flat())]);
  return owned.filter((image) =>
    registered.get(nameContent(image))?.some((id) => verified.get(id)?.repository === image.repository),
  );
}

type Owned = Image & { publisher_project_id: ProjectId };

const nameContent = ({ digest, publisher_project_id }: Owned): string => `${digest} ${publisher_project_id}`;

/** Which artifacts of its publisher are these bytes; two repositories may have the same. */
async function findRegistered(images: Owned[]): Promise<Map<string, ArtifactId[]>> {
  const contents = [...new Map(images.map((image) => [nameContent(image), image])).entries()];
  const rows = await readItems(
    contents.map(([, { digest, publisher_project_id }]) => contentKey(digest, publisher_project_id)),
  );
  const idsIn = (row: unknown): ArtifactId[] => [...v.parse(ContentRow, row ?? {}).artifact_ids];
  return new Map(contents.map(([name], index) => [name, idsIn(rows[index])]));
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
