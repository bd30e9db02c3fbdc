// Taking back the trust in an artifact, for good.

import * as v from 'valibot';
import { Reason } from '../promotion/promotion.ts';
import { StopRequested } from '../instances/instance-events.ts';
import { type DomainEvent, event } from '../platform/events.ts';
import { type ArtifactId, textOf } from '../platform/ids.ts';
import { aboutArtifact, type Artifact, ArtifactTold, ArtifactView, subjectOfArtifact } from './artifact.ts';
import type { InstanceUse } from './usage.ts';

export const RevokeArtifact = v.strictObject({
  reason: Reason,
  /** Whether running instances are stopped; otherwise only new launches are prevented. */
  stop_instances: v.optional(v.boolean(), false),
});

export const RevocationView = v.object({
  ...ArtifactView.entries,
  /** The other artifacts with the same bytes in the project, which were revoked with it. */
  revoked_with: v.array(textOf<ArtifactId>()),
});

export function revoke(artifact: Artifact, by: string, reason: string, now: Date): Artifact {
  const at = now.toISOString();
  return { ...artifact, trust_state: 'revoked', revoked: { at, by, reason }, updated_at: at };
}

/** As the audit tells it. */
export const auditRevocation = (before: Artifact, after: Artifact) => ({
  subject: subjectOfArtifact(after),
  before: { trust_state: before.trust_state },
  after: { trust_state: after.trust_state, revoked: after.revoked },
});

export const ArtifactRevoked = event(
  'apps.artifact.revoked',
  1,
  v.object({ ...ArtifactTold.entries, reason: v.optional(v.string()), stop_instances: v.boolean() }),
  (artifact: Artifact, stop_instances: boolean) => ({
    ...aboutArtifact(artifact),
    reason: artifact.revoked?.reason,
    stop_instances,
  }),
);

/** The event in the instance's own project, which may be another than the artifact's. */
export function stopRequestedBy(
  { id, revoked }: Artifact,
  { org_id, project_id, ...instance }: InstanceUse,
): DomainEvent {
  const told = { ...instance, reason: 'artifact.revoked', artifact_id: id, detail: revoked?.reason };
  return { ...StopRequested(told), place: { org_id, project_id } };
}
