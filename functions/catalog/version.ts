// A version of an app. Its status also stands in the app's row; both are only ever written together.

import * as v from 'valibot';
import { type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import { AppSlug } from '../platform/name.ts';
import type { Grant } from '../platform/permissions.ts';
import { type App, AppFace, isPublisher, isVisible, viewApp } from './app.ts';
import { STATUSES } from '../promotion/status.ts';
import { VersionNumber } from '../platform/version-number.ts';
import { refuse } from './problems.ts';

export const VersionParams = v.object({ app_slug: AppSlug, version: VersionNumber });
export const TwoVersionsParams = v.object({ ...VersionParams.entries, other_version: VersionNumber });

/** What the manifest expects to find registered; a digest binds it. */
export const ExpectedArtifact = v.object({
  name: v.string(),
  artifact_kind: v.string(),
  variant: v.optional(v.string()),
  repository: v.optional(v.string()),
  digest: v.optional(v.string()),
});
export type ExpectedArtifact = v.InferOutput<typeof ExpectedArtifact>;

export const Version = v.object({
  app_slug: textOf<AppSlug>(),
  version: textOf<VersionNumber>(),
  status: v.picklist(STATUSES),
  internal: v.boolean(),
  /** The app's, which never changes: so a list of versions knows whose they are without reading the app. */
  owner: v.optional(v.object({ org_id: textOf<OrgId>(), project_id: textOf<ProjectId>() })),
  /** What its manifest says of the app, which the app shows once the version has left draft. */
  face: v.optional(AppFace),
  artifacts: v.array(ExpectedArtifact),
  release_notes: v.string(),
  /** Over the canonical manifest: two with the same digest say the same. */
  manifest_digest: v.string(),
  registered_by: v.string(),
  created_at: v.string(),
  updated_at: v.string(),
  activated_at: v.optional(v.string()),
  deprecated_at: v.optional(v.string()),
  /** When the grace period of a deprecated version ends. */
  retire_after: v.optional(v.string()),
  retired_at: v.optional(v.string()),
});
export type Version = v.InferOutput<typeof Version>;

/** Who registered it is nothing to other projects. */
export const VersionView = v.omit(Version, ['owner', 'face', 'registered_by']);
export type VersionView = v.InferOutput<typeof VersionView>;

/** Where the schema of manifests is served. */
export const MANIFEST_SCHEMA_PATH = '/api/v1/schemas/app-manifest/v1';

/** However it was spelled when it was sent, it comes back in one way. */
export const ManifestView = v.pipe(
  v.looseObject({}),
  v.description(`The manifest, in the canonical form of ${MANIFEST_SCHEMA_PATH}.`),
);

export const VersionInFullView = v.object({ ...VersionView.entries, manifest: ManifestView });

export const VersionPage = v.object({ items: v.array(VersionView), next_cursor: v.nullable(v.string()) });

export function viewVersion(version: Version): VersionView {
  const { owner: _owner, face: _face, registered_by: _by, ...view } = version;
  return view;
}

/** What the caller may not see is unknown to them: the version, or the app where they may see none of it. */
export function requireVisible<T extends { version: Version }>(
  grants: Grant[],
  app: App | undefined,
  found: T | undefined,
): T {
  if (!app) throw refuse('app.unknown');
  const ofPublisher = isPublisher(grants, app);
  if (found && isVisible(found.version, ofPublisher)) return found;
  throw refuse(viewApp(app, ofPublisher) ? 'version.unknown' : 'app.unknown');
}

/** Build metadata may stand in a version, and its `+` means a blank in some parts of an address. */
export const pathOfVersion = ({ app_slug, version }: Pick<Version, 'app_slug' | 'version'>): string =>
  `/api/v1/apps/catalog/${app_slug}/versions/${encodeURIComponent(version)}`;

/** As the audit names it. */
export const subjectOfVersion = (slug: AppSlug, version: VersionNumber): string =>
  `app_version:${slug}@${version}`;
