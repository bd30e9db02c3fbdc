import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import { decodeCursor, encodeCursor, type PageOf } from '../platform/page.ts';
import { type PageAsked, readItems } from '../platform/data/rows.ts';
import { queryPage, updateItem } from '../platform/data/table.ts';
import { Artifact } from '../artifacts/artifact.ts';
import { inParts } from './garbage.ts';
import { findArtifacts } from '../artifacts/artifact-store.ts';
import { contentKey, projectArtifacts, REPOSITORY_PARTITION, repositoryKey } from '../artifacts/keys.ts';

const Repository = v.object({
  name: v.string(),
  org_id: v.string(),
  project_id: v.string(),
  app_slug: v.string(),
  /** Until then somebody may push there, or upload. */
  open_until: v.string(),
  /** Until then nothing can be registered there, as what nobody needs is being removed. */
  collecting_until: v.optional(v.string()),
  swept_at: v.optional(v.string()),
});
export type Repository = v.InferOutput<typeof Repository>;

const POSITION = /^[a-z0-9/-]{1,120}$/;

/** By name. */
export async function listRepositories({ limit, cursor }: PageAsked): Promise<PageOf<Repository>> {
  const after = decodeCursor(cursor, POSITION);
  const { items, next } = await queryPage({
    condition: 'pk = :repositories',
    values: { ':repositories': REPOSITORY_PARTITION },
    limit,
    from: after === undefined ? undefined : { pk: REPOSITORY_PARTITION, sk: after },
  });
  return {
    items: items.map((item) => v.parse(Repository, item)),
    next_cursor: encodeCursor(next?.['sk'] as string | undefined),
  };
}

const PAGE = 1_000;
const ARTIFACTS_MAX = 20_000;

/** Every artifact of the repository, as far as the index knows. */
export async function artifactsIn({ name, project_id, app_slug }: Repository): Promise<Artifact[]> {
  const found: Artifact[] = [];
  let from: Record<string, unknown> | undefined;
  do {
    const { items, next } = await queryPage({
      index: 'gsi1',
      condition: 'gsi1pk = :project AND begins_with(gsi1sk, :app)',
      values: { ':project': projectArtifacts(project_id), ':app': `${app_slug}#` },
      limit: PAGE,
      from,
    });
    found.push(...items.map((item) => v.parse(Artifact, item)));
    if (found.length > ARTIFACTS_MAX) throw new Error(`${name} has more than ${ARTIFACTS_MAX} artifacts.`);
    from = next;
  } while (from);
  return found;
}

const Content = v.object({ artifact_ids: v.optional(v.set(v.string())) });

/** Which of these digests are registered there after all: the index may not know it yet. */
export async function registeredAfterAll(
  { name, project_id }: Repository,
  digests: string[],
): Promise<string[]> {
  const ids: string[] = [];
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

/** When it was last looked at, so that each has its turn. */
export async function noteSwept(name: string, now: Date): Promise<void> {
  await updateItem(repositoryKey(name), {
    update: 'SET swept_at = :now',
    condition: 'attribute_exists(pk)',
    values: { ':now': now.toISOString() },
  });
}

/**
 * Takes a repository to remove what nobody needs there, for so long. Not while somebody may be pushing; and while it
 * lasts nobody can begin to, nor register what is there.
 */
export async function claimRepository(name: string, now: Date, seconds: number): Promise<boolean> {
  return updateItem(repositoryKey(name), {
    update: 'SET collecting_until = :until',
    condition: 'open_until < :now AND (attribute_not_exists(collecting_until) OR collecting_until < :now)',
    values: { ':now': now.toISOString(), ':until': secondsAfter(now, seconds).toISOString() },
  });
}

/** Lets go of it, after so long. */
export async function releaseRepository(name: string, now: Date, seconds: number): Promise<void> {
  await updateItem(repositoryKey(name), {
    update: 'SET collecting_until = :until',
    condition: 'attribute_exists(collecting_until)',
    values: { ':until': secondsAfter(now, seconds).toISOString() },
  });
}
