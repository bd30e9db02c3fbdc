import type { DynamoDBBatchResponse, DynamoDBStreamEvent } from 'aws-lambda';
import { type Context, createContext } from '../platform/context.ts';
import { newId } from '../platform/ids.ts';
import { relayOrSetAside } from './relay-or-set-aside.ts';
import { eventIdOf, placeOf, sequenceNumberOf } from './stream-record.ts';

/**
 * Publishes what was committed to the outbox. Places do not wait for each other. The record says no more than where a
 * row is: the rows are read again. While something is away, the stream comes back to the first event that is left.
 */
export const handler = async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
  const ctx = createContext(newId());
  const left = await Promise.all(
    [...Map.groupBy(Records, placeOf)].map(async ([place, records]) =>
      (await isRelayed(ctx, place, [...new Set(records.map(eventIdOf))])) ? [] : records,
    ),
  );
  return { batchItemFailures: left.flat().map((record) => ({ itemIdentifier: sequenceNumberOf(record) })) };
};

async function isRelayed(ctx: Context, place: string, eventIds: string[]): Promise<boolean> {
  try {
    await relayOrSetAside(ctx, place, eventIds);
    return true;
  } catch (error) {
    ctx.log.error('Events could not be relayed; they come again.', { place, event_ids: eventIds, error });
    return false;
  }
}
