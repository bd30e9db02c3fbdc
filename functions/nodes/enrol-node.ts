import { calculateJwkThumbprint } from 'jose';
import type { NodePrincipal } from '../platform/auth/node-principal.ts';
import type { Change } from '../platform/data/change.ts';
import { sqs } from '../platform/clients.ts';
import { environment } from '../platform/environment.ts';
import { command } from '../platform/http/endpoint.ts';
import { lowerCased } from '../platform/ids.ts';
import { Enrol, Enrolled } from './agent-api.ts';
import { isJoinToken, joined, type JoinRefusal, judgeJoin, holdsKey } from './enrolment.ts';
import { hostKey } from './host-key.ts';
import { JoinRefused, NodeEnrolled } from './node-events.ts';
import { openQueue } from './node-queue.ts';
import { beginHeartbeats, findJoining, moveKey, saveNode, savePrincipal } from './node-store.ts';
import { summarizeNode } from './node-view.ts';
import { enrolled, type Node, NodeParams, subjectOfNode } from './node.ts';
import { refuse } from './problems.ts';

export const enrolNode = command(
  {
    summary: 'Join as a node, by its join token and a key of the host’s own',
    action: 'nodes.node.enrol',
    params: NodeParams,
    body: Enrol,
    reply: Enrolled,
    refusals: [
      'join_token.invalid',
      'join_token.used',
      'join_token.expired',
      'node.key_taken',
      'node.proof_invalid',
    ],
    // The join token is good once, and the same key gets the same answer.
    idempotency: 'none',
  },
  async (ctx, { params, body }): Promise<Change> => {
    const now = ctx.now();
    const id = lowerCased(params.node_id);
    const thumbprint = await calculateJwkThumbprint(body.public_key_jwk);
    const { node, principal, holder } = await findJoining(id, thumbprint);
    // Not recorded: anybody can send any token.
    if (!node || !principal || !isJoinToken(principal, body.join_token)) throw refuse('join_token.invalid');
    if (!(await holdsKey(body, id, now))) throw refuse('node.proof_invalid');
    const verdict = judgeJoin(principal, thumbprint, holder, now);
    if (verdict !== 'join' && verdict !== 'joined_before') return refusedJoin(node, verdict);
    const reply = {
      ...(await describePlatform()),
      node_id: id,
      name: node.name,
      port_range: node.port_range,
    };
    const told = { actor: { kind: 'node', id }, subject: subjectOfNode(node), reply } as const;
    if (verdict === 'joined_before') return { ...told, after: summarizeNode(node), writes: [] };

    // Before the commit, and the same whenever it is made again.
    const queue_url = await openQueue(id);
    const after = enrolled(node, { inventory: body.inventory, queue_url }, now);
    const admitted: NodePrincipal = joined(principal, body.public_key_jwk, thumbprint);
    return {
      ...told,
      before: summarizeNode(node),
      after: { ...summarizeNode(after), key: thumbprint },
      writes: [
        saveNode(node, after),
        savePrincipal(principal, admitted),
        ...moveKey(principal, admitted),
        beginHeartbeats(id, now),
      ],
      events: [NodeEnrolled(after)],
    };
  },
);

/** Whoever this is has a token that was real: it is recorded, published as an event, and raises an alarm. */
function refusedJoin(node: Node, code: JoinRefusal): Change {
  return {
    subject: subjectOfNode(node),
    after: { refused: code },
    writes: [],
    events: [JoinRefused(node, code)],
    reply: {},
    refusal: refuse(code),
  };
}

/** What a host must know of the platform to work for it. */
async function describePlatform(): Promise<Omit<Enrolled, 'node_id' | 'name' | 'port_range'>> {
  const [region, { publicKey }] = await Promise.all([sqs().config.region(), hostKey()]);
  return {
    region,
    registry_host: environment('REGISTRY_HOST'),
    host_key: publicKey,
    heartbeat_seconds: Number(environment('HEARTBEAT_SECONDS')),
  };
}
