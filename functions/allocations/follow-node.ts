// What happens to a node happens to what is on it.

import { findPlace } from '../nodes/hold-capacity.ts';
import type { Node } from '../nodes/node.ts';
import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { AllocationId, NodeId } from '../platform/ids.ts';
import {
  aboutAllocation,
  type Allocation,
  AllocationHostLost,
  AllocationHostRecovered,
  AllocationReleaseRequested,
  askRelease,
  subjectOfAllocation,
  tellHost,
} from './allocation.ts';
import { findAnyAllocation, saveAllocation } from './allocation-store.ts';

const FOLLOWER: Actor = { kind: 'platform', id: 'node-follower' };

/** Marks what is on a node by whether the node is lost now: it may be back before this runs, or lost again. */
export async function markHost(ctx: Context, nodeId: NodeId): Promise<void> {
  const place = await findPlace(nodeId);
  if (!place) return;
  const host_status = place.node.status === 'lost' ? 'lost' : 'ready';
  for (const { allocation_id } of place.capacity.holds)
    await changeOne(ctx, 'allocations.allocation.mark_host', allocation_id, (before) => {
      const after = tellHost(before, host_status);
      const tell = host_status === 'lost' ? AllocationHostLost : AllocationHostRecovered;
      return after && { after, events: [tell(after)] };
    });
}

/** Releases everything on a node that is to be torn down, if it still is. What is to be waited for is waited for. */
export async function releaseDrained(ctx: Context, nodeId: NodeId): Promise<void> {
  const place = await findPlace(nodeId);
  if (!place || !isTornDown(place.node)) return;
  for (const { allocation_id } of place.capacity.holds)
    await changeOne(ctx, 'allocations.allocation.release', allocation_id, (before) => {
      const after = askRelease(before, `${FOLLOWER.kind}:${FOLLOWER.id}`, ctx.now());
      return after && { after, events: [AllocationReleaseRequested(after)] };
    });
}

export const isTornDown = ({ placement, drain_mode }: Node): boolean =>
  placement === 'draining' && drain_mode === 'teardown';

/** Each by itself: one that somebody else changes at the same moment does not keep the others. */
async function changeOne(
  ctx: Context,
  action: string,
  id: AllocationId,
  decide: (
    before: Allocation,
  ) => { after: Allocation; events: ReturnType<typeof AllocationHostLost>[] } | undefined,
): Promise<void> {
  await commitDecision(ctx, action, async () => {
    const before = await findAnyAllocation(id);
    const decided = before && decide(before);
    if (!decided) return undefined;
    const { after, events } = decided;
    return {
      subject: subjectOfAllocation(after),
      before: aboutAllocation(before),
      after: aboutAllocation(after),
      actor: FOLLOWER,
      place: { org_id: after.org_id, project_id: after.project_id },
      writes: saveAllocation(before, after),
      events,
    };
  });
}
