import * as v from 'valibot';
import { type EventId, type PlaceId, textOf } from '../platform/ids.ts';
import { queueConsumer } from '../platform/workflow/consumer.ts';
import { relayPlace } from './relay-place.ts';
import { refuse } from './problems.ts';

const SetAside = v.object({ place: textOf<PlaceId>(), event_id: textOf<EventId>() });

/** Retries events that were set aside. Those that fail again go to the failure queue and can be redriven. */
export const handler = queueConsumer(SetAside, async (ctx, { place, event_id }) => {
  const { failed, isOnBus } = await relayPlace(ctx, place, [event_id], { isAgain: true });
  if (failed.length > 0) throw new Error('The event cannot be read, or the bus rejects it.');
  if (!isOnBus) throw refuse('unavailable', { detail: 'The bus is unavailable.' });
});
