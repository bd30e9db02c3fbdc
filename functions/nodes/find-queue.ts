import { GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { isNamed } from '../platform/aws-errors.ts';
import { sqs } from '../platform/clients.ts';
import type { NodeId } from '../platform/ids.ts';
import { queueNameOf } from './keys.ts';

/**
 * The queue of a node, asked for by name: the address of a queue is not the same everywhere, its name is. Undefined
 * before the node has enrolled, and after it was removed.
 */
export async function findQueueUrl(nodeId: NodeId): Promise<string | undefined> {
  try {
    const { QueueUrl } = await sqs().send(new GetQueueUrlCommand({ QueueName: queueNameOf(nodeId) }));
    return QueueUrl;
  } catch (error) {
    if (isNamed(error, 'QueueDoesNotExist', 'AWS.SimpleQueueService.NonExistentQueue')) return undefined;
    throw error;
  }
}
