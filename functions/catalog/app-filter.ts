// Which apps somebody looks for.

import * as v from 'valibot';
import { type App, RUNTIME_BACKENDS } from './app.ts';

const Words = v.pipe(v.string(), v.minLength(1), v.maxLength(100));

export const AppFilterQuery = {
  search: v.optional(
    v.pipe(
      Words,
      v.description('Words to search for in slug, name, description and publisher, ignoring case.'),
    ),
  ),
  category: v.optional(Words),
  backend: v.optional(v.picklist(RUNTIME_BACKENDS)),
};

export interface AppFilter {
  search?: string;
  category?: string;
  backend?: App['runtime_backend'];
}

/** What is searched of an app, made once for all who search. */
export function searchTextOf({ slug, display_name, description, publisher }: App): string {
  return [slug, display_name, description, publisher].join('\n').toLowerCase();
}

/** A test for many apps: what was asked for is read once. */
export function matcherOf({ search = '', category, backend }: AppFilter) {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  return (app: App, searchText: string): boolean =>
    (category === undefined || app.category === category) &&
    (backend === undefined || app.runtime_backend === backend) &&
    words.every((word) => searchText.includes(word));
}
