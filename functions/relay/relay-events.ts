import type { DynamoDBBatchResponse, DynamoDBRecord, DynamoDBStreamEvent } from 'aws-lambda';
import { createContext } from '../platform/context.ts';
import { newId } from '../platform/ids.ts';
import { placeOfOutbox } from './keys.ts';
import { relayPlace } from './relay-place.ts';

/**
 * Publishes what was committed to the outbox. Places do not wait for each other, and the stream comes back to the
 * first event that is left. The record says no more than where a row is: the rows are read again.
 */
export const handler = async ({ Records }: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
  const ctx = createContext(newId());
  const places = Map.groupBy(Records, placeOf);
  const leftOf = await Promise.all(
    [...places].map(async ([place, records]) => {
      const failed = await relayPlace(ctx, place, [...new Set(records.map(eventIdOf))]);
      return records.filter((record) => failed.includes(eventIdOf(record)));
    }),
  );
  const left = new Set(leftOf.flat());
  // Named as the point to resume at, the first record would be tried with the rest of the batch behind it until all
  // of them are given up together. A batch that fails as a whole is halved, down to the one that is at fault.
  if (Records.length > 1 && left.has(Records[0] as DynamoDBRecord)) {
    throw new Error('The first event of the batch could not be relayed.');
  }
  return {
    batchItemFailures: Records.filter((record) => left.has(record)).map(({ dynamodb }) => ({
      itemIdentifier: dynamodb?.SequenceNumber ?? '',
    })),
  };
};

function placeOf({ dynamodb }: DynamoDBRecord): string {
  return placeOfOutbox(dynamodb?.Keys?.['pk']?.S ?? '');
}

function eventIdOf({ dynamodb }: DynamoDBRecord): string {
  return dynamodb?.Keys?.['sk']?.S ?? '';
}
