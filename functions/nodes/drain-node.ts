import { command } from '../platform/http/endpoint.ts';
import { isIdle } from './capacity.ts';
import { changePlacement } from './change-placement.ts';
import { DrainRequested, NodeDrained } from './node-events.ts';
import { NodeSummary } from './node-view.ts';
import { DrainNode, NodeParams } from './node.ts';

export const drainNode = command(
  {
    summary: 'Place nothing new on a node, and wait until it is empty or tear down what is there',
    action: 'nodes.node.drain',
    params: NodeParams,
    body: DrainNode,
    reply: NodeSummary,
    refusals: ['precondition.failed'],
  },
  (ctx, { params, body: { mode, reason } }) => {
    const placing = { placement: 'draining', placement_reason: reason, drain_mode: mode } as const;
    return changePlacement(ctx, params.node_id, placing, (after, capacity) => [
      DrainRequested(after, mode),
      ...(isIdle(capacity) ? [NodeDrained(after)] : []),
    ]);
  },
);
