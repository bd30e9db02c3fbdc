// A host: how it joined, whether it is heard of, and whether anything may be placed on it.

import { isDeepStrictEqual } from 'node:util';
import * as v from 'valibot';
import { NodeId, textOf } from '../platform/ids.ts';
import { Description, Name } from '../platform/name.ts';
import { Inventory } from './inventory.ts';
import { refuse } from './problems.ts';

/**
 * pending: created, no agent has enrolled yet. ready: its heartbeats come. suspect: some were missed. lost: so many that
 * nobody waits any longer; what ran there is marked, not guessed. removed: kept only to be read.
 */
export const NODE_STATUSES = ['pending', 'ready', 'suspect', 'lost', 'removed'] as const;
export type NodeStatus = (typeof NODE_STATUSES)[number];

/** open: takes allocations. cordoned: takes none, and what is there goes on. draining: is to become empty. drained: is. */
export const NODE_PLACEMENTS = ['open', 'cordoned', 'draining', 'drained'] as const;
export type NodePlacement = (typeof NODE_PLACEMENTS)[number];

/** wait: what is there stays until its projects release it. teardown: it is torn down and released now. */
export const DRAIN_MODES = ['wait', 'teardown'] as const;

export const Node = v.object({
  id: textOf<NodeId>(),
  name: v.string(),
  labels: v.record(v.string(), v.string()),
  status: v.picklist(NODE_STATUSES),
  /** As kept, never `drained`: whether a draining node is empty is told by what is held of it. */
  placement: v.picklist(NODE_PLACEMENTS),
  placement_reason: v.optional(v.string()),
  /** Of a draining node. */
  drain_mode: v.optional(v.picklist(DRAIN_MODES)),
  /** From its agent; absent until it has enrolled. */
  inventory: v.optional(Inventory),
  /** Which tenants' ports may be published on its loopback. */
  port_range: v.object({ from: v.number(), to: v.number() }),
  queue_url: v.optional(v.string()),
  /** Of the join token that was given out last, until it is used. */
  join_expires_at: v.optional(v.string()),
  enrolled_at: v.optional(v.string()),
  /** When it was last found to be of this status. */
  status_at: v.string(),
  created_by: v.string(),
  created_at: v.string(),
  version: v.number(),
});
export type Node = v.InferOutput<typeof Node>;

export const NodeParams = v.object({ node_id: NodeId });

const LABELS_MAX = 20;
const LabelName = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9._/-]{0,62}$/, 'The name of a label'));
const LabelValue = v.pipe(v.string(), v.regex(/^[A-Za-z0-9._-]{0,63}$/, 'The value of a label'));

/** Below them are the ports that need no root, and what systems give out by themselves begins above. */
const PORTS = { least: 1_024, most: 65_535, from: 20_000, to: 29_999 };
const Port = v.pipe(v.number(), v.integer(), v.minValue(PORTS.least), v.maxValue(PORTS.most));

const JOIN_SECONDS = { least: 60, most: 24 * 3600, default: 900 };
export const JoinTtl = v.optional(
  v.pipe(v.number(), v.integer(), v.minValue(JOIN_SECONDS.least), v.maxValue(JOIN_SECONDS.most)),
  JOIN_SECONDS.default,
);

export const CreateNode = v.strictObject({
  name: Name,
  labels: v.optional(v.pipe(v.record(LabelName, LabelValue), v.maxEntries(LABELS_MAX)), {}),
  port_range: v.optional(v.strictObject({ from: Port, to: Port }), { from: PORTS.from, to: PORTS.to }),
  join_ttl_seconds: JoinTtl,
});

export const CordonNode = v.strictObject({ reason: v.optional(Description) });

export const DrainNode = v.strictObject({
  mode: v.picklist(DRAIN_MODES),
  reason: v.optional(Description),
});

export function planNode(
  id: NodeId,
  { name, labels, port_range }: v.InferOutput<typeof CreateNode>,
  { created_by, join_expires_at }: Required<Pick<Node, 'created_by' | 'join_expires_at'>>,
  now: Date,
): Node {
  if (port_range.from > port_range.to) {
    const detail = 'Expected a port that is not below /port_range/from.';
    throw refuse('request.invalid', { faults: [{ pointer: '/port_range/to', detail }] });
  }
  const at = now.toISOString();
  return {
    id,
    name,
    labels,
    status: 'pending',
    placement: 'open',
    port_range,
    join_expires_at,
    status_at: at,
    created_by,
    created_at: at,
    version: 1,
  };
}

/** What was removed is there to be read, and for nothing else. */
export function requirePresent(node: Node | undefined): Node {
  if (!node || node.status === 'removed') throw refuse('node.unknown');
  return node;
}

/** What may be asked to do something. One that is lost may still come back, and then finds what was asked of it. */
export function requireEnrolled(node: Node | undefined): Node {
  const present = requirePresent(node);
  if (present.status === 'pending') throw refuse('node.not_enrolled');
  return present;
}

const changed = (node: Node, change: Partial<Node>): Node => ({
  ...node,
  ...change,
  version: node.version + 1,
});

export const withStatus = (node: Node, status: NodeStatus, now: Date): Node =>
  changed(node, { status, status_at: now.toISOString() });

export const withJoinToken = (node: Node, join_expires_at: string): Node =>
  changed(node, { join_expires_at });

export type Placing = Pick<Node, 'placement' | 'placement_reason' | 'drain_mode'>;

/** What may be placed on it from now on; the same node where nothing changes. */
export function withPlacement(node: Node, placing: Placing): Node {
  const { placement, placement_reason, drain_mode, ...rest } = node;
  if (isDeepStrictEqual(clean({ placement, placement_reason, drain_mode }), clean(placing))) return node;
  return { ...rest, ...clean(placing), version: node.version + 1 };
}

const clean = ({ placement, placement_reason, drain_mode }: Placing): Placing => ({
  placement,
  ...(placement_reason !== undefined && { placement_reason }),
  ...(drain_mode !== undefined && { drain_mode }),
});

export const withInventory = (node: Node, inventory: Inventory): Node => changed(node, { inventory });

/** Its agent has joined: it is heard of from now on. */
export function enrolled(node: Node, host: { inventory: Inventory; queue_url: string }, now: Date): Node {
  const { join_expires_at: _, ...rest } = node;
  return { ...withStatus(rest, 'ready', now), ...host, enrolled_at: now.toISOString() };
}

export const subjectOfNode = ({ id }: Pick<Node, 'id'>): string => `node:${id}`;
export const pathOfNode = ({ id }: Pick<Node, 'id'>): string => `/api/v1/admin/nodes/${id}`;
