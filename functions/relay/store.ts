import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import { dynamo } from '../platform/clients.ts';
import { commit, Conflict, putNew, update, type Write } from '../platform/commit.ts';
import { Refusal, refuse } from '../platform/errors.ts';
import { feedHeadKey, feedKey, outboxKey } from '../platform/keys.ts';
import { controlTable, type Key, readItem } from '../platform/table.ts';
import { type FeedEvent, feedExpiry, inOrderSaid, numberEvents, OutboxEvent } from './feed.ts';
import { numberedKey } from './keys.ts';

const ATTEMPTS_MAX = 5;

const Numbered = v.object({ sequence: v.number() });
const OutboxRow = v.object({ event: OutboxEvent });

/**
 * Puts events of the outbox on the feed of their place and returns them with their numbers, in order. An event that
 * has a number keeps it: the number, the event and the feed's new end are written together, so whoever comes
 * second, or again, finds them there.
 */
export async function putOnFeed(place: string, eventIds: string[], now: () => Date): Promise<FeedEvent[]> {
  for (let attempts = 1; ; attempts += 1) {
    const { events, numbered, head } = await readPlace(place, eventIds);
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
    return onFeed.sort((a, b) => a.sequence - b.sequence);
  }
}

/** The number of the last event on the feed; nought when there is none. */
export async function findHead(place: string): Promise<number> {
  return sequenceOf(await readItem(feedHeadKey(place)));
}

// One request for the outbox rows, which of them have a number, and the feed's end: all as of now, not as of when
// the stream was written.
async function readPlace(
  place: string,
  eventIds: string[],
): Promise<{ events: OutboxEvent[]; numbered: Map<string, number>; head: number }> {
  const table = controlTable();
  const keys = [
    feedHeadKey(place),
    ...eventIds.flatMap((id) => [outboxKey(place, id), numberedKey(place, id)]),
  ];
  const answer = await dynamo().send(
    new BatchGetCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
  );
  if (Object.keys(answer.UnprocessedKeys ?? {}).length > 0) throw refuse('unavailable');
  const items = new Map((answer.Responses?.[table] ?? []).map((item) => [nameOf(item as Key), item]));
  const find = (key: Key) => items.get(nameOf(key));
  return {
    // One that has expired was given up long ago.
    events: eventIds.flatMap((id) => {
      const row = find(outboxKey(place, id));
      return row ? [v.parse(OutboxRow, row).event] : [];
    }),
    numbered: new Map(
      eventIds.flatMap((id) => {
        const row = find(numberedKey(place, id));
        return row ? [[id, sequenceOf(row)] as const] : [];
      }),
    ),
    head: sequenceOf(find(feedHeadKey(place))),
  };
}

function moveHead(place: string, from: number, to: number): Write {
  return update(
    feedHeadKey(place),
    {
      update: 'SET #sequence = :to',
      condition: from === 0 ? 'attribute_not_exists(pk)' : '#sequence = :from',
      names: { '#sequence': 'sequence' },
      values: { ':to': to, ...(from > 0 && { ':from': from }) },
    },
    'request.conflict',
  );
}

function insert(place: string, events: FeedEvent[], now: Date): Write[] {
  const expires_at = feedExpiry(now);
  return events.flatMap((event) => [
    putNew({ ...feedKey(place, event.sequence), ...event, expires_at }, 'request.conflict'),
    putNew(
      { ...numberedKey(place, event.event_id), sequence: event.sequence, expires_at },
      'request.conflict',
    ),
  ]);
}

function sequenceOf(item: Record<string, unknown> | undefined): number {
  return item ? v.parse(Numbered, item).sequence : 0;
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

function pause(attempts: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, Math.random() * 20 * 2 ** attempts));
}
