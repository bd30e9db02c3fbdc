import { randomUUID } from 'node:crypto';
import { ACCOUNT, AwsError, REGION } from '../wire/aws.ts';

/** Calls the queue engine. */
export type Call = (operation: string, body: object) => Promise<unknown>;

interface Message {
  MessageId: string;
  ReceiptHandle: string;
  Body: string;
  MessageAttributes?: object;
}

const QUEUE_ARN = new RegExp(`^arn:aws:sqs:${REGION}:${ACCOUNT}:([\\w-]{1,80}(?:\\.fifo)?)$`);
const RECEIVED_MAX = 10;
const MOVED_MAX = 100_000;

/** The queue an ARN names. */
export function queueOfArn(arn: unknown, field: string): string {
  const name = typeof arn === 'string' ? QUEUE_ARN.exec(arn)?.[1] : undefined;
  if (name !== undefined) return name;
  throw new AwsError('InvalidParameterValue', `${field} must be the ARN of a queue.`);
}

/** Moves what lies there now. AWS does so in the background; here it has happened when the answer comes. */
export async function moveMessages(call: Call, from: string, to: string): Promise<{ TaskHandle: string }> {
  const urlOf = (name: string): string => `http://127.0.0.1/${ACCOUNT}/${name}`;
  if (from === to)
    throw new AwsError('InvalidParameterValue', 'SourceArn and DestinationArn must be different queues.');
  for (let moved = 0; moved < MOVED_MAX;) {
    const { Messages = [] } = (await call('ReceiveMessage', {
      QueueUrl: urlOf(from),
      MaxNumberOfMessages: RECEIVED_MAX,
      MessageAttributeNames: ['All'],
      // Somebody who looked at it a moment ago may still have it.
      WaitTimeSeconds: 1,
    })) as { Messages?: Message[] };
    if (Messages.length === 0) break;
    moved += Messages.length;
    for (const { Body, MessageAttributes, ReceiptHandle } of Messages) {
      await call('SendMessage', { QueueUrl: urlOf(to), MessageBody: Body, MessageAttributes });
      await call('DeleteMessage', { QueueUrl: urlOf(from), ReceiptHandle });
    }
  }
  return { TaskHandle: randomUUID() };
}
