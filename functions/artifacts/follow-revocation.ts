import * as v from 'valibot';
import { failPromotion } from '../catalog/fail-promotion.ts';
import type { Context } from '../platform/context.ts';
import type { PlatformEvent } from '../platform/events.ts';
import { findArtifactPromotion } from './artifact-promotion-store.ts';
import { stopInstances } from './stop-instances.ts';

const Told = v.object({ artifact_id: v.string(), stop_instances: v.boolean() });

/** What a revocation leads to: the artifact's promotion ends, and on request what runs it is asked to stop. */
export async function followRevocation(ctx: Context, event: PlatformEvent): Promise<void> {
  const { artifact_id, stop_instances } = v.parse(Told, event.data);
  const { artifact, promotion } = await findArtifactPromotion(artifact_id);
  if (artifact.trust_state !== 'revoked') return;
  // One that is on its way out may go on.
  if (promotion?.status === 'running' && promotion.target !== 'retired') {
    const detail = `It was revoked: ${artifact.revoked?.reason}`;
    await failPromotion(ctx, promotion, { code: 'artifact.revoked', detail });
  }
  if (stop_instances) await stopInstances(ctx, artifact);
}
