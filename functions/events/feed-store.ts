import * as v from 'valibot';
import { commit, Conflict, putNew, update, type Write } from '../platform/data/commit.ts';
import { Refusal } from '../platform/errors.ts';
import type { PlatformEvent } from '../platform/events.ts';
import { feedHeadKey, feedKey, outboxKey } from '../platform/data/keys.ts';
import { OutboxRow } from '../platform/data/outbox.ts';
import { readItems } from '../platform/data/rows.ts';
import { queryPage, readItem, updateItem } from '../platform/data/table.ts';
import type { EventId, PlaceId } from '../platform/ids.ts';
import { FeedEvent, feedExpiry, inOrderSaid, numberEvents } from './feed.ts';
import { numberedKey } from './keys.ts';

const ATTEMPTS_MAX = 5;

const Numbered = v.object({ sequence: v.number() });
const Head = v.object({ sequence: v.number(), relayed: v.optional(v.number()) });

type Row = Record<string, unknown> | undefined;

/** The end of a feed, and how far it has been put on the bus. Old rows lack the latter. */
export function headOf(item: Row): { sequence: number; relayed: number } {
  const { sequence, relayed = sequence } = v.parse(Head, item ?? { sequence: 0 });
  return { sequence, relayed };
}

/** The number of an event, if it has one. */
export const numberOf = (item: Row): number | undefined => item && v.parse(Numbered, item).sequence;

export interface OnFeed {
  /** With their numbers, in order. */
  events: FeedEvent[];
  /** Everything up to this number was put on the bus. */
  relayed: number;
  /** Rows that are no events. */
  unreadable: EventId[];
}

/**
 * Puts events of the outbox on the feed of their place. An event that has a number keeps it: the number, the event
 * and the feed's new end are one transaction, so a concurrent or repeated call finds them.
 */
export async function putOnFeed(place: PlaceId, eventIds: EventId[], now: () => Date): Promise<OnFeed> {
  for (let attempts = 1; ; attempts += 1) {
    const { events, unreadable, numbered, head, relayed } = await readPlace(place, eventIds);
    const onFeed = numberEvents(inOrderSaid(events), numbered, head);
    const fresh = onFeed.filter(({ event_id }) => !numbered.has(event_id));
    if (fresh.length > 0) {
      try {
        await commit([moveHead(place, head, head + fresh.length), ...insert(place, fresh, now())]);
      } catch (error) {
        const isMeeting = error instanceof Conflict || error instanceof Refusal;
        if (!isMeeting || attempts === ATTEMPTS_MAX) throw error;
        await pause(attempts);
        continue;
      }
    }
    return { events: onFeed.sort((a, b) => a.sequence - b.sequence), relayed, unreadable };
  }
}

/** The number of the last event on the feed; nought when there is none. */
export async function findHead(place: PlaceId): Promise<number> {
  return headOf(await readItem(feedHeadKey(place))).sequence;
}

/** Events between two numbers, the first of them left out. */
export async function readBetween(
  place: PlaceId,
  after: number,
  last: number,
  limit: number,
): Promise<FeedEvent[]> {
  const { items } = await queryPage({
    condition: 'pk = :feed AND sk BETWEEN :first AND :last',
    values: {
      ':feed': feedKey(place, 0).pk,
      ':first': feedKey(place, after + 1).sk,
      ':last': feedKey(place, last).sk,
    },
    limit,
    consistent: true,
  });
  return items.map((item) => v.parse(FeedEvent, item));
}

/** Records that everything up to this number was put on the bus. It only grows: two relays may run at once. */
export async function markRelayed(place: PlaceId, sequence: number): Promise<void> {
  await updateItem(feedHeadKey(place), {
    update: 'SET relayed = :sequence',
    condition: 'relayed < :sequence OR attribute_not_exists(relayed)',
    values: { ':sequence': sequence },
  });
}

interface Read {
  events: PlatformEvent[];
  unreadable: EventId[];
  numbered: Map<EventId, number>;
  head: number;
  relayed: number;
}

// One request for the outbox rows, which of them have a number, and the feed's end: all as of now, not as of when
// the stream was written.
async function readPlace(place: PlaceId, eventIds: EventId[]): Promise<Read> {
  const [found, ...rows] = await readItems([
    feedHeadKey(place),
    ...eventIds.map((id) => outboxKey(place, id)),
    ...eventIds.map((id) => numberedKey(place, id)),
  ]);
  const { sequence: head, relayed } = headOf(found);
  const read: Read = { events: [], unreadable: [], numbered: new Map(), head, relayed };
  for (const [index, id] of eventIds.entries()) {
    const row = rows[index];
    const sequence = numberOf(rows[eventIds.length + index]);
    if (sequence !== undefined) read.numbered.set(id, sequence);
    // An expired event was given up long ago.
    if (!row) continue;
    const { success, output } = v.safeParse(OutboxRow, row);
    if (success) read.events.push(output.event);
    else read.unreadable.push(id);
  }
  return read;
}

function moveHead(place: PlaceId, from: number, to: number): Write {
  // A new feed has relayed = 0, unlike an old row without the attribute.
  const isNew = from === 0;
  return update(feedHeadKey(place), {
    update: isNew ? 'SET #sequence = :to, relayed = :from' : 'SET #sequence = :to',
    condition: isNew ? 'attribute_not_exists(pk)' : '#sequence = :from',
    names: { '#sequence': 'sequence' },
    values: { ':to': to, ':from': from },
  });
}

function insert(place: PlaceId, events: FeedEvent[], now: Date): Write[] {
  const expires_at = feedExpiry(now);
  return events.flatMap((event) => [
    putNew({ ...feedKey(place, event.sequence), ...event, expires_at }),
    putNew({ ...numberedKey(place, event.event_id), sequence: event.sequence, expires_at }),
  ]);
}

function pause(attempts: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** attempts));
}
