// The whole catalogue, kept in a warm function. The catalogue changes seldom and is read by everybody, so its rows
// are fetched again only when the count of its changes says so; that count is read with whatever else a request reads.

import * as v from 'valibot';
import { queryPage, readItem } from '../platform/data/table.ts';
import { App, APPS_MAX } from './app.ts';
import { searchTextOf } from './app-filter.ts';
import { APP_ROWS, CATALOG_PARTITION, catalogHeadKey } from './keys.ts';

export interface ShelvedApp {
  app: App;
  searchText: string;
}

/** Every app, in the order of their slugs. */
export type Shelf = ReadonlyMap<string, ShelvedApp>;

let remembered: { revision: number; shelf: Shelf } | undefined;

/** As in a function that has just started. */
export function forgetShelf(): void {
  remembered = undefined;
}

export async function readShelf(): Promise<Shelf> {
  return shelfAt(await readItem(catalogHeadKey()));
}

const Head = v.object({ revision: v.number() });

/** The catalogue as the row of its head, just read, says it is; there is no row before the first app. */
export async function shelfAt(head: Record<string, unknown> | undefined): Promise<Shelf> {
  const revision = head ? v.parse(Head, head).revision : 0;
  if (remembered?.revision === revision) return remembered.shelf;
  // What changes while the rows are read is kept under the number from before, and is fetched again with the next.
  const shelf = await readAllApps();
  remembered = { revision, shelf };
  return shelf;
}

async function readAllApps(): Promise<Shelf> {
  const shelf = new Map<string, ShelvedApp>();
  let from: Record<string, unknown> | undefined;
  do {
    const { items, next } = await queryPage({
      condition: 'pk = :catalog AND begins_with(sk, :apps)',
      values: { ':catalog': CATALOG_PARTITION, ':apps': APP_ROWS },
      limit: APPS_MAX,
      from,
      consistent: true,
    });
    for (const item of items) {
      const app = v.parse(App, item);
      shelf.set(app.slug, { app, searchText: searchTextOf(app) });
    }
    from = next;
  } while (from && shelf.size < APPS_MAX);
  return shelf;
}
