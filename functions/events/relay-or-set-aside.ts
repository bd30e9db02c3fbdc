import type { Context } from '../platform/context.ts';
import { environment } from '../platform/environment.ts';
import type { EventId, PlaceId } from '../platform/ids.ts';
import { isOutage } from '../platform/workflow/outage.ts';
import { type Relayed, relayPlace } from './relay-place.ts';
import { sendAll } from './send-all.ts';

/**
 * Relays events of one place. Events that fail on their own are set aside, so that they delay no others; an outage is
 * thrown, and the caller waits.
 */
export async function relayOrSetAside(ctx: Context, place: PlaceId, eventIds: EventId[]): Promise<Relayed> {
  const relayed = await relayPlace(ctx, place, eventIds).catch((error: unknown): Relayed => {
    if (isOutage(error)) throw error;
    ctx.log.error('Events could not be relayed and are set aside.', { place, event_ids: eventIds, error });
    return { failed: eventIds, isOnBus: true };
  });
  await setAside(ctx, place, relayed.failed);
  return relayed;
}

/** They go to the relay's own queue, one message each; if they fail again, a person looks at them. */
async function setAside(ctx: Context, place: PlaceId, eventIds: EventId[]): Promise<void> {
  const found = { correlation_id: ctx.correlationId, traceparent: ctx.traceparent };
  await sendAll(
    environment('RELAY_QUEUE_URL'),
    eventIds.map((event_id) => ({ place, event_id, ...found })),
  );
}
