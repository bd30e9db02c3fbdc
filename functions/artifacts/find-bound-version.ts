import * as v from 'valibot';
import { type Bound, markTrust } from './artifact-binding.ts';
import type { Artifact } from './artifact.ts';
import { App } from '../catalog/app.ts';
import { requireStatus, saveApps } from '../catalog/keep-release.ts';
import { appKey, versionKey } from '../catalog/keys.ts';
import { Version } from '../catalog/version.ts';
import { Conflict, requireThat, type Write } from '../platform/data/commit.ts';
import { readItems } from '../platform/data/rows.ts';
import type { Key } from '../platform/data/table.ts';
import type { AppSlug } from '../platform/name.ts';

type Named = Pick<Artifact, 'app_slug' | 'app_version'>;

export const boundKeys = ({ app_slug, app_version }: Named): Key[] => [
  appKey(app_slug),
  versionKey(app_slug, app_version),
];

export function parseBound([app, version]: unknown[]): Bound {
  return requireAgreement({
    app: v.parse(v.optional(App), app),
    version: v.parse(v.optional(Version), version),
  });
}

/** The version an artifact was registered for, and its app, by one request. */
export async function findBound(artifact: Named): Promise<Bound> {
  return parseBound(await readItems(boundKeys(artifact)));
}

/** The same for several, in their order. */
export async function findBounds(artifacts: Named[]): Promise<Bound[]> {
  const keys = new Map(artifacts.flatMap(boundKeys).map((key) => [nameOf(key), key]));
  const rows = await readItems([...keys.values()]);
  const found = new Map([...keys.keys()].map((name, index) => [name, rows[index]]));
  return artifacts.map((artifact) => parseBound(boundKeys(artifact).map((key) => found.get(nameOf(key)))));
}

const nameOf = ({ pk, sk }: Key): string => `${pk} ${sk}`;

/** The rows were not read at one moment. */
function requireAgreement(bound: Bound): Bound {
  const { app, version } = bound;
  const status = version && (app?.versions[version.version]?.status ?? 'retired');
  if (status !== version?.status)
    throw new Conflict('The app and its version were read at different moments.');
  return bound;
}

/** Makes a decision about an artifact fail if its version has changed since it was read. */
export function holdVersion({ app_slug, app_version }: Artifact, { version }: Bound): Write {
  if (version) return requireStatus(version);
  const absent = { condition: 'attribute_not_exists(pk)' };
  return requireThat(versionKey(app_slug, app_version), absent);
}

/**
 * Notes lost or regained trust in the rows of the apps, in the same transaction: a launch reads only those rows. If
 * nothing changes there, the versions must not change during the transaction either.
 */
export function saveTrust(judged: { artifact: Artifact; bound: Bound }[], now: Date): Write[] {
  const apps = new Map<AppSlug, { before: App; after: App }>();
  const holds = new Map<string, Write>();
  for (const { artifact, bound } of judged) {
    const said = apps.get(artifact.app_slug);
    const after = markTrust({ ...bound, app: said?.after ?? bound.app }, artifact, now);
    if (after && bound.app) apps.set(after.slug, { before: said?.before ?? bound.app, after });
    else holds.set(boundKeys(artifact).map(nameOf).join(' '), holdVersion(artifact, bound));
  }
  return [...saveApps([...apps.values()]), ...holds.values()];
}
