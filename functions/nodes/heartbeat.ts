// What is known of a host from its heartbeats, and what follows from them or from their absence.

import * as v from 'valibot';
import type { NodeStatus } from './node.ts';

/** As kept: the last of everything a heartbeat told. */
export const KeptHeartbeat = v.object({
  /** By the platform's clock. Enrolling counts as one. */
  at: v.string(),
  run_id: v.optional(v.string()),
  run_started_at: v.optional(v.string()),
  sequence: v.optional(v.number()),
  agent_version: v.optional(v.string()),
  workloads: v.optional(v.number()),
  disk_free_gib: v.optional(v.number()),
  memory_free_mib: v.optional(v.number()),
  load: v.optional(v.number()),
  problems: v.optional(v.array(v.string())),
  /** The node was marked so since: the next heartbeat says that it is back. */
  marked: v.optional(v.picklist(['suspect', 'lost'])),
  /** The run that was refused because a later one had spoken; recorded once. */
  refused_run_id: v.optional(v.string()),
});
export type KeptHeartbeat = v.InferOutput<typeof KeptHeartbeat>;

export interface Patience {
  suspectSeconds: number;
  lostSeconds: number;
}

/** Of a node that has enrolled: how it stands after a silence. */
export function statusBySilence(
  { at }: Pick<KeptHeartbeat, 'at'>,
  { suspectSeconds, lostSeconds }: Patience,
  now: Date,
): Extract<NodeStatus, 'ready' | 'suspect' | 'lost'> {
  const silentSeconds = (now.getTime() - Date.parse(at)) / 1000;
  if (silentSeconds >= lostSeconds) return 'lost';
  return silentSeconds >= suspectSeconds ? 'suspect' : 'ready';
}

const RANK: Partial<Record<NodeStatus, number>> = { ready: 0, suspect: 1, lost: 2 };

/** Only a heartbeat makes a node better; the silence makes it worse. */
export function isWorse(found: NodeStatus, known: NodeStatus): boolean {
  return (RANK[found] ?? 0) > (RANK[known] ?? Infinity);
}
