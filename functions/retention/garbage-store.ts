import * as v from 'valibot';
import { queryAll, readItems } from '../platform/data/rows.ts';
import { type ArtifactId, textOf } from '../platform/ids.ts';
import { Artifact } from '../artifacts/artifact.ts';
import { inParts } from './garbage.ts';
import { findArtifacts } from '../artifacts/find-artifact.ts';
import { contentKey, projectArtifacts } from '../artifacts/keys.ts';
import type { Repository } from '../storage/keep-repository.ts';

const ARTIFACTS_MAX = 20_000;

/** Every artifact of the repository, as far as the index knows. */
export async function artifactsIn({ name, project_id, app_slug }: Repository): Promise<Artifact[]> {
  const { items, isTruncated } = await queryAll({
    index: 'gsi1',
    condition: 'gsi1pk = :project AND begins_with(gsi1sk, :app)',
    values: { ':project': projectArtifacts(project_id), ':app': `${app_slug}#` },
    max: ARTIFACTS_MAX,
  });
  if (isTruncated) throw new Error(`${name} has more than ${ARTIFACTS_MAX} artifacts.`);
  return items.map((item) => v.parse(Artifact, item));
}

const Content = v.object({ artifact_ids: v.optional(v.set(textOf<ArtifactId>())) });

/** Which of these digests are registered there after all: the index may not know it yet. */
export async function registeredAfterAll(
  { name, project_id }: Repository,
  digests: string[],
): Promise<string[]> {
  const ids: ArtifactId[] = [];
  for (const some of inParts(digests)) {
    const rows = await readItems(some.map((digest) => contentKey(digest, project_id)));
    for (const row of rows) ids.push(...(v.parse(v.optional(Content), row)?.artifact_ids ?? []));
  }
  const registered: string[] = [];
  for (const some of inParts(ids)) {
    for (const { repository, digest } of await findArtifacts(some))
      if (repository === name) registered.push(digest);
  }
  return registered;
}
