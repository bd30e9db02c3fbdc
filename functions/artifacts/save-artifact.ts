import { dueAt } from './artifact-due.ts';
import { subjectOfPromotion } from './artifact-promotion.ts';
import type { Artifact } from './artifact.ts';
import { contentKey, DUE_ARTIFACTS, dueKey, projectArtifacts, revokedContentKey } from './keys.ts';
import { refuse } from './problems.ts';
import { artifactKey } from '../catalog/readiness.ts';
import { put, putNew, remove, replace, requireThat, update, type Write } from '../platform/data/commit.ts';
import { projectKey } from '../platform/data/keys.ts';
import type { ArtifactId } from '../platform/ids.ts';
import { versionSortKey } from '../platform/version-number.ts';
import { promotionKey } from '../promotion/keys.ts';
import { requireNotCollecting } from '../storage/keep-repository.ts';

/** As many registrations of the same bytes in one project as one transaction can revoke together. */
const SAME_MAX = 18;

/** Adds the artifact and its content row. Fails while the repository is being cleaned. */
export function insertArtifact(artifact: Artifact): Write[] {
  const { id, project_id, digest, repository, created_at } = artifact;
  return [
    requireThat(
      projectKey(project_id),
      { condition: '#status = :active', names: { '#status': 'status' }, values: { ':active': 'active' } },
      refuse('project.archived'),
    ),
    putNew(rowOf(artifact), refuse('artifact.exists', { detail: `The artifact is registered as ${id}.` })),
    update(
      contentKey(digest, project_id),
      {
        update: 'ADD artifact_ids :id',
        condition: 'attribute_not_exists(artifact_ids) OR size(artifact_ids) < :most',
        values: { ':id': new Set([id]), ':most': SAME_MAX },
      },
      refuse('artifact.too_many'),
    ),
    requireThat(
      revokedContentKey(digest, project_id),
      { condition: 'attribute_not_exists(pk)' },
      refuse('artifact.revoked', { detail: 'An artifact with this content was revoked in this project.' }),
    ),
    requireNotCollecting(repository, created_at, refuse('artifact.collected')),
    ...saveDue(artifact),
  ];
}

/** Puts the artifact in place of the one that was read, unless somebody else was quicker. */
export function saveArtifact(before: Artifact, after: Artifact): Write[] {
  const saved = { ...after, revision: before.revision + 1 };
  return [replace(rowOf(saved), { revision: before.revision }), ...saveDue(saved)];
}

/** Removes a draft. Its bytes may then be collected, unless another artifact has them. */
export function removeArtifact({ id, project_id, digest, revision }: Artifact): Write[] {
  return [
    remove(artifactKey(id), { condition: 'revision = :before', values: { ':before': revision } }),
    update(contentKey(digest, project_id), {
      update: 'DELETE artifact_ids :id',
      condition: 'attribute_exists(pk)',
      values: { ':id': new Set([id]) },
    }),
    remove(promotionKey(subjectOfPromotion(id)), {
      condition: 'attribute_not_exists(pk) OR #status <> :running',
      names: { '#status': 'status' },
      values: { ':running': 'running' },
    }),
    forgetDue(id),
  ];
}

function rowOf(artifact: Artifact) {
  const { id, project_id, app_slug, app_version, created_at } = artifact;
  return {
    ...artifactKey(id),
    ...artifact,
    gsi1pk: projectArtifacts(project_id),
    gsi1sk: [app_slug, versionSortKey(app_version), created_at, id].join('#'),
  };
}

function saveDue(artifact: Artifact): Write[] {
  const at = dueAt(artifact);
  if (at === undefined) return [forgetDue(artifact.id)];
  const { id, trust_state, lifecycle_state, verification } = artifact;
  const due = { artifact_id: id, trust_state, lifecycle_state, trust_revision: verification?.trust_revision };
  return [put({ ...dueKey(id), ...due, gsi1pk: DUE_ARTIFACTS, gsi1sk: at })];
}

export function forgetDue(id: ArtifactId): Write {
  return remove(dueKey(id));
}

/** Holds an artifact to the state it was read with, where the change does not touch it. */
export function requireState({ id, lifecycle_state }: Artifact): Write {
  return requireThat(artifactKey(id), {
    condition: 'lifecycle_state = :state AND trust_state <> :revoked',
    values: { ':state': lifecycle_state, ':revoked': 'revoked' },
  });
}
