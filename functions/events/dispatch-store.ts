import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { putItems } from '../platform/data/table.ts';
import type { EventId } from '../platform/ids.ts';
import { dispatchedKey } from './keys.ts';

/** Longer than the outbox row itself. */
const KEPT_SECONDS = 8 * 24 * 3600;

/** Records that the reacting domains were notified of these events. */
export async function markDispatched(eventIds: EventId[], now: Date): Promise<void> {
  const expires_at = epochSeconds(secondsAfter(now, KEPT_SECONDS));
  await putItems([...new Set(eventIds)].map((id) => ({ ...dispatchedKey(id), expires_at })));
}
