import { SendMessageBatchCommand } from '@aws-sdk/client-sqs';
import { sqs } from '../platform/clients.ts';
import type { PlaceId } from '../platform/ids.ts';
import { refuse } from './problems.ts';

const TOGETHER_MAX = 10;

interface Message {
  place: PlaceId;
}

/**
 * Sends messages to a queue, ten at a time. Some may arrive even if it fails: the caller sends all of them again.
 * The group is the place, so that the queue serves places in turn when one of them has sent a great many.
 */
export async function sendAll(queueUrl: string, messages: Message[]): Promise<void> {
  const batches = Array.from({ length: Math.ceil(messages.length / TOGETHER_MAX) }, (_, index) =>
    messages.slice(index * TOGETHER_MAX, (index + 1) * TOGETHER_MAX),
  );
  await Promise.all(batches.map((batch) => send(queueUrl, batch)));
}

async function send(QueueUrl: string, messages: Message[]): Promise<void> {
  const { Failed = [] } = await sqs().send(
    new SendMessageBatchCommand({
      QueueUrl,
      Entries: messages.map((message, index) => ({
        Id: String(index),
        MessageBody: JSON.stringify(message),
        MessageGroupId: message.place,
      })),
    }),
  );
  const [failed] = Failed;
  if (failed)
    throw refuse('unavailable', { detail: `${Failed.length} messages were not accepted: ${failed.Code}.` });
}
