import * as v from 'valibot';
import { decodeCursor, encodeCursor, type PageOf } from '../platform/page.ts';
import { type PageAsked, readItems } from '../platform/data/rows.ts';
import { queryPage } from '../platform/data/table.ts';
import { App, VERSIONS_MAX } from './app.ts';
import { appKey, appPartition, manifestKey, VERSION_ROWS, versionKey } from './keys.ts';
import type { Manifest } from '../manifests/manifest.ts';
import { Version } from './version.ts';
import { compareVersions } from '../platform/version-number.ts';
import { refuse } from './problems.ts';

export interface VersionInFull {
  version: Version;
  manifest: Manifest;
}

type Row = Record<string, unknown>;

/** An app, one of its versions and that one's manifest, by one request. */
export async function findVersionInFull(
  slug: string,
  version: string,
): Promise<{ app?: App; found?: VersionInFull }> {
  const [app, ...rows] = await readItems([appKey(slug), ...keysOf(slug, version)]);
  return { app: v.parse(v.optional(App), app), found: parseInFull(rows) };
}

/** The same for two versions. */
export async function findTwoVersions(
  slug: string,
  one: string,
  other: string,
): Promise<{ app?: App; one?: VersionInFull; other?: VersionInFull }> {
  // A batch may not name an item twice.
  const isSame = compareVersions(one, other) === 0;
  const keys = [...keysOf(slug, one), ...(isSame ? [] : keysOf(slug, other))];
  const [app, ...rows] = await readItems([appKey(slug), ...keys]);
  return {
    app: v.parse(v.optional(App), app),
    one: parseInFull(rows),
    other: parseInFull(isSame ? rows : rows.slice(2)),
  };
}

const keysOf = (slug: string, version: string) => [versionKey(slug, version), manifestKey(slug, version)];

function parseInFull([row, manifest]: (Row | undefined)[]): VersionInFull | undefined {
  if (!row) return undefined;
  const version = v.parse(Version, row);
  return { version, manifest: parseManifestRow(manifest, version.manifest_digest) };
}

const ManifestRow = v.object({
  digest: v.string(),
  manifest: v.custom<Manifest>((value) => typeof value === 'object' && value !== null),
});

/** The manifest of the digest; a batch reads one item after the other, and a draft may be replaced in between. */
export function parseManifestRow(row: Row | undefined, digest: string): Manifest {
  const { digest: found, manifest } = v.parse(ManifestRow, row);
  if (found !== digest) throw refuse('unavailable');
  return manifest;
}

const POSITION = new RegExp(`^${VERSION_ROWS}\\d{9}(?:\\.\\d{9}){3}-[~ 0-9A-Za-z-]{1,200}$`);

/**
 * An app's versions of which the caller may see, newest first. More are looked at than are asked for: then a page is
 * full, and its end says nothing of versions that were left out of it.
 */
export async function listVersionsOf(
  slug: string,
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
