import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import { environment } from '../platform/environment.ts';
import { type Sweep, sweeping } from '../platform/workflow/sweep.ts';
import { findHeard, findHeartbeats, markSilent } from './heartbeat-store.ts';
import { isWorse, type KeptHeartbeat, type Patience, statusBySilence } from './heartbeat.ts';
import { NodeLost, NodeSuspect } from './node-events.ts';
import { saveNode } from './node-store.ts';
import { type Node, type NodeStatus, subjectOfNode, withStatus } from './node.ts';
import { readNodes } from './read-nodes.ts';

const SWEEP: Actor = { kind: 'platform', id: 'node-sweep' };

/** As many as one request may ask for. */
const HEARTBEATS_AT_ONCE = 100;

/** Marks nodes whose heartbeats do not come. */
export const nodeSweep: Sweep<Pick<Node, 'id'>> = {
  noun: 'node',
  find: findSilent,
  mend: (ctx, { id }) => markNode(ctx, id),
  label: ({ id }) => ({ node_id: id }),
  atOnce: 10,
  secondsMax: 40,
};

export const handler = sweeping(nodeSweep);

async function* findSilent(ctx: Context): AsyncGenerator<Node> {
  const nodes = await readNodes();
  for (let start = 0; start < nodes.length; start += HEARTBEATS_AT_ONCE) {
    const some = nodes.slice(start, start + HEARTBEATS_AT_ONCE);
    const heartbeats = await findHeartbeats(some.map(({ id }) => id));
    for (const [index, node] of some.entries()) if (judge(node, heartbeats[index], ctx)) yield node;
  }
}

async function markNode(ctx: Context, id: Node['id']): Promise<void> {
  await commitDecision(ctx, 'nodes.node.mark_silent', async () => {
    // The index may lag behind, and a heartbeat may have come.
    const { node, heartbeat } = await findHeard(id);
    const status = node && judge(node, heartbeat, ctx);
    if (!heartbeat || !status) return undefined;
    const after = withStatus(node, status, ctx.now());
    const tell = status === 'lost' ? NodeLost : NodeSuspect;
    return {
      subject: subjectOfNode(node),
      before: { status: node.status },
      after: { status },
      reason: `It was last heard of at ${heartbeat.at}.`,
      actor: SWEEP,
      writes: [saveNode(node, after), markSilent(id, heartbeat, status)],
      events: [tell(after, heartbeat.at)],
    };
  });
}

/** What the node has become by its silence; nothing where it is known to be so, or worse. */
function judge(
  { status }: Node,
  heartbeat: KeptHeartbeat | undefined,
  { now }: Context,
): Extract<NodeStatus, 'suspect' | 'lost'> | undefined {
  const found = heartbeat && statusBySilence(heartbeat, patience(), now());
  return found !== undefined && found !== 'ready' && isWorse(found, status) ? found : undefined;
}

const patience = (): Patience => ({
  suspectSeconds: Number(environment('NODE_SUSPECT_SECONDS')),
  lostSeconds: Number(environment('NODE_LOST_SECONDS')),
});
