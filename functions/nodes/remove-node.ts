import type { Refusal } from '../platform/errors.ts';
import { command } from '../platform/http/endpoint.ts';
import { requireVersion } from '../platform/http/precondition.ts';
import type { Capacity } from './capacity.ts';
import { revoked } from './enrolment.ts';
import { NodeRemoved } from './node-events.ts';
import {
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
    const { node, principal, capacity } = await findKnown(params.node_id);
    const stale = requireVersion(node, ctx.ifMatch);
    requireUnused(node, capacity, await hasWorkloads(node.id));
    const after = withStatus(node, 'removed', ctx.now());
    return {
      subject: subjectOfNode(node),
      before: summarizeNode(node),
      after: summarizeNode(after),
      writes: [
        saveNode(node, after, stale),
        savePrincipal(principal, revoked(principal)),
        ...freeKey(principal),
        requireCapacityUnchanged(capacity),
      ],
      events: [NodeRemoved(after)],
      reply: summarizeNode(after),
    };
  },
);

function requireUnused({ status }: Node, { holds, volumes }: Capacity, isRunning: boolean): void {
  if (holds.length > 0) throw inUse(`${holds.length} allocations are held of it.`);
  if (isRunning) throw inUse('It was asked to run something and has not answered yet that it is removed.');
  // What a project keeps on a host that is gone is gone too.
  if (volumes.length > 0 && status !== 'lost')
    throw inUse(`${volumes.length} volumes of projects are kept on it.`);
}

const inUse = (detail: string): Refusal => refuse('node.in_use', { detail });
