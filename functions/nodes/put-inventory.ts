import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { nodeOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { PutInventory } from './agent-api.ts';
import { Inventory } from './inventory.ts';
import { NodeInventoryChanged } from './node-events.ts';
import { findKnown, saveNode } from './node-store.ts';
import { NodeParams, subjectOfNode, withInventory } from './node.ts';

export const putInventory = command(
  {
    summary: 'Tell what the host is made of; for its own agent',
    action: 'nodes.node.put_inventory',
    params: NodeParams,
    body: PutInventory,
    reply: v.object({ inventory: Inventory }),
  },
  async (ctx, { body: { inventory } }) => {
    const { node } = await findKnown(nodeOf(ctx).id);
    const isNews = !isDeepStrictEqual(node.inventory, inventory);
    const after = isNews ? withInventory(node, inventory) : node;
    return {
      subject: subjectOfNode(node),
      before: node.inventory,
      after: inventory,
      writes: isNews ? [saveNode(node, after)] : [],
      events: isNews ? [NodeInventoryChanged(after)] : [],
      reply: { inventory },
    };
  },
);
