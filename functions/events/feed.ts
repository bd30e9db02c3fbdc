// The feed of a place: its events, numbered from one without a gap, in the order they happened.

import * as v from 'valibot';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { PlatformEvent } from '../platform/events.ts';
import { feedPosition } from '../platform/data/keys.ts';
import type { EventId } from '../platform/ids.ts';
import { decodeCursor, encodeCursor } from '../platform/page.ts';

/** An event with its number in the feed of its place. */
export const FeedEvent = v.object({ ...PlatformEvent.entries, sequence: v.number() });

export type FeedEvent = v.InferOutput<typeof FeedEvent>;

const KEPT_SECONDS = 90 * 24 * 3600;

/** When an event that is put on the feed now leaves it. */
export function feedExpiry(now: Date): number {
  return epochSeconds(secondsAfter(now, KEPT_SECONDS));
}

/**
 * The stream keeps the order of changes in one place, but not the order of the events of one change: that is in their
 * ids, which one process created one after the other.
 */
export function inOrderSaid<T extends PlatformEvent>(events: T[]): T[] {
  const changes = Map.groupBy(events, (event) => `${event.correlation_id} ${event.occurred_at}`);
  return [...changes.values()].flatMap((said) => said.toSorted((a, b) => (a.event_id < b.event_id ? -1 : 1)));
}

/** Gives the next numbers to the events that have none; the others keep theirs. */
export function numberEvents(
  events: PlatformEvent[],
  numbered: ReadonlyMap<EventId, number>,
  head: number,
): FeedEvent[] {
  let last = head;
  return events.map((event) => ({ ...event, sequence: numbered.get(event.event_id) ?? (last += 1) }));
}

const POSITION = /^\d{15}$/;

/** Opaque to callers: everything up to this number has been seen. */
export function cursorAt(sequence: number): string {
  return encodeCursor(feedPosition(sequence)) ?? '';
}

/** Without a cursor, the beginning. */
export function sequenceAt(cursor: string | undefined): number {
  return Number(decodeCursor(cursor, POSITION) ?? 0);
}

/** How long a committed transaction may be visible only in part. */
const SETTLING_SECONDS = 10;

/**
 * The events after a number that have no gap before them. A read may see the later of two events that were written
 * together before the earlier one; a reader who continued from there would miss it. A gap before an older event only
 * means that the missing event has expired.
 */
export function settled<T extends { sequence: number; expires_at: number }>(
  found: T[],
  after: number,
  now: Date,
): T[] {
  const settledBefore = feedExpiry(secondsAfter(now, -SETTLING_SECONDS));
  const hole = found.findIndex(({ sequence, expires_at }, index) => {
    const before = index === 0 ? after : (found[index - 1]?.sequence ?? after);
    return sequence !== before + 1 && expires_at > settledBefore;
  });
  return hole === -1 ? found : found.slice(0, hole);
}
