import * as v from 'valibot';
import { NodePrincipal } from '../platform/auth/node-principal.ts';
import { putNew, put, remove, replace, requireThat, type Write } from '../platform/data/commit.ts';
import { nodeKeyHolderKey, nodePrincipalKey } from '../platform/data/keys.ts';
import { decodeId, readItems } from '../platform/data/rows.ts';
import { queryPage } from '../platform/data/table.ts';
import type { Refusal } from '../platform/errors.ts';
import { lowerCased, type NodeId } from '../platform/ids.ts';
import { encodeCursor, type PageOf } from '../platform/page.ts';
import { Capacity, emptyCapacity } from './capacity.ts';
import { KeptHeartbeat } from './heartbeat.ts';
import { capacityKey, heartbeatKey, nodeKey, NODES_PARTITION, WORKLOAD_ROWS } from './keys.ts';
import { Node, type NodePlacement, type NodeStatus, requirePresent } from './node.ts';
import { refuse } from './problems.ts';

/** A node with who it is for authorization, and what is held of it. */
export interface Known {
  node: Node;
  principal: NodePrincipal;
  capacity: Capacity;
}

export function insertNode(node: Node, principal: NodePrincipal): Write[] {
  return [putNew(rowOf(node)), putNew({ ...nodePrincipalKey(node.id), ...principal })];
}

const rowOf = (node: Node) => ({
  ...nodeKey(node.id),
  ...node,
  // What was removed is found by its id alone.
  ...(node.status !== 'removed' && { gsi1pk: NODES_PARTITION, gsi1sk: node.id }),
});

/** A concurrent change of the node wins; this one is decided again. */
export const saveNode = (before: Node, after: Node, stale?: Refusal): Write =>
  replace(rowOf(after), { version: before.version }, stale);

export const savePrincipal = (before: NodePrincipal, after: NodePrincipal): Write =>
  replace({ ...nodePrincipalKey(after.id), ...after }, { version: before.version });

export async function findKnown(id: NodeId): Promise<Known> {
  const known = lowerCased(id);
  const [node, principal, capacity] = await readItems([
    nodeKey(known),
    nodePrincipalKey(known),
    capacityKey(known),
  ]);
  return {
    node: requirePresent(v.parse(v.optional(Node), node)),
    principal: v.parse(NodePrincipal, principal),
    capacity: v.parse(v.optional(Capacity, emptyCapacity(known)), capacity),
  };
}

const Holder = v.object({ node_id: v.string() });

/** For somebody who wants to join, by one request: the node, and whose the key is that they bring. */
export async function findJoining(
  id: NodeId,
  thumbprint: string,
): Promise<{ node: Node | undefined; principal: NodePrincipal | undefined; holder: NodeId | undefined }> {
  const [node, principal, holder] = await readItems([
    nodeKey(id),
    nodePrincipalKey(id),
    nodeKeyHolderKey(thumbprint),
  ]);
  return {
    node: v.parse(v.optional(Node), node),
    principal: v.parse(v.optional(NodePrincipal), principal),
    holder: v.parse(v.optional(Holder), holder)?.node_id,
  };
}

/** The key is this node's and no other's; the one before it is nobody's. Of two at once, the other is judged again. */
export function moveKey(before: NodePrincipal, { id, thumbprint = '' }: NodePrincipal): Write[] {
  if (before.thumbprint === thumbprint) return [];
  const taken = putNew({ ...nodeKeyHolderKey(thumbprint), node_id: id });
  return [taken, ...freeKey(before)];
}

export const freeKey = ({ thumbprint, id }: NodePrincipal): Write[] =>
  thumbprint === undefined
    ? []
    : [remove(nodeKeyHolderKey(thumbprint), { condition: 'node_id = :id', values: { ':id': id } })];

/** As if it had just been heard of, by an agent of which no run is known yet. */
export const beginHeartbeats = (id: NodeId, now: Date): Write =>
  put({ ...heartbeatKey(id), at: now.toISOString() });

/** Nobody has taken or freed anything of the node since it was read. */
export const requireCapacityUnchanged = ({ node_id, version }: Capacity): Write =>
  requireThat(
    capacityKey(node_id),
    version === 0
      ? { condition: 'attribute_not_exists(pk)' }
      : { condition: 'version = :version', values: { ':version': version } },
  );

export interface NodeInFull {
  node: Node;
  heartbeat: KeptHeartbeat | undefined;
  capacity: Capacity;
}

export async function findInFull(id: NodeId): Promise<NodeInFull> {
  const known = lowerCased(id);
  const [node, heartbeat, capacity] = await readItems([
    nodeKey(known),
    heartbeatKey(known),
    capacityKey(known),
  ]);
  if (!node) throw refuse('node.unknown');
  return {
    node: v.parse(Node, node),
    heartbeat: v.parse(v.optional(KeptHeartbeat), heartbeat),
    capacity: v.parse(v.optional(Capacity, emptyCapacity(known)), capacity),
  };
}

export async function hasWorkloads(id: NodeId): Promise<boolean> {
  const { items } = await queryPage({
    condition: 'pk = :pk AND begins_with(sk, :workload)',
    values: { ':pk': nodeKey(id).pk, ':workload': WORKLOAD_ROWS },
    limit: 1,
    consistent: true,
  });
  return items.length > 0;
}

export interface NodesAsked {
  limit: number;
  cursor?: string | undefined;
  status?: NodeStatus | undefined;
  placement?: NodePlacement | undefined;
}

/** Oldest first. A page may have fewer than were asked for, and others after it. */
export async function listAllNodes({ limit, cursor, status, placement }: NodesAsked): Promise<PageOf<Node>> {
  const after = decodeId(cursor);
  // Whether a draining node is drained yet does not stand in its row.
  const kept = placement === 'drained' ? 'draining' : placement;
  const filters = [
    ...(status === undefined ? [] : ['#status = :status']),
    ...(kept === undefined ? [] : ['placement = :placement']),
  ];
  const { items, next } = await queryPage({
    index: 'gsi1',
    condition: 'gsi1pk = :nodes',
    ...(filters.length > 0 && { filter: filters.join(' AND ') }),
    ...(status !== undefined && { names: { '#status': 'status' } }),
    values: {
      ':nodes': NODES_PARTITION,
      ...(status !== undefined && { ':status': status }),
      ...(kept !== undefined && { ':placement': kept }),
    },
    limit,
    from: after === undefined ? undefined : { ...nodeKey(after), gsi1pk: NODES_PARTITION, gsi1sk: after },
  });
  return {
    items: items.map((item) => v.parse(Node, item)),
    next_cursor: encodeCursor(next?.['gsi1sk'] as string | undefined),
  };
}

/** What is held of these nodes, in their order. At most as many as one request may ask for. */
export async function findCapacities(ids: NodeId[]): Promise<Capacity[]> {
  const rows = await readItems(ids.map(capacityKey));
  return ids.map((id, index) => v.parse(v.optional(Capacity, emptyCapacity(id)), rows[index]));
}
