// What a registration says, and what becomes of it.

import * as v from 'valibot';
import { aboutArtifact, type Artifact, ArtifactName, ArtifactTold } from './artifact.ts';
import { refuse } from './problems.ts';
import { ArtifactSource, requireSourceType } from './publication.ts';
import { artifactIdOf } from '../catalog/readiness.ts';
import { RepositoryName } from '../manifests/manifest-fields.ts';
import { event } from '../platform/events.ts';
import { Digest } from '../platform/name.ts';
import type { ScopedProject } from '../platform/scope.ts';
import { repositoryOf } from '../storage/repository.ts';

const Tag = v.pipe(v.string(), v.regex(/^[A-Za-z0-9_][A-Za-z0-9._-]*$/, 'An image tag'), v.maxLength(128));
const MediaType = v.pipe(v.string(), v.regex(/^[a-z]+\/[a-z0-9.+-]+$/, 'A media type'), v.maxLength(100));
const SourceUri = v.pipe(v.string(), v.regex(/^[a-z_]+:\/\/[!-~]+$/, 'A source URI'), v.maxLength(400));

export const RegisterArtifact = v.strictObject({
  ...ArtifactName,
  ...ArtifactSource,
  digest: Digest,
  /** Where an image lies; it is known, so saying it is a check. */
  repository: v.optional(RepositoryName),
  /** As its team calls it. */
  tag: v.optional(Tag),
  /** What the image is; left out, whatever the registry says. */
  media_type: v.optional(MediaType),
  /** Where the artifact lies, in full; another check. */
  source_uri: v.optional(SourceUri),
});
export type RegisterArtifact = v.InferOutput<typeof RegisterArtifact>;

/** What is known of an artifact before it was looked at. */
export type NamedArtifact = Pick<
  Artifact,
  | 'id'
  | 'org_id'
  | 'project_id'
  | 'app_slug'
  | 'app_version'
  | 'artifact_name'
  | 'variant'
  | 'artifact_kind'
  | 'source_type'
  | 'repository'
  | 'digest'
  | 'tag'
  | 'channel'
>;

export function nameArtifact(said: RegisterArtifact, project: ScopedProject): NamedArtifact {
  const { app_slug, app_version, artifact_name, variant, artifact_kind, digest, tag, channel } = said;
  const repository = repositoryOf(project.slug, app_slug);
  if (said.repository !== undefined && said.repository !== repository)
    throw refuse('artifact.foreign_source', { detail: `This project publishes the app to ${repository}.` });
  return {
    id: artifactIdOf({ repository, app_version, artifact_name, variant, digest }),
    org_id: project.org_id,
    project_id: project.id,
    app_slug,
    app_version,
    artifact_name,
    ...(variant !== undefined && { variant }),
    artifact_kind,
    source_type: requireSourceType(artifact_kind, said.source_type),
    repository,
    digest,
    ...(tag !== undefined && { tag }),
    channel,
  };
}

/** What lies there, as it was found. */
type FoundContent = Pick<
  Artifact,
  'source_uri' | 'media_type' | 'size_bytes' | 'platforms' | 'referrers' | 'object'
>;

export function planArtifact(named: NamedArtifact, found: FoundContent, actor: string, now: Date): Artifact {
  const at = now.toISOString();
  return {
    ...named,
    ...found,
    lifecycle_state: 'draft',
    trust_state: 'unverified',
    registered_by: actor,
    created_at: at,
    updated_at: at,
    revision: 1,
  };
}

export const ArtifactRegistered = event('apps.artifact.registered', 1, ArtifactTold, aboutArtifact);
