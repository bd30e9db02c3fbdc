import { decodeCursor, encodeCursor, type PageOf } from '../platform/page.ts';
import type { PageAsked } from '../platform/data/rows.ts';

const SLUG = /^[a-z0-9-]{2,40}$/;

/**
 * A page of cached items, by slug: the visible items after the cursor, up to one more than the page to know whether
 * another page follows.
 */
export function pageBySlug<T, V>(
  sorted: Iterable<T>,
  slugOf: (item: T) => string,
  { limit, cursor }: PageAsked,
  show: (item: T) => V | undefined,
): PageOf<V> {
  const after = decodeCursor(cursor, SLUG) ?? '';
  const items: V[] = [];
  let last: string | undefined;
  for (const item of sorted) {
    const slug = slugOf(item);
    const shown = slug > after ? show(item) : undefined;
    if (shown === undefined) continue;
    if (items.length === limit) return { items, next_cursor: encodeCursor(last) };
    items.push(shown);
    last = slug;
  }
  return { items, next_cursor: null };
}
