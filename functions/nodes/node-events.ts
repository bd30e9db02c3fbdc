// What happens to hosts, as events tell it.

import * as v from 'valibot';
import { event } from '../platform/events.ts';
import { NodeId } from '../platform/ids.ts';
import { Time } from '../platform/name.ts';
import { ACCELERATORS, acceleratorOf } from './inventory.ts';
import { DRAIN_MODES, type Node } from './node.ts';

const Told = v.object({ node_id: NodeId, name: v.string() });
const tell = ({ id, name }: Node) => ({ node_id: id, name });

const WithReason = v.object({ ...Told.entries, reason: v.optional(v.string()) });
const tellReason = (node: Node) => ({ ...tell(node), reason: node.placement_reason });

const Equipped = v.object({
  ...Told.entries,
  accelerator: v.picklist(ACCELERATORS),
  gpu_count: v.number(),
  agent_version: v.string(),
});
const tellEquipped = (node: Node) => ({
  ...tell(node),
  accelerator: node.inventory ? acceleratorOf(node.inventory) : 'cpu',
  gpu_count: node.inventory?.gpus.length ?? 0,
  agent_version: node.inventory?.agent_version ?? '',
});

export const NodeCreated = event('platform.node.created', 1, Told, tell);
export const JoinTokenRenewed = event('platform.node.join_token_renewed', 1, Told, tell);
export const NodeEnrolled = event('platform.node.enrolled', 1, Equipped, tellEquipped);
export const NodeInventoryChanged = event('platform.node.inventory_changed', 1, Equipped, tellEquipped);
export const NodeCordoned = event('platform.node.cordoned', 1, WithReason, tellReason);
export const NodeUncordoned = event('platform.node.uncordoned', 1, Told, tell);
/** Nothing of what was there is there any more. */
export const NodeDrained = event('platform.node.drained', 1, Told, tell);
export const NodeRemoved = event('platform.node.removed', 1, Told, tell);
export const NodeRecovered = event('platform.node.recovered', 1, Told, tell);

export const DrainRequested = event(
  'platform.node.drain_requested',
  1,
  v.object({ ...WithReason.entries, mode: v.picklist(DRAIN_MODES) }),
  (node: Node, mode: (typeof DRAIN_MODES)[number]) => ({ ...tellReason(node), mode }),
);

const Silent = v.object({ ...Told.entries, last_heartbeat_at: Time });
const tellSilent = (node: Node, last_heartbeat_at: string) => ({ ...tell(node), last_heartbeat_at });
export const NodeSuspect = event('platform.node.suspect', 1, Silent, tellSilent);
export const NodeLost = event('platform.node.lost', 1, Silent, tellSilent);

/** Somebody has the token of a join that was not theirs, or a key that is another node's. */
export const JoinRefused = event(
  'platform.node.join_refused',
  1,
  v.object({ ...Told.entries, code: v.string() }),
  (node: Node, code: string) => ({ ...tell(node), code }),
);

/** Two agents speak with one key; at most one of them is the host. */
export const NodeKeyCloned = event(
  'platform.node.key_cloned',
  1,
  v.object({ ...Told.entries, run_id: v.string(), later_run_id: v.string() }),
  (node: Node, runs: { run_id: string; later_run_id: string }) => ({ ...tell(node), ...runs }),
);
