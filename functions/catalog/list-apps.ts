import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { AppPage, isPublisher, viewApp } from './app.ts';
import { AppFilterQuery, matcherOf } from './app-filter.ts';
import { readCatalogFor } from './catalog-cache-store.ts';
import { pageBySlug } from './slug-page.ts';

export const listApps = query(
  {
    summary: 'List every app of the catalogue',
    query: v.strictObject({ ...PageQuery, ...AppFilterQuery }),
    reply: AppPage,
  },
  async (ctx, { query: asked }) => {
    const isWanted = matcherOf(asked);
    const { catalog, grants } = await readCatalogFor(ctx);
    return pageBySlug(
      catalog.values(),
      ({ app }) => app.slug,
      asked,
      ({ app, searchText }) =>
        isWanted(app, searchText) ? viewApp(app, isPublisher(grants, app)) : undefined,
    );
  },
);
