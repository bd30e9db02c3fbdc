import { command } from '../platform/http/endpoint.ts';
import { changePlacement } from './change-placement.ts';
import { NodeUncordoned } from './node-events.ts';
import { NodeSummary } from './node-view.ts';
import { NodeParams } from './node.ts';

export const uncordonNode = command(
  {
    summary: 'Let allocations be placed on a node again',
    action: 'nodes.node.uncordon',
    params: NodeParams,
    reply: NodeSummary,
    refusals: ['precondition.failed'],
  },
  (ctx, { params }) =>
    changePlacement(ctx, params.node_id, { placement: 'open' }, (after) => [NodeUncordoned(after)]),
);
