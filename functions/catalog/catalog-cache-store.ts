// The whole catalogue, kept in a warm function. The catalogue changes seldom and is read by everybody, so its rows
// are fetched again only when the count of its changes says so, and then only those that changed; that count is read
// with whatever else a request reads.

import * as v from 'valibot';
import { callerNow } from '../platform/auth/caller.ts';
import type { Context } from '../platform/context.ts';
import { queryAll, readItems } from '../platform/data/rows.ts';
import type { AppSlug } from '../platform/name.ts';
import type { Grant } from '../platform/permissions.ts';
import { App, APPS_MAX } from './app.ts';
import { searchTextOf } from './app-filter.ts';
import { changedSince, revisionOf } from './catalog-changes.ts';
import { APP_ROWS, appKey, CATALOG_PARTITION, catalogHeadKey } from './keys.ts';

interface CachedApp {
  app: App;
  searchText: string;
}

/** Every app, in the order of their slugs. */
export type CachedCatalog = ReadonlyMap<AppSlug, CachedApp>;

let remembered: { revision: number; catalog: CachedCatalog } | undefined;

/** As in a function that has just started. */
export function forgetCatalog(): void {
  remembered = undefined;
}

/** The catalogue, and what the caller may do now, by one request: publishers see more of it. */
export async function readCatalogFor(ctx: Context): Promise<{ catalog: CachedCatalog; grants: Grant[] }> {
  const { grants, items } = await callerNow(ctx, [catalogHeadKey()]);
  return { catalog: await catalogAt(items[0]), grants };
}

/** The catalogue as the row of its head, just read, says it is; there is no row before the first app. */
export async function catalogAt(head: Record<string, unknown> | undefined): Promise<CachedCatalog> {
  const revision = revisionOf(head);
  const known = remembered;
  if (known?.revision === revision) return known.catalog;
  const changed = known && changedSince(head, known.revision);
  // A change during the read leaves the older number in the cache, so the next request fetches again.
  const catalog = changed ? await readAgain(known.catalog, changed) : await readAllApps();
  remembered = { revision, catalog };
  return catalog;
}

/** The same catalogue with these apps as they are now. */
async function readAgain(known: CachedCatalog, slugs: AppSlug[]): Promise<CachedCatalog> {
  const rows = await readItems(slugs.map(appKey));
  const catalog = new Map(known);
  for (const row of rows) if (row) keep(catalog, row);
  // A new app stands at the end.
  return catalog.size === known.size
    ? catalog
    : new Map([...catalog].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function keep(catalog: Map<AppSlug, CachedApp>, row: unknown): void {
  const app = v.parse(App, row);
  catalog.set(app.slug, { app, searchText: searchTextOf(app) });
}

async function readAllApps(): Promise<CachedCatalog> {
  const { items } = await queryAll({
    condition: 'pk = :catalog AND begins_with(sk, :apps)',
    values: { ':catalog': CATALOG_PARTITION, ':apps': APP_ROWS },
    max: APPS_MAX,
    consistent: true,
  });
  const catalog = new Map<AppSlug, CachedApp>();
  for (const item of items) keep(catalog, item);
  return catalog;
}
