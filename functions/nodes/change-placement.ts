import type { Context } from '../platform/context.ts';
import type { Change } from '../platform/data/change.ts';
import type { DomainEvent } from '../platform/events.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import type { NodeId } from '../platform/ids.ts';
import type { Capacity } from './capacity.ts';
import { findInFull, requireCapacityUnchanged, saveNode } from './node-store.ts';
import { summarizeNode } from './node-view.ts';
import { type Node, type Placing, requirePresent, subjectOfNode, withPlacement } from './node.ts';

/** Whether anything new is placed on a node. Asked for again, it changes nothing. */
export async function changePlacement(
  ctx: Context,
  id: NodeId,
  placing: Placing,
  tell: (after: Node, capacity: Capacity) => DomainEvent[],
): Promise<Change> {
  const { node, capacity } = await findInFull(id);
  const before = requirePresent(node);
  const stale = requireVersion(before, ctx.ifMatch);
  const after = withPlacement(before, placing);
  const isNews = after !== before;
  return {
    subject: subjectOfNode(before),
    before: summarizeNode(before, capacity),
    after: summarizeNode(after, capacity),
    ...(placing.placement_reason !== undefined && { reason: placing.placement_reason }),
    // Whoever frees the last of a draining node says so; at the same moment, one of both does.
    writes: isNews ? [saveNode(before, after, stale), requireCapacityUnchanged(capacity)] : [],
    events: isNews ? tell(after, capacity) : [],
    reply: summarizeNode(after, capacity),
  };
}
