import type { Write } from './commit.ts';
import { epochSeconds, secondsAfter } from './clock.ts';
import { OUTBOX_KIND, outboxKey, placeId } from './keys.ts';
import { controlTable } from './table.ts';

const EVENT_CHARACTERS_MAX = 64 * 1024;
const KEPT_SECONDS = 7 * 24 * 3600;

/** Something that happened, as a domain says it. Everything else about it is known from the request. */
export interface DomainEvent {
  type: string;
  version: number;
  /** The place it belongs to, where that is not the request's own. */
  place?: { org_id?: string; project_id?: string };
  data: Record<string, unknown>;
}

/** An event as consumers get it. The relay adds `sequence` when it puts it on the feed. */
export interface PlatformEvent extends DomainEvent {
  event_id: string;
  occurred_at: string;
  actor: string;
  correlation_id: string;
  org_id?: string;
  project_id?: string;
}

/** A row of the outbox: committed with the change, published by the stream. */
export function insertOutbox(event: PlatformEvent, now: Date): Write {
  const { place: _, ...published } = event;
  // Over this it could not be pushed to a socket; events say what happened, not everything about it.
  if (JSON.stringify(published).length > EVENT_CHARACTERS_MAX)
    throw new Error(`The event ${event.type} is too large.`);
  return {
    action: {
      Put: {
        TableName: controlTable(),
        Item: {
          ...outboxKey(placeId(event), event.event_id),
          kind: OUTBOX_KIND,
          event: published,
          expires_at: epochSeconds(secondsAfter(now, KEPT_SECONDS)),
        },
        ConditionExpression: 'attribute_not_exists(pk)',
      },
    },
    refusal: 'request.conflict',
  };
}
