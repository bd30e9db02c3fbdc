import type { Refusal } from '../platform/errors.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import type { Capacity } from './capacity.ts';
import { revoked } from './enrolment.ts';
import { NodeRemoved } from './node-events.ts';
import {
  findCapacities,
  findKnown,
  freeKey,
  hasWorkloads,
  requireCapacityUnchanged,
  saveNode,
  savePrincipal,
} from './node-store.ts';
import { NodeSummary, summarizeNode } from './node-view.ts';
import { type Node, NodeParams, subjectOfNode, withStatus } from './node.ts';
import { refuse } from './problems.ts';

export const removeNode = command(
  {
    summary: 'Remove a node on which nothing is held or running; its key and its queue end with it',
    action: 'nodes.node.remove',
    params: NodeParams,
    reply: NodeSummary,
    refusals: ['node.in_use', 'precondition.failed'],
  },
  async (ctx, { params }) => {
    const { node, principal } = await findKnown(params.node_id);
    const stale = requireVersion(node, ctx.ifMatch);
    const [[capacity], isRunning] = await Promise.all([findCapacities([node.id]), hasWorkloads(node.id)]);
    requireUnused(node, capacity, isRunning);
    const after = withStatus(node, 'removed', ctx.now());
    return {
      subject: subjectOfNode(node),
      before: summarizeNode(node),
      after: summarizeNode(after),
      writes: [
        saveNode(node, after, stale),
        savePrincipal(principal, revoked(principal)),
        ...freeKey(principal),
        ...(capacity ? [requireCapacityUnchanged(capacity)] : []),
      ],
      events: [NodeRemoved(after)],
      reply: summarizeNode(after),
    };
  },
);

function requireUnused({ status }: Node, capacity: Capacity | undefined, isRunning: boolean): void {
  if (capacity && capacity.holds.length > 0)
    throw inUse(`${capacity.holds.length} allocations are held of it.`);
  if (isRunning) throw inUse('The platform has asked it to run something that it has not removed yet.');
  // What a project keeps on a host that is gone is gone too.
  if (capacity && capacity.volumes.length > 0 && status !== 'lost')
    throw inUse(`${capacity.volumes.length} volumes of projects are kept on it.`);
}

const inUse = (detail: string): Refusal => refuse('node.in_use', { detail });
