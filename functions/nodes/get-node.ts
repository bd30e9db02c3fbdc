import { query } from '../platform/http/endpoint.ts';
import { findInFull } from './node-store.ts';
import { NodeView, viewNode } from './node-view.ts';
import { NodeParams } from './node.ts';

export const getNode = query(
  {
    summary: 'Get a node: what it is made of, what is held of it, and when it was last heard of',
    params: NodeParams,
    reply: NodeView,
  },
  async (_, { params }) => {
    const { node, heartbeat, capacity } = await findInFull(params.node_id);
    return viewNode(node, heartbeat, capacity);
  },
);
