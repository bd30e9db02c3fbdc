// What a record of the table's stream says of an outbox row.

import type { DynamoDBRecord } from 'aws-lambda';
import * as v from 'valibot';
import { type Pointer } from '../platform/data/outbox.ts';
import type { EventId, PlaceId } from '../platform/ids.ts';
import { placeOfOutbox } from './keys.ts';

export const placeOf = ({ dynamodb }: DynamoDBRecord): PlaceId =>
  placeOfOutbox(dynamodb?.Keys?.['pk']?.S ?? '');

export const eventIdOf = ({ dynamodb }: DynamoDBRecord): EventId => dynamodb?.Keys?.['sk']?.S ?? '';

export const sequenceNumberOf = ({ dynamodb }: DynamoDBRecord): string => dynamodb?.SequenceNumber ?? '';

const Text = v.object({ S: v.string() });
const Image = v.object({
  event: v.object({
    M: v.object({ type: Text, correlation_id: Text, traceparent: v.optional(Text) }),
  }),
});

/** Where the event lies; nothing for a row that is none. */
export function pointerOf(record: DynamoDBRecord): Pointer | undefined {
  const { success, output } = v.safeParse(Image, record.dynamodb?.NewImage);
  if (!success) return undefined;
  const { type, correlation_id, traceparent } = output.event.M;
  return {
    place: placeOf(record),
    event_id: eventIdOf(record),
    type: type.S,
    correlation_id: correlation_id.S,
    ...(traceparent && { traceparent: traceparent.S }),
  };
}
