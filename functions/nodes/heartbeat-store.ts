import * as v from 'valibot';
import { change, sameAs, type Write } from '../platform/data/commit.ts';
import { readItems } from '../platform/data/rows.ts';
import { updateAndRead } from '../platform/data/table.ts';
import type { NodeId } from '../platform/ids.ts';
import type { Heartbeat } from './agent-api.ts';
import { KeptHeartbeat } from './heartbeat.ts';
import { heartbeatKey, nodeKey } from './keys.ts';
import { Node } from './node.ts';

/** A run that speaks after a later one has spoken is not written. */
const NOT_AFTER_A_LATER_RUN =
  'attribute_exists(pk) AND (attribute_not_exists(run_id) OR run_id = :run_id OR run_started_at < :run_started_at)';

/** One write. What it did not tell stays as it was told before; nothing where a later run has spoken. */
export async function writeHeartbeat(
  id: NodeId,
  heartbeat: Heartbeat,
  now: Date,
): Promise<KeptHeartbeat | undefined> {
  const told = Object.entries({ ...heartbeat, at: now.toISOString() }).filter(
    ([, value]) => value !== undefined,
  );
  const kept = await updateAndRead(heartbeatKey(id), {
    update: `SET ${told.map(([name]) => `#${name} = :${name}`).join(', ')}`,
    condition: NOT_AFTER_A_LATER_RUN,
    names: Object.fromEntries(told.map(([name]) => [`#${name}`, name])),
    values: Object.fromEntries(told.map(([name, value]) => [`:${name}`, value])),
  });
  return kept && v.parse(KeptHeartbeat, kept);
}

export async function findHeard(
  id: NodeId,
): Promise<{ node: Node | undefined; heartbeat: KeptHeartbeat | undefined }> {
  const [node, heartbeat] = await readItems([nodeKey(id), heartbeatKey(id)]);
  return {
    node: v.parse(v.optional(Node), node),
    heartbeat: v.parse(v.optional(KeptHeartbeat), heartbeat),
  };
}

/** At most as many as one request may ask for, in their order. */
export async function findHeartbeats(ids: NodeId[]): Promise<(KeptHeartbeat | undefined)[]> {
  const rows = await readItems(ids.map(heartbeatKey));
  return rows.map((row) => v.parse(v.optional(KeptHeartbeat), row));
}

/** Only while no heartbeat has come since. */
export const markSilent = (id: NodeId, { at }: KeptHeartbeat, marked: KeptHeartbeat['marked']): Write =>
  change(
    heartbeatKey(id),
    { marked },
    { condition: '#at = :seen', names: { '#at': 'at' }, values: { ':seen': at } },
  );

export const unmark = (id: NodeId, marked: KeptHeartbeat['marked']): Write =>
  change(
    heartbeatKey(id),
    { marked: undefined },
    { condition: '#marked = :marked', values: { ':marked': marked } },
  );

/** Only while the run that has spoken last is the one that was read. */
export const noteRefusedRun = (id: NodeId, laterRunId: string, refused_run_id: string): Write =>
  change(heartbeatKey(id), { refused_run_id }, sameAs({ run_id: laterRunId }));
