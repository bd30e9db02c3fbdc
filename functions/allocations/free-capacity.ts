import { isIdle, release } from '../nodes/capacity.ts';
import { findPlace, requireUnchanged, saveCapacity } from '../nodes/hold-capacity.ts';
import { NodeDrained } from '../nodes/node-events.ts';
import type { Write } from '../platform/data/commit.ts';
import type { DomainEvent } from '../platform/events.ts';
import type { Allocation } from './allocation.ts';

/** What an allocation holds is free again, once. Whoever frees the last one of a draining node tells that it is drained. */
export async function freeCapacity({
  id,
  node_id,
}: Allocation): Promise<{ writes: Write[]; events: DomainEvent[] }> {
  const place = await findPlace(node_id);
  const after = place && release(place.capacity, id);
  if (!place || !after) return { writes: [], events: [] };
  const isLast = isIdle(after);
  const isDrained = isLast && place.node.placement === 'draining';
  return {
    writes: [
      saveCapacity(place.capacity, after),
      // Somebody may drain the node at the same moment: then one of the two sees the other.
      ...(isLast ? [requireUnchanged(place.node)] : []),
    ],
    events: isDrained ? [{ ...NodeDrained(place.node), place: {} }] : [],
  };
}
