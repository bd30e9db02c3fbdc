// Events as callers read them: what happened in a project, in order, each with its number in the project's feed.

import * as v from 'valibot';
import { cursorAt } from './feed.ts';
import { type CorrelationId, EventId, OrgId, ProjectId, textOf } from '../platform/ids.ts';
import { Time } from '../platform/name.ts';

export const EventView = v.object({
  event_id: EventId,
  sequence: v.pipe(v.number(), v.integer()),
  type: v.string(),
  version: v.pipe(v.number(), v.integer()),
  occurred_at: Time,
  actor: v.string(),
  correlation_id: textOf<CorrelationId>(),
  traceparent: v.optional(v.pipe(v.string(), v.description('The W3C Trace Context of the change.'))),
  org_id: v.optional(OrgId),
  project_id: v.optional(ProjectId),
  data: v.record(v.string(), v.unknown()),
});
export type EventView = v.InferOutput<typeof EventView>;

export const EventPage = v.object({
  items: v.array(EventView),
  next_cursor: v.pipe(
    v.string(),
    v.description('Always present: at the end of the feed, use it later to get the events that followed.'),
  ),
});
export type EventPage = v.InferOutput<typeof EventPage>;

/** Without new events the cursor stays the same. */
export function pageOfEvents(items: EventView[], after: number): EventPage {
  return { items, next_cursor: cursorAt(items.at(-1)?.sequence ?? after) };
}

export const EventTicketView = v.object({
  ticket: v.pipe(
    v.string(),
    v.description(
      'Opens one WebSocket connection, once: send it as the query parameter “ticket”. Omitted when the answer is replayed later.',
    ),
  ),
  socket_url: v.string(),
  expires_in: v.pipe(v.number(), v.integer(), v.description('Seconds.')),
});
