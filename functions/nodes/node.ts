// A host: how it joined, whether it is heard of, and whether anything may be placed on it.

import * as v from 'valibot';
import { textOf, type NodeId } from '../platform/ids.ts';
import { Inventory } from './inventory.ts';

/**
 * pending: created, no agent has enrolled yet. ready: its heartbeats come. suspect: some were missed. lost: so many that
 * nobody waits any longer; what ran there is marked, not guessed. removed: kept only to be read.
 */
export const NODE_STATUSES = ['pending', 'ready', 'suspect', 'lost', 'removed'] as const;
export type NodeStatus = (typeof NODE_STATUSES)[number];

/** open: takes allocations. cordoned: takes none, and what is there goes on. draining: is to become empty. drained: is. */
export const NODE_PLACEMENTS = ['open', 'cordoned', 'draining', 'drained'] as const;
export type NodePlacement = (typeof NODE_PLACEMENTS)[number];

export const Node = v.object({
  id: textOf<NodeId>(),
  name: v.string(),
  labels: v.record(v.string(), v.string()),
  status: v.picklist(NODE_STATUSES),
  placement: v.picklist(NODE_PLACEMENTS),
  placement_reason: v.optional(v.string()),
  /** From its agent; absent until it has enrolled. */
  inventory: v.optional(Inventory),
  /** Which tenants' ports may be published on its loopback. */
  port_range: v.object({ from: v.number(), to: v.number() }),
  queue_url: v.optional(v.string()),
  /** SHA-256 of the join token, until it is used. */
  join_token_hash: v.optional(v.string()),
  join_expires_at: v.optional(v.string()),
  enrolled_at: v.optional(v.string()),
  /** When it was last found to be of this status. */
  status_at: v.string(),
  created_by: v.string(),
  created_at: v.string(),
  version: v.number(),
});
export type Node = v.InferOutput<typeof Node>;
