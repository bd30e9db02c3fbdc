// Events between being committed and being told: where they lie, and how they are pointed at.

import * as v from 'valibot';
import { epochSeconds, secondsAfter } from '../clock.ts';
import { putNew, type Write } from './commit.ts';
import { type DomainEvent, PlatformEvent } from '../events.ts';
import { type CorrelationId, type EventId, type PlaceId, textOf } from '../ids.ts';
import { OUTBOX_KIND, outboxKey, outboxShard, placeId } from './keys.ts';

const EVENT_CHARACTERS_MAX = 64 * 1024;
const KEPT_SECONDS = 7 * 24 * 3600;

/** Where an event lies, as queues carry it. What it says stays in the table. */
export const Pointer = v.object({
  place: textOf<PlaceId>(),
  event_id: textOf<EventId>(),
  type: v.string(),
  correlation_id: textOf<CorrelationId>(),
  traceparent: v.optional(v.string()),
});
export type Pointer = v.InferOutput<typeof Pointer>;

export const OutboxRow = v.object({
  event: PlatformEvent,
  /** What the same change said before, in the same place. */
  follows: v.optional(v.array(textOf<EventId>()), []),
});

type Told = PlatformEvent & DomainEvent;

/** The rows of all events of a change, in the order it says them, which the stream does not keep. */
export function insertSaid(events: Told[], now: Date): Write[] {
  return events.map((told, index) => {
    const before = events.slice(0, index).filter((other) => placeId(other) === placeId(told));
    return insertOutbox(
      told,
      now,
      before.map(({ event_id }) => event_id),
    );
  });
}

/** A row of the outbox: committed with the change, published by the stream. */
export function insertOutbox(told: Told, now: Date, follows: EventId[] = []): Write {
  const { place: _, ...event } = told;
  // Over this it could not be pushed to a socket; events say what happened, not everything about it.
  if (JSON.stringify(event).length > EVENT_CHARACTERS_MAX)
    throw new Error(`The event ${event.type} is too large.`);
  const place = placeId(event);
  return putNew({
    ...outboxKey(place, event.event_id),
    kind: OUTBOX_KIND,
    event,
    ...(follows.length > 0 && { follows }),
    // For the sweep, which looks for what was never relayed or dispatched.
    gsi1pk: outboxShard(place),
    gsi1sk: event.event_id,
    expires_at: epochSeconds(secondsAfter(now, KEPT_SECONDS)),
  });
}
