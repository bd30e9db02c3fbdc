import { artifactKind } from './artifact-kind.ts';
import { findArtifactPromotion } from './find-artifact.ts';
import type { ArtifactRevoked } from './revocation.ts';
import type { Context } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import type { EventOf } from '../platform/events.ts';
import { startExecution } from '../platform/workflow/workflow.ts';
import { failPromotion } from '../promotion/run-step.ts';

/** What a revocation leads to: the artifact's promotion ends, and on request what runs it is asked to stop. */
export async function followRevocation(
  ctx: Context,
  { event_id, data: { artifact_id, stop_instances } }: EventOf<typeof ArtifactRevoked>,
): Promise<void> {
  const { artifact, promotion } = await findArtifactPromotion(artifact_id);
  if (artifact.trust_state !== 'revoked') return;
  // One that is on its way out may go on.
  if (promotion?.status === 'running' && promotion.target !== 'retired') {
    const detail = `The artifact was revoked: ${artifact.revoked?.reason}`;
    await failPromotion(ctx, artifactKind, promotion, { code: 'artifact.revoked', detail });
  }
  if (!stop_instances) return;
  // The execution bears the event's id: told twice, it runs once, and whoever revokes again starts another.
  const input = { stop_id: event_id, artifact_id: artifact.id, step: { after: null } };
  await startExecution(ctx, environment('STOP_INSTANCES_MACHINE_ARN'), event_id, input);
}
