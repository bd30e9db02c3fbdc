import * as v from 'valibot';
import { App } from '../catalog/app.ts';
import { saveApp, saveVersion } from '../catalog/keep-release.ts';
import { appKey, manifestKey, versionKey } from '../catalog/keys.ts';
import { subjectOfPromotion } from '../catalog/version-promotion.ts';
import { Version } from '../catalog/version.ts';
import type { Manifest } from './manifest.ts';
import type { Registered, Registration } from './registration.ts';
import { put, putNew, requireThat, type Write } from '../platform/data/commit.ts';
import { projectKey } from '../platform/data/keys.ts';
import { readItems } from '../platform/data/rows.ts';
import { type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import { promotionKey } from '../promotion/keys.ts';

const Promotion = v.object({ status: v.string() });
const Project = v.object({ org_id: textOf<OrgId>(), id: textOf<ProjectId>(), status: v.string() });
type Project = v.InferOutput<typeof Project>;

export const registeredKeys = (slug: AppSlug, version: VersionNumber) => [
  appKey(slug),
  versionKey(slug, version),
  promotionKey(subjectOfPromotion(slug, version)),
];

export function parseRegistered([app, version, promotion]: unknown[]): Registered {
  return {
    app: v.parse(v.optional(App), app),
    version: v.parse(v.optional(Version), version),
    promotion: v.parse(v.optional(Promotion), promotion),
  };
}

/** What stands under a manifest's names, and the project that would own them, by one request. */
export async function findRegistered(
  { app: { slug }, version: { version } }: Manifest,
  projectId?: ProjectId,
): Promise<Registered & { project?: Project }> {
  const keys = registeredKeys(slug, version);
  const rows = await readItems(projectId === undefined ? keys : [...keys, projectKey(projectId)]);
  return { ...parseRegistered(rows), project: v.parse(v.optional(Project), rows[keys.length]) };
}

/** The app with its new entry, the version and its manifest; after a concurrent change it is decided again. */
export function saveRegistration(
  before: Registered,
  { app, version }: Registration,
  manifest: Manifest,
): Write[] {
  const { app_slug: slug, version: number, manifest_digest: digest } = version;
  return [
    ...saveApp(before.app, app),
    ...(before.version
      ? [...saveVersion(before.version, version), requireNoPromotion(slug, number)]
      : [putNew({ ...versionKey(slug, number), ...version })]),
    // The version's own condition holds for its manifest too: they are only ever written together.
    put({ ...manifestKey(slug, number), digest, manifest }),
  ];
}

function requireNoPromotion(slug: AppSlug, version: VersionNumber): Write {
  return requireThat(promotionKey(subjectOfPromotion(slug, version)), {
    condition: 'attribute_not_exists(pk) OR #status <> :running',
    names: { '#status': 'status' },
    values: { ':running': 'running' },
  });
}
