import * as v from 'valibot';
import type { PlatformEvent } from '../platform/events.ts';
import { feedHeadKey } from '../platform/data/keys.ts';
import { OutboxRow } from '../platform/data/outbox.ts';
import { readItems } from '../platform/data/rows.ts';
import { putItem, queryPage, readItem } from '../platform/data/table.ts';
import { type EventId, type PlaceId, textOf } from '../platform/ids.ts';
import { isReactedTo } from './dispatch-to-domains.ts';
import { dispatchedKey, numberedKey, placeOfOutbox, sweptKey } from './keys.ts';
import { headOf, numberOf } from './feed-store.ts';
import type { Swept } from './outbox-sweep.ts';

/** Three items are read for each row, and one request takes a hundred keys. */
const PAGE = 33;

const Marker = v.object({ swept_to: v.string() });
const Row = v.object({ pk: v.string(), sk: textOf<EventId>() });

/** The id of the last row that needs no further look. */
export async function findSwept(shard: string): Promise<string> {
  const item = await readItem(sweptKey(shard));
  return item ? v.parse(Marker, item).swept_to : '0';
}

export async function saveSwept(shard: string, sweptTo: string): Promise<void> {
  await putItem({ ...sweptKey(shard), swept_to: sweptTo });
}

/** The next rows of a shard with what is known of each, oldest first. */
export async function readShard(shard: string, after: string, before: string): Promise<Swept[]> {
  const { items } = await queryPage({
    index: 'gsi1',
    condition: 'gsi1pk = :shard AND gsi1sk BETWEEN :after AND :before',
    values: {
      ':shard': shard, // A blank sorts before whatever an id could go on with.
      ':after': `${after} `,
      ':before': before,
    },
    limit: PAGE,
  });
  const rows = items.map((item) => {
    const { pk, sk: event_id } = v.parse(Row, item);
    const { success, output } = v.safeParse(OutboxRow, item);
    return { place: placeOfOutbox(pk), event_id, event: success ? output.event : undefined };
  });
  const places = [...new Set(rows.map(({ place }) => place))];
  const proofs = await readItems([
    ...places.map(feedHeadKey),
    ...rows.map(({ place, event_id }) => numberedKey(place, event_id)),
    ...rows.map(({ event_id }) => dispatchedKey(event_id)),
  ]);
  const heads = new Map(places.map((place, index) => [place, headOf(proofs[index]).relayed]));
  return rows.map(({ place, event_id, event }, index) => {
    const sequence = numberOf(proofs[places.length + index]);
    return {
      place,
      event_id,
      ...(event && { pointer: pointerTo(place, event) }),
      isReactedTo: event !== undefined && isReactedTo(event.type),
      isDispatched: proofs[places.length + rows.length + index] !== undefined,
      ...(sequence !== undefined && { sequence }),
      relayed: heads.get(place) ?? 0,
    };
  });
}

const pointerTo = (place: PlaceId, { event_id, type, correlation_id, traceparent }: PlatformEvent) => ({
  place,
  event_id,
  type,
  correlation_id,
  ...(traceparent && { traceparent }),
});
