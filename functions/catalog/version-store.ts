import * as v from 'valibot';
import { type PageAsked } from '../platform/data/rows.ts';
import { queryPage } from '../platform/data/table.ts';
import type { AppSlug } from '../platform/name.ts';
import { decodeCursor, encodeCursor, type PageOf } from '../platform/page.ts';
import { VERSIONS_MAX } from './app.ts';
import { appPartition, VERSION_ROWS, versionKey } from './keys.ts';
import { Version } from './version.ts';

const POSITION = new RegExp(`^${VERSION_ROWS}\\d{9}(?:\\.\\d{9}){3}-[~ 0-9A-Za-z-]{1,200}$`);

/**
 * The versions of an app that the caller may see, newest first. More rows are read than requested, so that a page is
 * full and does not reveal how many versions are hidden.
 */
export async function listVersionsOf(
  slug: AppSlug,
  isShown: (version: Version) => boolean,
  { limit, cursor }: PageAsked,
): Promise<PageOf<Version>> {
  const after = decodeCursor(cursor, POSITION);
  const { items, next } = await queryPage({
    condition: 'pk = :app AND begins_with(sk, :kind)',
    values: { ':app': appPartition(slug), ':kind': VERSION_ROWS },
    limit: VERSIONS_MAX,
    from: after === undefined ? undefined : { pk: appPartition(slug), sk: after },
    descending: true,
    consistent: true,
  });
  const shown = items.map((item) => v.parse(Version, item)).filter(isShown);
  const page = shown.slice(0, limit);
  const last = page.at(-1);
  const onward =
    last && shown.length > limit ? versionKey(slug, last.version).sk : (next?.['sk'] as string | undefined);
  return { items: page, next_cursor: encodeCursor(onward) };
}
