import { type Context, createContext } from '../platform/context.ts';
import type { EventId, PlaceId } from '../platform/ids.ts';
import { countOffBus } from '../platform/metrics.ts';
import { gatherAudience } from './gather-audience.ts';
import { admitFollowers } from './admit-followers.ts';
import { cursorAt, type FeedEvent } from './feed.ts';
import { eventTopic } from './keys.ts';
import { putOnBus } from './put-on-bus.ts';
import { markRelayed, putOnFeed, readBetween } from './feed-store.ts';

/** After an outage of the bus, missed events are sent in parts, at most this many per call. */
const PART = 100;
const PARTS_MAX = 20;

export interface Relayed {
  /** Events that will not be relayed by trying again: their rows are no events, or the bus refuses them. */
  failed: EventId[];
  /** Whether the bus has everything up to the last of the events. */
  isOnBus: boolean;
}

/**
 * Publishes the events of one place in order: on the feed, to its followers, on the bus. Every step may be repeated for
 * the same events. During an outage of the bus the other steps continue, and the bus later gets the missed events
 * first. `isAgain`: the events are sent to the bus even if it rejected them before.
 */
export async function relayPlace(
  ctx: Context,
  place: PlaceId,
  eventIds: EventId[],
  { isAgain = false } = {},
): Promise<Relayed> {
  const { events, relayed, unreadable } = await putOnFeed(place, eventIds, ctx.now);
  const found = new Set([...events.map(({ event_id }) => event_id), ...unreadable]);
  if (!eventIds.every((id) => found.has(id)))
    ctx.log.warn('Outbox rows no longer exist.', { place, event_ids: eventIds });
  await push(ctx, place, events);
  const before = isAgain ? events.filter(({ sequence }) => sequence <= relayed) : [];
  const { refused, isOnBus } = await publish(ctx, place, { relayed, before, events });
  for (const event of events) logRelayed(event);
  return { failed: [...unreadable, ...refused.map(({ event_id }) => event_id)], isOnBus };
}

async function push(ctx: Context, place: PlaceId, events: FeedEvent[]): Promise<void> {
  const [first] = events;
  if (!first) return;
  // Read after the feed was written: earlier subscribers get the event pushed, later ones find it on the feed.
  const audience = await gatherAudience(ctx, eventTopic(place), (followers) =>
    admitFollowers(followers, first, ctx.now),
  );
  for (const event of events) await audience.tell({ type: 'event', event, cursor: cursorAt(event.sequence) });
}

interface Due {
  relayed: number;
  before: FeedEvent[];
  events: FeedEvent[];
}

async function publish(
  ctx: Context,
  place: PlaceId,
  { relayed, before, events }: Due,
): Promise<{ refused: FeedEvent[]; isOnBus: boolean }> {
  const last = events.at(-1)?.sequence ?? 0;
  const refused: FeedEvent[] = [];
  let reached = relayed;
  let due = before;
  for (let part = 0; part < PARTS_MAX; part += 1) {
    due = [...due, ...(await missingOnBus(place, reached, events))];
    if (due.length === 0) break;
    const onBus = await putOnBus(due, ctx.now);
    refused.push(...onBus.refused);
    reached = Math.max(reached, onBus.reached?.sequence ?? 0);
    if (onBus.outage !== undefined) {
      ctx.log.error('The bus is unavailable; the events are sent to it later.', {
        place,
        reached,
        last,
        error: onBus.outage,
      });
      countOffBus(ctx.log, last - reached);
      break;
    }
    due = [];
  }
  if (reached > relayed) await markRelayed(place, reached);
  return { refused, isOnBus: reached >= last };
}

/** The events after a number that are not on the bus yet, up to the last of these: usually just these. */
async function missingOnBus(place: PlaceId, relayed: number, events: FeedEvent[]): Promise<FeedEvent[]> {
  const fresh = events.filter(({ sequence }) => sequence > relayed);
  const isGapless = fresh.every(({ sequence }, index) => sequence === relayed + 1 + index);
  return isGapless ? fresh : readBetween(place, relayed, fresh.at(-1)?.sequence ?? relayed, PART);
}

/** Logged under the correlation id of the request that caused the event. */
function logRelayed({ event_id, type, sequence, org_id, project_id, ...event }: FeedEvent): void {
  createContext(event.correlation_id, event.traceparent).log.info('The event was relayed.', {
    event_id,
    event_type: type,
    sequence,
    org_id,
    project_id,
  });
}
