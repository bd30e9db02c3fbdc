import { CreateQueueCommand, DeleteQueueCommand, GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { isNamed } from '../platform/aws-errors.ts';
import { sqs } from '../platform/clients.ts';
import type { NodeId } from '../platform/ids.ts';
import { queueNameOf } from './keys.ts';

/** As long as an agent may be away before its tasks, which have ended long since, are forgotten. */
const KEPT_SECONDS = 4 * 24 * 3600;
/** An agent that works longer on a task asks for more time. */
const VISIBILITY_SECONDS = 120;
/** The longest poll SQS allows: an idle agent asks three times a minute. */
const POLL_SECONDS = 20;

/** The queue a node reads its tasks from. Made once, however often it is asked for. */
export async function openQueue(id: NodeId): Promise<string> {
  const { QueueUrl } = await sqs().send(
    new CreateQueueCommand({
      QueueName: queueNameOf(id),
      Attributes: {
        MessageRetentionPeriod: String(KEPT_SECONDS),
        VisibilityTimeout: String(VISIBILITY_SECONDS),
        ReceiveMessageWaitTimeSeconds: String(POLL_SECONDS),
        SqsManagedSseEnabled: 'true',
      },
    }),
  );
  if (!QueueUrl) throw new Error('SQS returned no address for the queue of a node.');
  return QueueUrl;
}

/**
 * Asked for by name: the address of a queue is not the same everywhere, its name is. Undefined before the node has
 * enrolled, and after it was removed.
 */
export async function findQueueUrl(id: NodeId): Promise<string | undefined> {
  try {
    const { QueueUrl } = await sqs().send(new GetQueueUrlCommand({ QueueName: queueNameOf(id) }));
    return QueueUrl;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** With whatever nobody has read. Nothing where there is none. */
export async function deleteQueue(id: NodeId): Promise<void> {
  try {
    const QueueUrl = await findQueueUrl(id);
    if (QueueUrl !== undefined) await sqs().send(new DeleteQueueCommand({ QueueUrl }));
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

const isGone = (error: unknown): boolean =>
  isNamed(error, 'QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue');
