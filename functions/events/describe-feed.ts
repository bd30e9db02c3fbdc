import type { PlaceId } from '../platform/ids.ts';
import { cursorAt } from './feed.ts';
import { findHead } from './feed-store.ts';

/**
 * The current position of the feed, for a new follower: later events are pushed. Earlier events that the follower has
 * not seen can be read from its own cursor.
 */
export async function describeFeed(place: PlaceId): Promise<Record<string, unknown>> {
  const position = await findHead(place);
  return { position, cursor: cursorAt(position) };
}
