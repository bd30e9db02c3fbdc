// Events as callers read them: what happened in a project, in order, each with its number in the project's feed.

import * as v from 'valibot';
import { cursorAt } from './feed.ts';
import { Id, Time } from '../platform/name.ts';

export const EventView = v.object({
  event_id: Id,
  sequence: v.pipe(v.number(), v.integer()),
  type: v.string(),
  version: v.pipe(v.number(), v.integer()),
  occurred_at: Time,
  actor: v.string(),
  correlation_id: v.string(),
  traceparent: v.optional(v.pipe(v.string(), v.description('W3C Trace Context of the change that said it.'))),
  org_id: v.optional(Id),
  project_id: v.optional(Id),
  data: v.record(v.string(), v.unknown()),
});
export type EventView = v.InferOutput<typeof EventView>;

export const EventPage = v.object({
  items: v.array(EventView),
  next_cursor: v.pipe(
    v.string(),
    v.description('Always given: at the end of the feed, ask again with it for what has come since.'),
  ),
});
export type EventPage = v.InferOutput<typeof EventPage>;

/** Who has seen nothing new goes on from where they were. */
export function pageOfEvents(items: EventView[], after: number): EventPage {
  return { items, next_cursor: cursorAt(items.at(-1)?.sequence ?? after) };
}

export const EventTicketView = v.object({
  ticket: v.pipe(
    v.string(),
    v.description(
      'Opens one WebSocket connection, once, as the query parameter “ticket”. Left out when the answer is repeated later.',
    ),
  ),
  socket_url: v.string(),
  expires_in: v.pipe(v.number(), v.integer(), v.description('Seconds.')),
});
