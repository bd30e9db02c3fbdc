// A node as administrators see it.

import * as v from 'valibot';
import { NodeId } from '../platform/ids.ts';
import { Time } from '../platform/name.ts';
import { type Capacity, freeOf, isIdle, totalOf } from './capacity.ts';
import { KeptHeartbeat } from './heartbeat.ts';
import { ACCELERATORS, acceleratorOf, Inventory } from './inventory.ts';
import { type Node, NODE_PLACEMENTS, NODE_STATUSES, type NodePlacement } from './node.ts';
import { placementFaults } from './placeable.ts';

const HeldOf = v.object({ held: v.number(), total: v.number() });

/** In a list. */
export const NodeSummary = v.object({
  id: NodeId,
  name: v.string(),
  labels: v.record(v.string(), v.string()),
  status: v.picklist(NODE_STATUSES),
  placement: v.picklist(NODE_PLACEMENTS),
  placement_reason: v.optional(v.string()),
  /** Why nothing new is placed on it; empty where it may be. */
  placement_faults: v.array(v.object({ code: v.string(), detail: v.string() })),
  accelerator: v.optional(v.picklist(ACCELERATORS)),
  port_range: v.object({ from: v.number(), to: v.number() }),
  join_expires_at: v.optional(Time),
  enrolled_at: v.optional(Time),
  status_at: Time,
  created_by: v.string(),
  created_at: Time,
  version: v.number(),
});
export type NodeSummary = v.InferOutput<typeof NodeSummary>;

export const NodePage = v.object({ items: v.array(NodeSummary), next_cursor: v.nullable(v.string()) });

const HeartbeatView = v.object({
  ...v.omit(KeptHeartbeat, ['marked', 'refused_run_id', 'at', 'run_started_at']).entries,
  at: Time,
  run_started_at: v.optional(Time),
});

const CapacityView = v.object({
  allocations: v.number(),
  volumes: v.number(),
  gpus: HeldOf,
  vcpu: HeldOf,
  memory_mib: HeldOf,
  disk_gib: HeldOf,
});

export const NodeView = v.object({
  ...NodeSummary.entries,
  inventory: v.optional(Inventory),
  last_heartbeat: v.optional(HeartbeatView),
  /** Of what the inventory tells; absent until there is one. */
  capacity: v.optional(CapacityView),
});
export type NodeView = v.InferOutput<typeof NodeView>;

/** Told once; later replays of the same request leave the token and the command out. */
export const NodeWithToken = v.object({
  ...NodeSummary.entries,
  join_token: v.optional(v.string()),
  /** Run on the host, as root, before the token expires. */
  join_command: v.optional(v.string()),
});

export function summarizeNode(node: Node, capacity?: Capacity): NodeSummary {
  const { queue_url: _, inventory, ...shown } = node;
  return {
    ...shown,
    placement: shownPlacement(node, capacity),
    placement_faults: placementFaults(node),
    ...(inventory && { accelerator: acceleratorOf(inventory) }),
  };
}

/** A node that is to become empty is drained as soon as it is. */
const shownPlacement = ({ placement }: Node, capacity: Capacity | undefined): NodePlacement =>
  placement === 'draining' && capacity && isIdle(capacity) ? 'drained' : placement;

export function viewNode(node: Node, heartbeat: KeptHeartbeat | undefined, capacity: Capacity): NodeView {
  const { inventory } = node;
  return {
    ...summarizeNode(node, capacity),
    ...(inventory && { inventory, capacity: viewCapacity(inventory, capacity) }),
    ...(heartbeat && { last_heartbeat: viewHeartbeat(heartbeat) }),
  };
}

function viewHeartbeat(heartbeat: KeptHeartbeat): v.InferOutput<typeof HeartbeatView> {
  const { marked: _, refused_run_id: __, ...shown } = heartbeat;
  return shown;
}

function viewCapacity(inventory: Inventory, capacity: Capacity): v.InferOutput<typeof CapacityView> {
  const [total, free] = [totalOf(inventory), freeOf(inventory, capacity)];
  const heldOf = (of: 'vcpu' | 'memory_mib' | 'disk_gib') => ({
    held: total[of] - free[of],
    total: total[of],
  });
  return {
    allocations: capacity.holds.length,
    volumes: capacity.volumes.length,
    gpus: { held: total.gpus.length - free.gpus.length, total: total.gpus.length },
    vcpu: heldOf('vcpu'),
    memory_mib: heldOf('memory_mib'),
    disk_gib: heldOf('disk_gib'),
  };
}

/** One line for the host; the token is not among the arguments, which others on the machine could read. */
export const joinCommand = (platformUrl: string, { id }: Pick<Node, 'id'>, token: string): string =>
  `curl -fsSL ${platformUrl}/api/v1/agent/bootstrap.sh | sudo GPUAAS_JOIN_TOKEN=${token} sh -s -- --node ${id}`;
