// An artifact: an image or a file, registered under its digest for one version of an app. How far it has come and
// whether it is trusted are two things.

import { AttachedImage, ObjectVersion, PlatformImage } from '../content/stored-content.ts';
import * as v from 'valibot';
import { STATUSES } from '../promotion/status.ts';
import { ArtifactId, type OrgId, ProjectId, textOf } from '../platform/ids.ts';
import { VersionNumber } from '../platform/version-number.ts';
import { ItemName } from '../manifests/manifest-fields.ts';
import { Digest } from '../platform/name.ts';
import { AppSlug } from '../platform/name.ts';
import { Verification } from '../trust/verification.ts';

export const ARTIFACT_KINDS = ['oci', 'launchable', 'controller', 'blob'] as const;
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

/** Where each kind lies: images in the registry, files in the object store. */
export const SOURCE_TYPES = ['oci_registry', 'artifact_store'] as const;
export type SourceType = (typeof SOURCE_TYPES)[number];

export const sourceTypeOf = (kind: ArtifactKind): SourceType =>
  kind === 'blob' ? 'artifact_store' : 'oci_registry';

/** `draft → staged → canary → active → deprecated → retired`, and back from canary to staged, like versions. */
export const LIFECYCLE_STATES = STATUSES;
export type LifecycleState = (typeof LIFECYCLE_STATES)[number];

export const TRUST_STATES = ['unverified', 'verified', 'revoked'] as const;

/** Who it is meant for, in the words of its team: dev, beta, stable. Nothing is decided by it. */
export const Channel = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/, 'Lower-case letters and digits, separated by single hyphens'),
  v.maxLength(20),
);
export const CHANNEL_DEFAULT = 'dev';

/** What an intent and a registration say of an artifact alike. */
export const ArtifactName = {
  app_slug: AppSlug,
  app_version: VersionNumber,
  artifact_name: ItemName,
  variant: v.optional(ItemName),
};

export const ArtifactParams = v.object({ project_id: ProjectId, artifact_id: ArtifactId });

/** What an intent and an artifact keep alike: whose it is, what it is called, and where its kind lies. */
export const KeptName = {
  org_id: textOf<OrgId>(),
  project_id: textOf<ProjectId>(),
  app_slug: textOf<AppSlug>(),
  app_version: textOf<VersionNumber>(),
  artifact_name: v.string(),
  variant: v.optional(v.string()),
  artifact_kind: v.picklist(ARTIFACT_KINDS),
  source_type: v.picklist(SOURCE_TYPES),
};

export const Artifact = v.object({
  id: textOf<ArtifactId>(),
  ...KeptName,
  /** Where an image lies, and under which name trust policies know either kind. */
  repository: v.string(),
  /** The one way to name it: `oci://<repository>@<digest>`, `artifact_store://projects/…`. */
  source_uri: v.string(),
  digest: v.string(),
  media_type: v.string(),
  /** Of what the digest is of: a manifest or a file. How much a host pulls is told for each platform. */
  size_bytes: v.number(),
  /** As its team called it; it decides nothing. */
  tag: v.optional(v.string()),
  channel: v.string(),
  /** Of an image; one of a single platform has one. */
  platforms: v.optional(v.array(PlatformImage)),
  /** What was attached to an image when it was registered, its signature say; more may have come since. */
  referrers: v.optional(v.array(AttachedImage)),
  /** Of a file: what was written under its name later is another version of the object. */
  object: v.optional(ObjectVersion),
  lifecycle_state: v.picklist(LIFECYCLE_STATES),
  trust_state: v.picklist(TRUST_STATES),
  /** How the last look at its signature ended. */
  verification: v.optional(Verification),
  revoked: v.optional(v.object({ at: v.string(), by: v.string(), reason: v.string() })),
  registered_by: v.string(),
  created_at: v.string(),
  updated_at: v.string(),
  activated_at: v.optional(v.string()),
  deprecated_at: v.optional(v.string()),
  /** When the grace period of a deprecated one ends. */
  retire_after: v.optional(v.string()),
  retired_at: v.optional(v.string()),
  /** Counts the changes of this row. */
  revision: v.number(),
});
export type Artifact = v.InferOutput<typeof Artifact>;

export const ArtifactView = v.omit(Artifact, ['org_id', 'revision']);
export type ArtifactView = v.InferOutput<typeof ArtifactView>;

export const ArtifactPage = v.object({ items: v.array(ArtifactView), next_cursor: v.nullable(v.string()) });

export function viewArtifact({ org_id: _org, revision: _revision, ...view }: Artifact): ArtifactView {
  return view;
}

/** As the audit names it. */
export const subjectOfArtifact = ({ id }: Pick<Artifact, 'id'>): string => `artifact:${id}`;

export const pathOfArtifact = ({ project_id, id }: Pick<Artifact, 'project_id' | 'id'>): string =>
  `/api/v1/projects/${project_id}/app-artifacts/${id}`;

/** What the audit and the events tell of an artifact. */
export const ArtifactTold = v.object({
  artifact_id: ArtifactId,
  ...ArtifactName,
  artifact_kind: v.picklist(ARTIFACT_KINDS),
  digest: Digest,
  channel: Channel,
  lifecycle_state: v.picklist(LIFECYCLE_STATES),
  trust_state: v.picklist(TRUST_STATES),
});

export function aboutArtifact(artifact: Artifact): v.InferOutput<typeof ArtifactTold> {
  const { id, app_slug, app_version, artifact_name, variant, artifact_kind, digest } = artifact;
  const { lifecycle_state, trust_state, channel } = artifact;
  return {
    artifact_id: id,
    app_slug,
    app_version,
    artifact_name,
    ...(variant !== undefined && { variant }),
    artifact_kind,
    digest,
    channel,
    lifecycle_state,
    trust_state,
  };
}
