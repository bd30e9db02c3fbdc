import * as v from 'valibot';
import { App } from '../catalog/app.ts';
import { saveApp, saveVersion } from '../catalog/keep-release.ts';
import { appKey, manifestKey, versionKey } from '../catalog/keys.ts';
import { subjectOfPromotion } from '../catalog/version-promotion.ts';
import { Version } from '../catalog/version.ts';
import type { Manifest } from './manifest.ts';
import { leavesOutProject } from './manifest-repositories.ts';
import type { Registered, Registration } from './registration.ts';
import { put, putNew, requireThat, type Write } from '../platform/data/commit.ts';
import { projectKey } from '../platform/data/keys.ts';
import { readItems } from '../platform/data/rows.ts';
import { type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import type { AppSlug, ProjectSlug } from '../platform/name.ts';
import type { Key } from '../platform/data/table.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import { promotionKey } from '../promotion/keys.ts';

const Promotion = v.object({ status: v.string() });
const Project = v.object({
  org_id: textOf<OrgId>(),
  id: textOf<ProjectId>(),
  slug: textOf<ProjectSlug>(),
  status: v.string(),
});
export type OwningProject = v.InferOutput<typeof Project>;

/** The app, then each version with its last promotion. */
export function registeredKeys(manifests: Manifest[]): Key[] {
  const [first] = manifests;
  if (!first) return [];
  const { slug } = first.app;
  return [
    appKey(slug),
    ...manifests.flatMap(({ version: { version } }) => [
      versionKey(slug, version),
      promotionKey(subjectOfPromotion(slug, version)),
    ]),
  ];
}

export function parseRegistered(manifests: Manifest[], [app, ...rows]: unknown[]): Registered[] {
  return manifests.map((_, index) => ({
    app: v.parse(v.optional(App), app),
    version: v.parse(v.optional(Version), rows[2 * index]),
    promotion: v.parse(v.optional(Promotion), rows[2 * index + 1]),
  }));
}

/** What stands under the names of each manifest, all of one app, and the project that would own it, by one request. */
export async function findRegistered(
  manifests: Manifest[],
  projectId?: ProjectId,
): Promise<{ registered: Registered[]; project?: OwningProject }> {
  const keys = registeredKeys(manifests);
  const rows = await readItems(projectId === undefined ? keys : [...keys, projectKey(projectId)]);
  return {
    registered: parseRegistered(manifests, rows),
    project: v.parse(v.optional(Project), rows[keys.length]),
  };
}

/** The slug of the project an app belongs to, or will belong to; it is read only where a repository leaves it out. */
export async function findOwnerSlug(
  manifests: Manifest[],
  app: App | undefined,
  project: OwningProject | undefined,
): Promise<ProjectSlug | undefined> {
  const ownerId = app ? app.owner?.project_id : project?.id;
  if (ownerId === undefined || !manifests.some(leavesOutProject)) return undefined;
  if (ownerId === project?.id) return project.slug;
  const [row] = await readItems([projectKey(ownerId)]);
  return v.parse(Project, row).slug;
}

/** One version with its manifest, as it was planned. */
export function saveRegistration(
  before: Registered,
  { app, version }: Registration,
  manifest: Manifest,
): Write[] {
  return saveRegistrations([before], { app, versions: [version] }, [manifest]);
}

/** The app with its new entries, the versions and their manifests; after a concurrent change it is decided again. */
export function saveRegistrations(
  before: Registered[],
  { app, versions }: { app: App; versions: Version[] },
  manifests: Manifest[],
): Write[] {
  return [
    ...saveApp(before[0]?.app, app),
    ...versions.flatMap((version, index) => {
      const { app_slug: slug, version: number, manifest_digest: digest } = version;
      const old = before[index]?.version;
      return [
        ...(old
          ? [...saveVersion(old, version), requireNoPromotion(slug, number)]
          : [putNew({ ...versionKey(slug, number), ...version })]),
        // The version's own condition holds for its manifest too: they are only ever written together.
        put({ ...manifestKey(slug, number), digest, manifest: manifests[index] }),
      ];
    }),
  ];
}

function requireNoPromotion(slug: AppSlug, version: VersionNumber): Write {
  return requireThat(promotionKey(subjectOfPromotion(slug, version)), {
    condition: 'attribute_not_exists(pk) OR #status <> :running',
    names: { '#status': 'status' },
    values: { ':running': 'running' },
  });
}
