// Pure, because the CDK app reads it too. The partitions of the outbox and the feed are the kernel's.

import { feedPartition, outboxKey } from '../platform/data/keys.ts';
import type { Key } from '../platform/data/table.ts';
import type { EventId, PlaceId } from '../platform/ids.ts';

/** What the WebSocket topics of event feeds begin with; the place follows. */
const EVENT_TOPICS = 'events/';

export const eventTopic = (place: PlaceId): string => `${EVENT_TOPICS}${place}`;
export const placeOfTopic = (topic: string): PlaceId => topic.slice(EVENT_TOPICS.length);

/** As many events of one place as are put on the feed together: a transaction takes a hundred writes. */
export const RELAYED_TOGETHER_MAX = 40;

const OUTBOX = outboxKey('', '').pk;

/** The place whose outbox a partition is. */
export const placeOfOutbox = (partition: string): PlaceId => partition.slice(OUTBOX.length);

/** The number of an event on its feed. */
export const numberedKey = (place: PlaceId, eventId: EventId): Key => ({
  pk: feedPartition(place),
  sk: `ID#${eventId}`,
});

export const DISPATCHED_PARTITIONS = 'DISPATCHED#*';

/** Marks an event whose reacting domains were notified. */
export const dispatchedKey = (eventId: EventId): Key => ({ pk: `DISPATCHED#${eventId}`, sk: 'DISPATCHED' });

export const SWEEP_PARTITION = 'OUTBOX_SWEEP';

/** How far the sweep has come in a shard of the outbox. */
export const sweptKey = (shard: string): Key => ({ pk: SWEEP_PARTITION, sk: shard });
