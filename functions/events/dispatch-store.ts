import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { dynamo } from '../platform/clients.ts';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { controlTable } from '../platform/data/table.ts';
import type { EventId } from '../platform/ids.ts';
import { dispatchedKey } from './keys.ts';
import { refuse } from './problems.ts';

/** Longer than the outbox row itself. */
const KEPT_SECONDS = 8 * 24 * 3600;
const TOGETHER_MAX = 25;

/** Records that the reacting domains were notified of these events. */
export async function markDispatched(eventIds: EventId[], now: Date): Promise<void> {
  const table = controlTable();
  const expires_at = epochSeconds(secondsAfter(now, KEPT_SECONDS));
  const ids = [...new Set(eventIds)];
  for (let start = 0; start < ids.length; start += TOGETHER_MAX) {
    const puts = ids
      .slice(start, start + TOGETHER_MAX)
      .map((id) => ({ PutRequest: { Item: { ...dispatchedKey(id), expires_at } } }));
    const { UnprocessedItems } = await dynamo().send(
      new BatchWriteCommand({ RequestItems: { [table]: puts } }),
    );
    if (Object.keys(UnprocessedItems ?? {}).length > 0) throw refuse('unavailable');
  }
}
