import * as v from 'valibot';
import { type PageAsked } from '../platform/data/rows.ts';
import { queryPage } from '../platform/data/table.ts';
import type { AppSlug } from '../platform/name.ts';
import { decodeCursor, encodeCursor, type PageOf } from '../platform/page.ts';
import { VERSIONS_MAX } from './app.ts';
import { appPartition, VERSION_ROWS, versionKey } from './keys.ts';
import { Version } from './version.ts';

const POSITION = new RegExp(`^${VERSION_ROWS}\\d{9}(?:\\.\\d{9}){3}-[~ 0-9A-Za-z-]{1,200}$`);

/** More than this many pages of hidden versions end the list. */
const PAGES_READ_MAX = 5;

interface Chosen {
  /** Of these, those the caller may see. */
  visibleOf: (versions: Version[]) => Promise<Version[]>;
  isWanted: (version: Version) => boolean;
}

interface VersionsFound extends PageOf<Version> {
  /** Whether there is any the caller may see. */
  isAnyVisible: boolean;
}

/**
 * Of the versions of an app that the caller may see, those asked for, newest first. More rows are read than requested,
 * so that a page is full and does not reveal how many versions are hidden. A cursor names a version, so it names one
 * that the caller may see; rows without any are read past.
 */
export async function listVersionsOf(
  slug: AppSlug,
  { visibleOf, isWanted }: Chosen,
  { limit, cursor }: PageAsked,
): Promise<VersionsFound> {
  const after = decodeCursor(cursor, POSITION);
  let from: Record<string, unknown> | undefined =
    after === undefined ? undefined : { pk: appPartition(slug), sk: after };
  for (let read = 1; read <= PAGES_READ_MAX; read += 1) {
    const { items, next } = await queryPage({
      condition: 'pk = :app AND begins_with(sk, :kind)',
      values: { ':app': appPartition(slug), ':kind': VERSION_ROWS },
      limit: VERSIONS_MAX,
      from,
      descending: true,
      consistent: true,
    });
    const visible = await visibleOf(items.map((item) => v.parse(Version, item)));
    if (visible.length > 0) {
      const wanted = visible.filter(isWanted);
      const page = wanted.slice(0, limit);
      const last = wanted.length > limit ? page.at(-1) : next && visible.at(-1);
      return {
        items: page,
        next_cursor: encodeCursor(last && versionKey(slug, last.version).sk),
        isAnyVisible: true,
      };
    }
    if (!next) break;
    from = next;
  }
  return { items: [], next_cursor: null, isAnyVisible: false };
}
