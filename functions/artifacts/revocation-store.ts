import * as v from 'valibot';
import type { Bound } from './artifact-binding.ts';
import type { Artifact } from './artifact.ts';
import { findArtifacts } from './find-artifact.ts';
import { boundKeys, findBounds, parseBound } from './find-bound-version.ts';
import { contentKey, instanceUseKey, revokedContentKey } from './keys.ts';
import { forgetDue } from './save-artifact.ts';
import { InstanceUse } from './usage.ts';
import { artifactKey } from '../catalog/readiness.ts';
import { putNew, requireThat, update, type Write } from '../platform/data/commit.ts';
import { readItems } from '../platform/data/rows.ts';
import { type ArtifactId, textOf } from '../platform/ids.ts';

export interface Same {
  artifact: Artifact;
  bound: Bound;
}

const ContentRow = v.object({ artifact_ids: v.set(textOf<ArtifactId>()) });

/** All artifacts of the same bytes in the project, the one asked for first, each with the version it is for. */
export async function findSame(artifact: Artifact): Promise<Same[]> {
  const key = contentKey(artifact.digest, artifact.project_id);
  // There is rarely another artifact: then no further read is needed.
  const [content, ...bound] = await readItems([key, ...boundKeys(artifact)]);
  const { artifact_ids } = v.parse(ContentRow, content);
  const ids = [...artifact_ids].filter((id) => id !== artifact.id);
  const others = ids.length === 0 ? [] : await findArtifacts(ids);
  const bounds = others.length === 0 ? [] : await findBounds(others);
  return [
    { artifact, bound: parseBound(bound) },
    ...others.map((other, index) => ({ artifact: other, bound: bounds[index] ?? {} })),
  ];
}

/**
 * Revokes them regardless of concurrent changes: a change based on an earlier read then fails. The same bytes can never
 * be registered in the project again, and the condition proves that no registration of them was added since.
 */
export function saveRevocation(revoked: Artifact[]): Write[] {
  const [first] = revoked;
  if (!first?.revoked) return [];
  const { digest, project_id, revoked: how } = first;
  return [
    ...revoked.flatMap((artifact) => [saveRevoked(artifact), forgetDue(artifact.id)]),
    putNew({ ...revokedContentKey(digest, project_id), ...how }),
    requireThat(contentKey(digest, project_id), {
      condition: 'artifact_ids = :ids',
      values: { ':ids': new Set(revoked.map(({ id }) => id)) },
    }),
  ];
}

function saveRevoked({ id, revoked, updated_at }: Artifact): Write {
  return update(artifactKey(id), {
    update: 'SET trust_state = :trust, revoked = :revoked, updated_at = :at ADD revision :one',
    condition: 'attribute_exists(pk) AND trust_state <> :trust',
    values: { ':trust': 'revoked', ':revoked': revoked, ':at': updated_at, ':one': 1 },
  });
}

/** Those of the instances that still run the bytes, as they are now. */
export async function findInstances(digest: string, instances: InstanceUse[]): Promise<InstanceUse[]> {
  const rows = await readItems(instances.map((each) => instanceUseKey(digest, each.app_instance_id)));
  return rows.flatMap((row) => (row ? [v.parse(InstanceUse, row)] : []));
}

/** Asks an instance to stop, once. */
export function markStopping(digest: string, { app_instance_id }: InstanceUse, now: Date): Write {
  return update(instanceUseKey(digest, app_instance_id), {
    update: 'SET stop_requested_at = :at',
    condition: 'attribute_exists(pk) AND attribute_not_exists(stop_requested_at)',
    values: { ':at': now.toISOString() },
  });
}
