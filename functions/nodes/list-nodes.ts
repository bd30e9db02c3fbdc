import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import { PageQuery } from '../platform/page.ts';
import { findCapacities, listAllNodes } from './node-store.ts';
import { NodePage, summarizeNode } from './node-view.ts';
import { NODE_PLACEMENTS, NODE_STATUSES } from './node.ts';

const ListNodes = v.strictObject({
  ...PageQuery,
  status: v.optional(v.picklist(NODE_STATUSES)),
  placement: v.optional(v.picklist(NODE_PLACEMENTS)),
});

export const listNodes = query(
  {
    summary: 'List the nodes that were not removed, oldest first',
    query: ListNodes,
    reply: NodePage,
  },
  async (_, { query: asked }) => {
    const { items, next_cursor } = await listAllNodes(asked);
    const draining = items.filter(({ placement }) => placement === 'draining').map(({ id }) => id);
    const held = new Map((await findCapacities(draining)).map((each) => [each.node_id, each]));
    const shown = items.map((node) => summarizeNode(node, held.get(node.id)));
    const { placement } = asked;
    return {
      items: placement === undefined ? shown : shown.filter((node) => node.placement === placement),
      next_cursor,
    };
  },
);
