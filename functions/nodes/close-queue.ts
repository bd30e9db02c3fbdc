import type { Context } from '../platform/context.ts';
import type { EventOf } from '../platform/events.ts';
import type { NodeRemoved } from './node-events.ts';
import { deleteQueue } from './node-queue.ts';
import { findNode } from './read-nodes.ts';

/** With the node goes its queue, and whatever nobody has read there. */
export async function closeQueue(_: Context, { data }: EventOf<typeof NodeRemoved>): Promise<void> {
  const node = await findNode(data.node_id);
  if (node?.status === 'removed') await deleteQueue(node.id);
}
