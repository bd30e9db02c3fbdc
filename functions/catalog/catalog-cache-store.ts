// The whole catalogue, kept in a warm function. The catalogue changes seldom and is read by everybody, so its rows
// are fetched again only when the count of its changes says so; that count is read with whatever else a request reads.

import * as v from 'valibot';
import { queryAll } from '../platform/data/rows.ts';
import { readItem } from '../platform/data/table.ts';
import type { AppSlug } from '../platform/name.ts';
import { App, APPS_MAX } from './app.ts';
import { searchTextOf } from './app-filter.ts';
import { APP_ROWS, CATALOG_PARTITION, catalogHeadKey } from './keys.ts';

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

export async function readCatalog(): Promise<CachedCatalog> {
  return catalogAt(await readItem(catalogHeadKey()));
}

const Head = v.object({ revision: v.number() });

/** The catalogue as the row of its head, just read, says it is; there is no row before the first app. */
export async function catalogAt(head: Record<string, unknown> | undefined): Promise<CachedCatalog> {
  const revision = head ? v.parse(Head, head).revision : 0;
  if (remembered?.revision === revision) return remembered.catalog;
  // A change during the read leaves the older number in the cache, so the next request fetches again.
  const catalog = await readAllApps();
  remembered = { revision, catalog };
  return catalog;
}

async function readAllApps(): Promise<CachedCatalog> {
  const { items } = await queryAll({
    condition: 'pk = :catalog AND begins_with(sk, :apps)',
    values: { ':catalog': CATALOG_PARTITION, ':apps': APP_ROWS },
    max: APPS_MAX,
    consistent: true,
  });
  const apps = items.map((item) => v.parse(App, item));
  return new Map(apps.map((app) => [app.slug, { app, searchText: searchTextOf(app) }]));
}
