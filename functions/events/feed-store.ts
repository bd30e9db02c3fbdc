import * as v from 'valibot';
import { decidingAgain } from '../platform/data/change.ts';
import { commit, putNew, update, type Write } from '../platform/data/commit.ts';
import type { PlatformEvent } from '../platform/events.ts';
import { feedHeadKey, feedKey, outboxKey } from '../platform/data/keys.ts';
import { OutboxRow } from '../platform/data/outbox.ts';
import { readItems } from '../platform/data/rows.ts';
import { queryPage, readItem, updateItem } from '../platform/data/table.ts';
import type { EventId, PlaceId } from '../platform/ids.ts';
import { FeedEvent, feedExpiry, inOrderSaid, numberEvents } from './feed.ts';
import { numberedKey, RELAYED_TOGETHER_MAX } from './keys.ts';
import { refuse } from './problems.ts';

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
 * Puts events of the outbox on the feed of their place, and what the same changes said before them. An event that has a
 * number keeps it: the number, the event and the feed's new end are one transaction, so a concurrent or repeated call
 * finds them.
 */
export function putOnFeed(place: PlaceId, eventIds: EventId[], now: () => Date): Promise<OnFeed> {
  return decidingAgain(async () => {
    const { events, unreadable, numbered, head, relayed } = await readWhole(place, eventIds);
    const onFeed = numberEvents(inOrderSaid(events), numbered, head);
    const fresh = onFeed.filter(({ event_id }) => !numbered.has(event_id));
    const next = fresh.slice(0, RELAYED_TOGETHER_MAX);
    if (next.length > 0)
      await commit([moveHead(place, head, head + next.length), ...insert(place, next, now())]);
    if (next.length < fresh.length) return putOnFeed(place, eventIds, now);
    return { events: onFeed.sort((a, b) => a.sequence - b.sequence), relayed, unreadable };
  }, refuse('unavailable'));
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
  /** What the same changes said before. */
  earlier: EventId[];
  unreadable: EventId[];
  numbered: Map<EventId, number>;
  head: number;
  relayed: number;
}

// The stream may have the later event of a change first, and end a batch between the two. The earlier one, committed
// with it, is in the outbox: it gets its number first.
async function readWhole(place: PlaceId, eventIds: EventId[]): Promise<Read> {
  const read = await readPlace(place, eventIds);
  const earlier = [...new Set(read.earlier)].filter((id) => !eventIds.includes(id));
  for (let start = 0; start < earlier.length; start += RELAYED_TOGETHER_MAX) {
    const { events, numbered } = await readPlace(place, earlier.slice(start, start + RELAYED_TOGETHER_MAX));
    read.events.push(...events.filter(({ event_id }) => !numbered.has(event_id)));
  }
  return read;
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
  const read: Read = { events: [], earlier: [], unreadable: [], numbered: new Map(), head, relayed };
  for (const [index, id] of eventIds.entries()) {
    const row = rows[index];
    const sequence = numberOf(rows[eventIds.length + index]);
    if (sequence !== undefined) read.numbered.set(id, sequence);
    // An expired event was given up long ago.
    if (!row) continue;
    const { success, output } = v.safeParse(OutboxRow, row);
    if (success) {
      read.events.push(output.event);
      read.earlier.push(...output.follows);
    } else read.unreadable.push(id);
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
