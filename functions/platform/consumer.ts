import type {
  DynamoDBBatchResponse,
  DynamoDBRecord,
  DynamoDBStreamEvent,
  SQSBatchResponse,
  SQSEvent,
  SQSRecord,
} from 'aws-lambda';
import type * as v from 'valibot';
import { type Context, correlationIdIn, createContext } from './context.ts';
import { newId } from './ids.ts';
import { parse } from './parse.ts';

/**
 * Reads a table's stream. Records come in order, so the first that fails ends the batch: the stream resumes
 * there and nothing overtakes it. The schema takes from the new image no more than is needed to read again.
 */
export function streamConsumer<T>(
  schema: v.GenericSchema<unknown, T>,
  consume: (ctx: Context, image: T) => Promise<void>,
) {
  return async (event: DynamoDBStreamEvent): Promise<DynamoDBBatchResponse> => {
    for (const record of event.Records) {
      const sent = record.dynamodb?.NewImage?.['correlation_id']?.S;
      const consumed = await attempt(sent ?? record.eventID, (ctx) =>
        consume(ctx, parse(schema, record.dynamodb?.NewImage)),
      );
      if (consumed) continue;
      // Named as the point to resume at, the first record would be given up together with all behind it. A batch that
      // fails as a whole is halved instead, down to the one that is at fault.
      if (record === event.Records[0] && event.Records.length > 1)
        throw new Error('The first record of the batch could not be consumed.');
      return { batchItemFailures: [{ itemIdentifier: sequenceNumber(record) }] };
    }
    return { batchItemFailures: [] };
  };
}

/** Reads a queue. Messages stand alone: those that fail come again, the others are done. */
export function queueConsumer<T>(
  schema: v.GenericSchema<unknown, T>,
  consume: (ctx: Context, body: T, message: { sentAt: Date }) => Promise<void>,
) {
  return async (event: SQSEvent): Promise<SQSBatchResponse> => {
    const consumed = await Promise.all(
      event.Records.map((record) =>
        attempt(correlationOf(record), (ctx) =>
          consume(ctx, parse(schema, bodyOf(record)), { sentAt: sentAt(record) }),
        ),
      ),
    );
    const failed = event.Records.filter((_, index) => !consumed[index]);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  };
}

async function attempt(id: string | undefined, consume: (ctx: Context) => Promise<void>): Promise<boolean> {
  const ctx = createContext(correlationIdIn(id) ?? newId());
  try {
    await consume(ctx);
    return true;
  } catch (error) {
    ctx.log.error('A record could not be consumed; it will come again or go to the failure queue.', {
      error,
    });
    return false;
  }
}

function sequenceNumber(record: DynamoDBRecord): string {
  return record.dynamodb?.SequenceNumber ?? '';
}

function correlationOf(record: SQSRecord): string | undefined {
  const sent = (bodyOf(record) as { correlation_id?: unknown } | null | undefined)?.correlation_id;
  return correlationIdIn(sent) ?? record.messageId;
}

function bodyOf(record: SQSRecord): unknown {
  try {
    return JSON.parse(record.body);
  } catch {
    return undefined;
  }
}

function sentAt(record: SQSRecord): Date {
  return new Date(Number(record.attributes.SentTimestamp));
}
