import { command } from '../platform/http/endpoint.ts';
import { changePlacement } from './change-placement.ts';
import { NodeCordoned } from './node-events.ts';
import { NodeSummary } from './node-view.ts';
import { CordonNode, NodeParams } from './node.ts';

export const cordonNode = command(
  {
    summary: 'Place nothing new on a node; what is there goes on',
    action: 'nodes.node.cordon',
    params: NodeParams,
    body: CordonNode,
    reply: NodeSummary,
    refusals: ['precondition.failed'],
  },
  (ctx, { params, body }) => {
    const placing = { placement: 'cordoned', placement_reason: body.reason } as const;
    return changePlacement(ctx, params.node_id, placing, (after) => [NodeCordoned(after)]);
  },
);
