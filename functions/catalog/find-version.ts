// What other domains may read of apps and versions, each by one request.

import * as v from 'valibot';
import { callerNow } from '../platform/auth/caller.ts';
import type { Context } from '../platform/context.ts';
import { readItems } from '../platform/data/rows.ts';
import { readItem } from '../platform/data/table.ts';
import type { AppSlug } from '../platform/name.ts';
import type { Grant } from '../platform/permissions.ts';
import { compareVersions, type VersionNumber } from '../platform/version-number.ts';
import { App } from './app.ts';
import { appKey, manifestKey, versionKey } from './keys.ts';
import { refuse } from './problems.ts';
import { Version } from './version.ts';

/** A manifest as it is stored; only the manifests domain knows its content. */
export type ManifestRow = object;

export async function findApp(slug: AppSlug): Promise<App | undefined> {
  return v.parse(v.optional(App), await readItem(appKey(slug)));
}

/** The app, and what the caller may do now, by one request: a publisher sees more of it. */
export async function findAppFor(
  ctx: Context,
  slug: AppSlug,
): Promise<{ app: App | undefined; grants: Grant[] }> {
  const { grants, items } = await callerNow(ctx, [appKey(slug)]);
  return { app: v.parse(v.optional(App), items[0]), grants };
}

export interface VersionInFull {
  version: Version;
  manifest: ManifestRow;
}

/** An app, one of its versions and that one's manifest, by one request. */
export async function findVersionInFull(
  slug: AppSlug,
  version: VersionNumber,
): Promise<{ app?: App; found?: VersionInFull }> {
  const [app, ...rows] = await readItems([appKey(slug), ...keysOf(slug, version)]);
  return { app: v.parse(v.optional(App), app), found: parseInFull(rows) };
}

/** The same for two versions. */
export async function findTwoVersions(
  slug: AppSlug,
  one: VersionNumber,
  other: VersionNumber,
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

const keysOf = (slug: AppSlug, version: VersionNumber) => [
  versionKey(slug, version),
  manifestKey(slug, version),
];

function parseInFull([row, manifest]: (Record<string, unknown> | undefined)[]): VersionInFull | undefined {
  if (!row) return undefined;
  const version = v.parse(Version, row);
  return { version, manifest: parseManifestRow(manifest, version.manifest_digest) };
}

const Row = v.object({
  digest: v.string(),
  manifest: v.custom<ManifestRow>((value) => typeof value === 'object' && value !== null),
});

/** The manifest of the digest; a batch reads one item after the other, and a draft may be replaced in between. */
export function parseManifestRow(row: Record<string, unknown> | undefined, digest: string): ManifestRow {
  const { digest: found, manifest } = v.parse(Row, row);
  if (found !== digest) throw refuse('unavailable');
  return manifest;
}
