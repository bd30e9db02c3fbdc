import { randomUUID } from 'node:crypto';
import { ACCOUNT, AwsError, REGION } from '../aws.ts';

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

/** The queue an ARN names. */
export function queueOfArn(arn: unknown, field: string): string {
  const name = typeof arn === 'string' ? QUEUE_ARN.exec(arn)?.[1] : undefined;
  if (name !== undefined) return name;
  throw new AwsError('InvalidParameterValue', `${field} must be the ARN of a queue.`);
}

/** Moves what lies there now. AWS does so in the background; here it has happened when the answer comes. */
export async function moveMessages(call: Call, from: string, to: string): Promise<{ TaskHandle: string }> {
  const urlOf = (name: string): string => `http://127.0.0.1/${ACCOUNT}/${name}`;
  const { Attributes } = (await call('GetQueueAttributes', {
    QueueUrl: urlOf(from),
    AttributeNames: ['ApproximateNumberOfMessages'],
  })) as { Attributes?: { ApproximateNumberOfMessages?: string } };
  // What comes back meanwhile is not moved again.
  for (let left = Number(Attributes?.ApproximateNumberOfMessages ?? 0); left > 0;) {
    const { Messages = [] } = (await call('ReceiveMessage', {
      QueueUrl: urlOf(from),
      MaxNumberOfMessages: Math.min(left, RECEIVED_MAX),
      MessageAttributeNames: ['All'],
      WaitTimeSeconds: 0,
    })) as { Messages?: Message[] };
    if (Messages.length === 0) break;
    left -= Messages.length;
    for (const { Body, MessageAttributes, ReceiptHandle } of Messages) {
      await call('SendMessage', { QueueUrl: urlOf(to), MessageBody: Body, MessageAttributes });
      await call('DeleteMessage', { QueueUrl: urlOf(from), ReceiptHandle });
    }
  }
  return { TaskHandle: randomUUID() };
}
