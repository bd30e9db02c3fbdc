import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { findGarbage } from './find-garbage.ts';
import { listRepositories, type Repository } from '../storage/keep-repository.ts';
import { GarbagePage, viewGarbage } from './garbage-view.ts';

/** Each is looked at in the registry and in the object store while somebody waits: a page has no more of them. */
const REPOSITORIES_MAX = 10;

export const listGarbage = query(
  {
    summary: 'List what the next sweep would remove, by repository',
    query: v.strictObject(PageQuery),
    reply: GarbagePage,
    refusals: ['store.unavailable'],
  },
  async (ctx, { query: { limit, cursor } }) => {
    const page = { limit: Math.min(limit, REPOSITORIES_MAX), cursor };
    const { items, next_cursor } = await listRepositories(page);
    const survey = async (repository: Repository) => {
      const { images, files } = await findGarbage(repository, ctx.now());
      return viewGarbage(repository, images, files);
    };
    return { items: await Promise.all(items.map(survey)), next_cursor };
  },
);
