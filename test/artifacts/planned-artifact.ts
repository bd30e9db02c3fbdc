import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { artifactIdOf } from '../../functions/catalog/readiness.ts';
import type { Project } from '../../functions/identity/project.ts';
import { newId } from '../../functions/platform/ids.ts';
import { imageUri, repositoryOf } from '../../functions/storage/repository.ts';
import { hash } from 'node:crypto';

/** An artifact as registration leaves it, except for what is stated; its bytes are its own unless a digest is given. */
export function planArtifact(
  project: Project,
  stated: Partial<Artifact> & Pick<Artifact, 'app_slug'>,
  now: Date,
): Artifact {
  const repository = repositoryOf(project.slug, stated.app_slug);
  const digest = stated.digest ?? `sha256:${hash('sha256', newId())}`;
  const named = { repository, app_version: '1.0.0', artifact_name: 'runtime', ...stated, digest };
  const { trust_state = 'unverified' } = stated;
  return {
    id: artifactIdOf(named),
    org_id: project.org_id,
    project_id: project.id,
    artifact_kind: 'oci',
    source_type: 'oci_registry',
    source_uri: imageUri(repository, digest),
    media_type: 'application/vnd.oci.image.manifest.v1+json',
    size_bytes: 1_000,
    channel: 'dev',
    lifecycle_state: 'draft',
    trust_state,
    ...(trust_state === 'verified' && { verification: verifiedAt(now) }),
    registered_by: 'user:somebody',
    created_at: now.toISOString(),
    updated_at: now.toISOString(),
    revision: 1,
    ...named,
  };
}

const verifiedAt = (now: Date) => ({
  verdict: 'verified' as const,
  at: now.toISOString(),
  trust_revision: 0,
});
