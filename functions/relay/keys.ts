// Pure, because the CDK app reads it too. The partitions of the outbox and the feed are the kernel's.

import { feedPartition, outboxKey } from '../platform/keys.ts';
import type { Key } from '../platform/table.ts';

/** What the WebSocket topics of event feeds begin with; the place follows. */
export const EVENT_TOPICS = 'events/';

export const eventTopic = (place: string): string => `${EVENT_TOPICS}${place}`;

const OUTBOX = outboxKey('', '').pk;

/** The place whose outbox a partition is. */
export const placeOfOutbox = (partition: string): string => partition.slice(OUTBOX.length);

/** Says that an event has its number, and which. */
export const numberedKey = (place: string, eventId: string): Key => ({
  pk: feedPartition(place),
  sk: `ID#${eventId}`,
});
