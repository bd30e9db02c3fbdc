import { findPlace } from '../nodes/hold-capacity.ts';
import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { NodeId } from '../platform/ids.ts';
import { aboutVolume, subjectOfVolume, VolumeRemoved } from './volume.ts';
import { findAnyVolume, removeVolume } from './volume-store.ts';

const FOLLOWER: Actor = { kind: 'platform', id: 'node-follower' };

/** With a host that is removed its volumes are gone: their projects hear of it, and do not look for them any more. */
export async function forgetVolumes(ctx: Context, nodeId: NodeId): Promise<void> {
  const place = await findPlace(nodeId);
  if (place?.node.status !== 'removed') return;
  for (const { volume_id } of place.capacity.volumes)
    await commitDecision(ctx, 'allocations.volume.forget', async () => {
      const before = await findAnyVolume(volume_id);
      if (!before) return undefined;
      return {
        subject: subjectOfVolume(before),
        before: aboutVolume(before),
        reason: 'The host was removed.',
        actor: FOLLOWER,
        place: { org_id: before.org_id, project_id: before.project_id },
        writes: removeVolume(before),
        events: [VolumeRemoved(before)],
      };
    });
}
