// An app of the catalogue, with where each of its versions stands.

import * as v from 'valibot';
import { type OrgId, type ProjectId, textOf } from '../platform/ids.ts';
import { type Grant, judge } from '../platform/permissions.ts';
import { AppSlug } from '../platform/name.ts';
import { STATUSES } from '../promotion/status.ts';
import { compareVersions, type VersionNumber } from '../platform/version-number.ts';

export const RUNTIME_BACKENDS = [
  'k8s',
  'slurm',
  'ray',
  'bare_metal',
  'launchable_oci',
  'docker_compose',
] as const;
export const OPERATING_MODES = ['tenant_dedicated', 'platform_managed'] as const;
export const CONTROL_PLANE_SCOPES = ['project', 'tenant', 'platform'] as const;

export const AppParams = v.object({ app_slug: AppSlug });

/** Who gets a version in canary: the projects named, and a share of all others, the same ones each time. */
export const CanaryAudience = v.object({
  percent: v.number(),
  project_ids: v.array(textOf<ProjectId>()),
});
export type CanaryAudience = v.InferOutput<typeof CanaryAudience>;

/** What the app's own row knows of a version: enough to say what a project may launch. */
export const VersionEntry = v.object({
  status: v.picklist(STATUSES),
  /** Launchable by its publisher's projects, listed to no one else. */
  internal: v.boolean(),
  canary: v.optional(CanaryAudience),
  /** Its artifacts that lost their trust since, and how: until they have it again, nobody launches it. */
  untrusted: v.optional(v.record(v.string(), v.picklist(['unverified', 'revoked']))),
});
export type VersionEntry = v.InferOutput<typeof VersionEntry>;

/** What a manifest says of the app itself. */
export const AppFace = v.object({
  display_name: v.string(),
  description: v.string(),
  category: v.string(),
  publisher: v.string(),
  support_level: v.string(),
  runtime_backend: v.picklist(RUNTIME_BACKENDS),
  operating_modes: v.array(v.picklist(OPERATING_MODES)),
  control_plane_scopes: v.array(v.picklist(CONTROL_PLANE_SCOPES)),
  ui_kind: v.string(),
});
export type AppFace = v.InferOutput<typeof AppFace>;

export const App = v.object({
  slug: textOf<AppSlug>(),
  /** As the version says that left draft last; while all are drafts, the one that was registered last. */
  ...AppFace.entries,
  /** The project that registered it, to which the slug belongs; the platform's own apps have none. */
  owner: v.optional(v.object({ org_id: textOf<OrgId>(), project_id: textOf<ProjectId>() })),
  /** Every version that is not retired. At most one of them is active. */
  versions: v.record(v.string(), VersionEntry),
  /** Counts the changes of this row. */
  revision: v.number(),
  created_at: v.string(),
  updated_at: v.string(),
});
export type App = v.InferOutput<typeof App>;

/** As many as fit into one row; retired versions do not count. */
export const VERSIONS_MAX = 200;

/** As many as a function keeps in its memory, all of them with their versions. */
export const APPS_MAX = 5_000;

export function activeVersion(app: App): VersionNumber | undefined {
  return Object.keys(app.versions).find((version) => app.versions[version]?.status === 'active');
}

/** The place whose audit and events tell of the app: its publisher's, or the platform. */
export function placeOfApp({ owner }: Pick<App, 'owner'>): { org_id?: OrgId; project_id?: ProjectId } {
  return owner ?? {};
}

export const pathOfApp = ({ slug }: Pick<App, 'slug'>): string => `/api/v1/apps/catalog/${slug}`;

/** Whether the caller belongs to the app's publisher, or to the platform. */
export function isPublisher(grants: Grant[], { owner }: Pick<App, 'owner'>): boolean {
  return judge(grants, 'apps.catalog.read', owner ?? {}) === 'allowed';
}

/** Whether a version may be shown: drafts and internal ones only to their publisher. */
export function isVisible(
  { status, internal }: Pick<VersionEntry, 'status' | 'internal'>,
  ofPublisher: boolean,
): boolean {
  return ofPublisher || (status !== 'draft' && !internal);
}

/** Whether only its publisher sees the app. Once others do, a new draft changes nothing of what others see. */
export const isDraftOnly = ({ versions }: Pick<App, 'versions'>): boolean =>
  Object.values(versions).every(({ status }) => status === 'draft');

/** The face of an app after a version left draft; one for internal testing does not change what others see. */
export function faceAfter(
  app: App,
  { internal, face }: { internal: boolean; face?: AppFace },
): Partial<AppFace> {
  const isSeen = Object.values(app.versions).some((entry) => isVisible(entry, false));
  return (!internal || !isSeen) && face ? face : {};
}

const VersionLine = v.object({ version: textOf<VersionNumber>(), status: v.picklist(STATUSES) });

export const AppView = v.object({
  ...v.omit(App, ['owner', 'versions', 'revision']).entries,
  /** The version that is launched by default. */
  active_version: v.nullable(textOf<VersionNumber>()),
  /** Newest first; drafts and those for internal testing only for their publisher. */
  versions: v.array(VersionLine),
});
export type AppView = v.InferOutput<typeof AppView>;

export const AppPage = v.object({ items: v.array(AppView), next_cursor: v.nullable(v.string()) });

/** As the caller may see it; nothing where they may see no version of it. */
export function viewApp(app: App, ofPublisher: boolean): AppView | undefined {
  const { owner: _owner, revision: _revision, versions: entries, ...shown } = app;
  const versions = Object.entries(entries)
    .filter(([, entry]) => isVisible(entry, ofPublisher))
    .map(([version, { status }]) => ({ version, status }))
    .sort((a, b) => compareVersions(b.version, a.version));
  if (versions.length === 0 && !ofPublisher) return undefined;
  const active_version = versions.find(({ status }) => status === 'active')?.version ?? null;
  return { ...shown, active_version, versions };
}
