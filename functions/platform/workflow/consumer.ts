import { ChangeMessageVisibilityCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import type { SQSBatchResponse, SQSEvent, SQSRecord } from 'aws-lambda';
import type * as v from 'valibot';
import { sqs } from '../clients.ts';
import { type Context, correlationIdIn } from '../context.ts';
import { contextUnder, type Sent } from '../edge/correlation.ts';
import { edge, type Shape } from '../edge/edge.ts';
import { environment } from '../environment.ts';
import { countWaiting } from '../metrics.ts';
import { isOutage } from './outage.ts';
import { parse } from '../parse.ts';
import { deliveryAfter } from './redelivery.ts';

/**
 * Reads a queue. Messages are independent: failed ones are delivered again, the others are done. A message that fails
 * on its own goes to the failure queue after a few deliveries; during an outage it is delivered again for hours.
 */
export function queueConsumer<T>(
  schema: v.GenericSchema<unknown, T>,
  consume: (ctx: Context, body: T, message: { sentAt: Date }) => Promise<void>,
) {
  return edge(QUEUE, async (_ctx, event) => {
    const consumed = await Promise.all(
      event.Records.map(async (record) => {
        const ctx = contextUnder(sentIn(record));
        try {
          await consume(ctx, parse(schema, bodyOf(record)), { sentAt: sentAt(record) });
          ctx.log.info('The message was consumed.', { message_id: record.messageId });
          return true;
        } catch (error) {
          return settle(ctx, record, error);
        }
      }),
    );
    const failed = event.Records.filter((_, index) => !consumed[index]);
    return { batchItemFailures: failed.map(({ messageId }) => ({ itemIdentifier: messageId })) };
  });
}

/** Each message has its own ids; the batch has none. If the batch ends early, all its messages are delivered again. */
const QUEUE: Shape<SQSEvent, SQSBatchResponse> = {
  kind: 'queue',
  sent: () => ({}),
  tellError(ctx, event, error) {
    const messages = event?.Records?.map((record) => ({
      message_id: record.messageId,
      correlation_id: sentIn(record).correlationId,
    }));
    ctx.log.error('The batch failed; its messages will be delivered again.', { messages, error });
    return undefined;
  },
};

/** Whether the message was moved to the failure queue. Otherwise it is delivered again. */
async function settle(ctx: Context, record: SQSRecord, error: unknown): Promise<boolean> {
  const failed = {
    isOutage: isOutage(error),
    deliveries: Number(record.attributes.ApproximateReceiveCount),
    ageSeconds: (ctx.now().getTime() - sentAt(record).getTime()) / 1000,
  };
  const next = deliveryAfter(failed);
  const said = { message_id: record.messageId, error };
  try {
    if (next === 'given_up') {
      await giveUp(ctx, record, error);
      ctx.log.error('A message failed for good and was moved to the failure queue.', said);
      return true;
    }
    ctx.log.warn('A message could not be consumed; it will be delivered again.', { ...said, ...next });
    if (failed.isOutage) countWaiting(ctx.log, failed.ageSeconds);
    await postpone(record, next.afterSeconds);
  } catch (trouble) {
    // It is delivered again after its visibility time-out.
    ctx.log.error('A message could neither be delayed nor moved to the failure queue.', { ...said, trouble });
  }
  return false;
}

async function postpone({ receiptHandle }: SQSRecord, seconds: number): Promise<void> {
  await sqs().send(
    new ChangeMessageVisibilityCommand({
      QueueUrl: environment('QUEUE_URL'),
      ReceiptHandle: receiptHandle,
      VisibilityTimeout: seconds,
    }),
  );
}

/** With the cause as an attribute, for the person who looks at it. */
async function giveUp(ctx: Context, { body }: SQSRecord, error: unknown): Promise<void> {
  const cause = error instanceof Error ? error.name : 'unknown';
  await sqs().send(
    new SendMessageCommand({
      QueueUrl: environment('FAILURE_QUEUE_URL'),
      MessageBody: body,
      MessageAttributes: {
        error: { DataType: 'String', StringValue: cause },
        correlation_id: { DataType: 'String', StringValue: ctx.correlationId },
      },
    }),
  );
}

function sentIn(record: SQSRecord): Sent {
  const { correlation_id, traceparent } = (bodyOf(record) ?? {}) as {
    correlation_id?: unknown;
    traceparent?: unknown;
  };
  return { correlationId: correlationIdIn(correlation_id) ?? record.messageId, traceparent };
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
