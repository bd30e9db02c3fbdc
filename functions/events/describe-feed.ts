import type { PlaceId } from '../platform/ids.ts';
import { cursorAt } from './feed.ts';
import { findHead } from './feed-store.ts';

/**
 * Where the feed stands, for whoever begins to follow it: what comes after this number will be pushed, what they have
 * not seen up to it they read, from a cursor of their own or from here on.
 */
export async function describeFeed(place: PlaceId): Promise<Record<string, unknown>> {
  const position = await findHead(place);
  return { position, cursor: cursorAt(position) };
}
