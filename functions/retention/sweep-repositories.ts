import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import type { Context } from '../platform/context.ts';
import { task } from '../platform/workflow/task.ts';
import { collectGarbage } from './collect-garbage.ts';
import { listRepositories, noteSwept, type Repository } from '../storage/repository-store.ts';

const PAGE = 1_000;
const PAGES_MAX = 20;
/** One repository may take minutes more; the function has them. */
const RUN_SECONDS_MAX = 8 * 60;

/**
 * Removes from every repository what nobody needs, those first that were not looked at for longest. Takes no input and
 * trusts only what is stored; running it twice removes nothing the second time.
 */
export async function sweepArtifacts(ctx: Context): Promise<void> {
  const endsAt = secondsAfter(ctx.now(), RUN_SECONDS_MAX);
  const repositories = await allRepositories();
  const waiting = repositories.toSorted((a, b) => ((a.swept_at ?? '') < (b.swept_at ?? '') ? -1 : 1));
  for (const repository of waiting) {
    if (ctx.now() > endsAt) return;
    await noteSwept(repository.name, ctx.now());
    try {
      await collectGarbage(ctx, repository);
    } catch (error) {
      // The others must not wait for the one that cannot be helped.
      ctx.log.error('A repository could not be swept.', { repository: repository.name, error });
    }
  }
}

export const handler = task(v.unknown(), sweepArtifacts);

async function allRepositories(): Promise<Repository[]> {
  const all: Repository[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const { items, next_cursor } = await listRepositories({ limit: PAGE, cursor });
    all.push(...items);
    if (next_cursor === null) break;
    cursor = next_cursor;
  }
  return all;
}
