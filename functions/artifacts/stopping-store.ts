import { update, type Write } from '../platform/data/commit.ts';
import { updateItem } from '../platform/data/table.ts';
import type { EventId } from '../platform/ids.ts';
import type { Artifact } from './artifact.ts';
import { stoppingKey } from './keys.ts';

type Stopped = Pick<Artifact, 'id' | 'digest'>;

/** Notes that the stopping began. One that was requested earlier, or is over, does not begin again. */
export async function beginStopping({ id, digest }: Stopped, stopId: EventId, now: Date): Promise<void> {
  await updateItem(stoppingKey(digest, id), {
    update:
      'SET stop_id = :stop, #status = :running, started_at = :at, updated_at = :at, artifact_id = :artifact, instance_count = if_not_exists(instance_count, :zero)',
    // Ids sort by when they were made.
    condition: 'attribute_not_exists(stop_id) OR stop_id < :stop',
    names: { '#status': 'status' },
    values: {
      ':stop': stopId,
      ':running': 'running',
      ':at': now.toISOString(),
      ':artifact': id,
      ':zero': 0,
    },
  });
}

/** Counts those that are asked, in the transaction that asks them: so each is counted once. */
export function countAsked({ id, digest }: Stopped, count: number, now: Date): Write {
  return update(stoppingKey(digest, id), {
    update: 'SET updated_at = :at ADD instance_count :count',
    values: { ':at': now.toISOString(), ':count': count },
  });
}

/** Notes how it ended, unless a later one has begun. */
export async function endStopping(
  { id, digest }: Stopped,
  stopId: EventId,
  status: 'done' | 'failed',
  now: Date,
): Promise<void> {
  await updateItem(stoppingKey(digest, id), {
    update: 'SET #status = :status, updated_at = :at',
    condition: 'stop_id = :stop AND #status = :running',
    names: { '#status': 'status' },
    values: { ':stop': stopId, ':running': 'running', ':status': status, ':at': now.toISOString() },
  });
}
