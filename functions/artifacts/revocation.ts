// Taking back the trust in an artifact, for good. Rules only; nothing here knows AWS.

import * as v from 'valibot';
import { Reason } from '../catalog/promotion.ts';
import type { DomainEvent } from '../platform/events.ts';
import { aboutArtifact, type Artifact, ArtifactView, subjectOfArtifact } from './artifact.ts';
import type { InstanceUse } from './usage.ts';

export const RevokeArtifact = v.strictObject({
  reason: Reason,
  /** Whether instances that run it are to be stopped; otherwise only nobody launches it any more. */
  stop_instances: v.optional(v.boolean(), false),
});

export const RevocationView = v.object({
  ...ArtifactView.entries,
  /** The others of the same bytes in the project, which went with it. */
  revoked_with: v.array(v.string()),
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

export const ARTIFACT_REVOKED = 'apps.artifact.revoked';

export const ArtifactRevoked = (artifact: Artifact, stop_instances: boolean): DomainEvent => ({
  type: ARTIFACT_REVOKED,
  version: 1,
  data: { ...aboutArtifact(artifact), reason: artifact.revoked?.reason, stop_instances },
});

/** What an instance is told, in its own project: who runs it has to do with the artifact's project only by this. */
export const StopRequested = (
  { app_instance_id, app_slug, app_version, org_id, project_id }: InstanceUse,
  { id, revoked }: Artifact,
): DomainEvent => ({
  type: 'apps.instance.stop_requested',
  version: 1,
  place: { org_id, project_id },
  data: {
    app_instance_id,
    app_slug,
    app_version,
    reason: 'artifact.revoked',
    artifact_id: id,
    detail: revoked?.reason,
  },
});
