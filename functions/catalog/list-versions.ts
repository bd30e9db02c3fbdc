import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { AppParams, isPublisher, isVisible } from './app.ts';
import { VersionPage, viewVersion } from './version.ts';
import { listVersionsOf } from './version-store.ts';
import { refuse } from './problems.ts';

export const listVersions = query(
  {
    summary: 'List the versions of an app, newest first',
    params: AppParams,
    query: v.strictObject(PageQuery),
    reply: VersionPage,
    refusals: ['app.unknown'],
  },
  async (ctx, { params, query: page }) => {
    const { items, next_cursor } = await listVersionsOf(
      params.app_slug,
      (version) => isVisible(version, isPublisher(ctx.grants, version)),
      page,
    );
    // Every app has a version: if the caller can see none, the app is unknown to them.
    if (items.length === 0 && next_cursor === null && page.cursor === undefined) throw refuse('app.unknown');
    return { items: items.map(viewVersion), next_cursor };
  },
);
