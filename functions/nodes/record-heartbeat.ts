import type { Context } from '../platform/context.ts';
import { nodeOf } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import { environment } from '../platform/environment.ts';
import { report } from '../platform/http/endpoint.ts';
import type { NodeId } from '../platform/ids.ts';
import { countRefusal } from '../platform/metrics.ts';
import { Heartbeat, HeartbeatReply } from './agent-api.ts';
import { findHeard, noteRefusedRun, unmark, writeHeartbeat } from './heartbeat-store.ts';
import { NodeCordoned, NodeKeyCloned, NodeRecovered } from './node-events.ts';
import { saveNode } from './node-store.ts';
import { NodeParams, subjectOfNode, withPlacement, withStatus } from './node.ts';
import { refuse } from './problems.ts';

const CLONED = 'Two agents speak with the key of this node.';

export const recordHeartbeat = report(
  {
    summary: 'Tell that the host is there, and what has changed of it; for its own agent',
    params: NodeParams,
    body: Heartbeat,
    reply: HeartbeatReply,
    refusals: ['node.key_cloned'],
  },
  async (ctx, { body }) => {
    const { id } = nodeOf(ctx);
    const kept = await writeHeartbeat(id, body, ctx.now());
    if (!kept) {
      await recordClone(ctx, id, body.run_id);
      countRefusal(ctx.log, 'node.key_cloned');
      throw refuse('node.key_cloned');
    }
    if (kept.marked) await recordRecovery(ctx, id);
    return { heartbeat_seconds: Number(environment('HEARTBEAT_SECONDS')) };
  },
);

/** Once: it was marked by the sweep, and is heard of again. */
async function recordRecovery(ctx: Context, id: NodeId): Promise<void> {
  await commitDecision(ctx, 'nodes.node.recover', async () => {
    const { node, heartbeat } = await findHeard(id);
    if (!node || !heartbeat?.marked) return undefined;
    const after = withStatus(node, 'ready', ctx.now());
    return {
      subject: subjectOfNode(node),
      before: { status: node.status },
      after: { status: after.status },
      writes: [saveNode(node, after), unmark(id, heartbeat.marked)],
      events: [NodeRecovered(after)],
    };
  });
}

/** Once for each run: nobody knows which of the two is the host, so nothing more is placed on either. */
async function recordClone(ctx: Context, id: NodeId, runId: string): Promise<void> {
  await commitDecision(ctx, 'nodes.node.refuse_clone', async () => {
    const { node, heartbeat } = await findHeard(id);
    const laterRunId = heartbeat?.run_id;
    if (!node || laterRunId === undefined || heartbeat?.refused_run_id === runId) return undefined;
    const after =
      node.placement === 'open'
        ? withPlacement(node, { placement: 'cordoned', placement_reason: CLONED })
        : node;
    return {
      subject: subjectOfNode(node),
      before: { placement: node.placement },
      after: { placement: after.placement, run_id: runId, later_run_id: laterRunId },
      reason: CLONED,
      writes: [noteRefusedRun(id, laterRunId, runId), ...(after === node ? [] : [saveNode(node, after)])],
      events: [
        NodeKeyCloned(after, { run_id: runId, later_run_id: laterRunId }),
        ...(after === node ? [] : [NodeCordoned(after)]),
      ],
    };
  });
}
