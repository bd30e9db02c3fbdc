import type { Context } from '../platform/context.ts';
import type { EventId, PlaceId } from '../platform/ids.ts';
import { streamConsumer } from '../platform/workflow/stream.ts';
import { relayOrSetAside } from './relay-or-set-aside.ts';
import { eventIdOf, placeOf, sequenceNumberOf } from './stream-record.ts';

/**
 * Publishes the events committed to the outbox. Places do not wait for each other. A stream record only points to a
 * row; the rows are read again. During an outage the stream returns to the first event that was not relayed.
 */
export const handler = streamConsumer(async (ctx, records) => {
  const left = await Promise.all(
    [...Map.groupBy(records, placeOf)].map(async ([place, ofPlace]) =>
      (await isRelayed(ctx, place, [...new Set(ofPlace.map(eventIdOf))])) ? [] : ofPlace,
    ),
  );
  return { batchItemFailures: left.flat().map((record) => ({ itemIdentifier: sequenceNumberOf(record) })) };
});

async function isRelayed(ctx: Context, place: PlaceId, eventIds: EventId[]): Promise<boolean> {
  try {
    await relayOrSetAside(ctx, place, eventIds);
    return true;
  } catch (error) {
    ctx.log.error('Events could not be relayed; they will be tried again.', {
      place,
      event_ids: eventIds,
      error,
    });
    return false;
  }
}
