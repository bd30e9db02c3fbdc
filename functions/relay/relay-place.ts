import { type Context, createContext } from '../platform/context.ts';
import { type Audience, gatherAudience } from '../socket/gather-audience.ts';
import { admitFollowers } from './admit-followers.ts';
import { cursorAt, type FeedEvent } from './feed.ts';
import { eventTopic } from './keys.ts';
import { putOnBus } from './put-on-bus.ts';
import { REACTIONS } from './reactions.ts';
import { putOnFeed } from './store.ts';

/**
 * Tells what happened in one place to everybody who wants to know, in order, and returns the events it could not. It
 * stops at the first of these, so nothing overtakes; every step may be done again for the same event.
 */
export async function relayPlace(ctx: Context, place: string, eventIds: string[]): Promise<string[]> {
  const left = new Set(eventIds);
  try {
    const events = await putOnFeed(place, eventIds, ctx.now);
    if (events.length < eventIds.length)
      ctx.log.warn('Outbox rows are gone.', { place, event_ids: eventIds });
    const [first] = events;
    if (!first) return [];
    // Asked after the feed was written: who subscribed before hears of it, who does so later finds it there.
    const audience = await gatherAudience(ctx, eventTopic(place), (followers) =>
      admitFollowers(followers, first, ctx.now),
    );
    for (const event of events) {
      await relayEvent(audience, event);
      left.delete(event.event_id);
    }
    return [];
  } catch (error) {
    const failed = [...left];
    ctx.log.error('Events could not be relayed; they will come again or go to the failure queue.', {
      place,
      event_ids: failed,
      error,
    });
    return failed;
  }
}

async function relayEvent(audience: Audience, event: FeedEvent): Promise<void> {
  // Whoever looks for what came of a request finds it under the id of the request.
  const ctx = createContext(event.correlation_id);
  await audience.tell({ type: 'event', event, cursor: cursorAt(event.sequence) });
  await putOnBus(event);
  await REACTIONS[event.type]?.(ctx, event);
  ctx.log.info('The event was relayed.', {
    event_id: event.event_id,
    event_type: event.type,
    sequence: event.sequence,
    org_id: event.org_id,
    project_id: event.project_id,
  });
}
