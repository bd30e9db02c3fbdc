// A repository's row: its owner, until when pushes are allowed, and whether it is being cleaned. Publishing opens it,
// retention cleans it, and a registration requires that it is not being cleaned.

import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import { requireThat, update, type Write } from '../platform/data/commit.ts';
import { type PageAsked, queryAll, readItems } from '../platform/data/rows.ts';
import { queryPage, updateItem } from '../platform/data/table.ts';
import type { Refusal } from '../platform/errors.ts';
import { type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import { decodeCursor, encodeCursor, type PageOf } from '../platform/page.ts';
import { REPOSITORY_PARTITION, repositoryKey } from './keys.ts';

const Repository = v.object({
  name: v.string(),
  org_id: textOf<OrgId>(),
  project_id: textOf<ProjectId>(),
  app_slug: textOf<AppSlug>(),
  /** Until then somebody may push there, or upload. */
  open_until: v.string(),
  /** Until then nothing can be registered there, because it is being cleaned. */
  collecting_until: v.optional(v.string()),
  swept_at: v.optional(v.string()),
});
export type Repository = v.InferOutput<typeof Repository>;

const NOT_COLLECTING = 'attribute_not_exists(collecting_until) OR collecting_until < :now';

/** Opens it for pushes and assigns it to the project. Fails while it is being cleaned. */
export function saveOpened(
  { name, org_id, project_id, app_slug, open_until }: Repository,
  now: string,
  collecting: Refusal,
): Write {
  return update(
    repositoryKey(name),
    {
      update:
        'SET #name = :name, org_id = :org, project_id = :project, app_slug = :app, open_until = :until, created_at = if_not_exists(created_at, :now)',
      condition: `attribute_not_exists(pk) OR (project_id = :project AND (${NOT_COLLECTING}))`,
      names: { '#name': 'name' },
      values: {
        ':name': name,
        ':org': org_id,
        ':project': project_id,
        ':app': app_slug,
        ':until': open_until,
        ':now': now,
      },
    },
    collecting,
  );
}

/** Holds that nothing is being removed there. */
export function requireNotCollecting(name: string, now: string, collecting: Refusal): Write {
  return requireThat(repositoryKey(name), { condition: NOT_COLLECTING, values: { ':now': now } }, collecting);
}

/** Whose they are, in their order; undefined where nobody has published. */
export async function findOwners(names: string[]): Promise<(ProjectId | undefined)[]> {
  const rows = await readItems(names.map(repositoryKey));
  return rows.map((row) => row && v.parse(v.pick(Repository, ['project_id']), row).project_id);
}

const POSITION = /^[a-z0-9/-]{1,120}$/;

/** By name. */
export async function listRepositories({ limit, cursor }: PageAsked): Promise<PageOf<Repository>> {
  const after = decodeCursor(cursor, POSITION);
  const { items, next } = await queryPage({
    condition: 'pk = :repositories',
    values: { ':repositories': REPOSITORY_PARTITION },
    limit,
    from: after === undefined ? undefined : { ...repositoryKey(after) },
  });
  return {
    items: items.map((item) => v.parse(Repository, item)),
    next_cursor: encodeCursor(next?.['sk'] as string | undefined),
  };
}

const REPOSITORIES_MAX = 20_000;

export async function listAllRepositories(): Promise<Repository[]> {
  const { items } = await queryAll({
    condition: 'pk = :repositories',
    values: { ':repositories': REPOSITORY_PARTITION },
    max: REPOSITORIES_MAX,
  });
  return items.map((item) => v.parse(Repository, item));
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
 * Claims a repository for cleaning, for a limited time. Fails while pushes are allowed; until the claim ends, no push
 * can begin and nothing can be registered.
 */
export async function claimRepository(name: string, now: Date, seconds: number): Promise<boolean> {
  return updateItem(repositoryKey(name), {
    update: 'SET collecting_until = :until',
    condition: `open_until < :now AND (${NOT_COLLECTING})`,
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
