import * as v from 'valibot';
import { query } from '../platform/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { findGarbage } from './find-garbage.ts';
import { listRepositories, type Repository } from './garbage-store.ts';
import { GarbagePage, viewGarbage } from './garbage-view.ts';

/** Each is asked for in the registry and in the object store while somebody waits. */
const Limit = v.pipe(v.string(), v.regex(/^(?:[1-9]|10)$/), v.transform(Number));

export const listGarbage = query(
  {
    summary: 'What the next sweep would remove, repository by repository',
    query: v.strictObject({ limit: v.optional(Limit, '5'), cursor: PageQuery.cursor }),
    reply: GarbagePage,
    refusals: ['store.unavailable'],
  },
  async (ctx, { query }) => {
    const { items, next_cursor } = await listRepositories(query);
    const survey = async (repository: Repository) => {
      const { images, files } = await findGarbage(repository, ctx.now());
      return viewGarbage(repository, images, files);
    };
    return { items: await Promise.all(items.map(survey)), next_cursor };
  },
);
