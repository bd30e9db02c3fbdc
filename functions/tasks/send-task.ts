import { SendMessageCommand } from '@aws-sdk/client-sqs';
import { readHostRevision } from '../artifacts/read-trust.ts';
import { findQueueUrl } from '../nodes/node-queue.ts';
import { sqs } from '../platform/clients.ts';
import type { Context } from '../platform/context.ts';
import type { EventOf } from '../platform/events.ts';
import { frameOf, isWorthSending, type KeptTask, type TaskRequested } from './task-row.ts';
import { noteSent, readTask } from './task-store.ts';

export const sendRequested = async (
  ctx: Context,
  { data: { task_id } }: EventOf<typeof TaskRequested>,
): Promise<void> => {
  const task = await readTask(task_id);
  if (task) await sendTask(ctx, task);
};

/**
 * Puts a task into the queue of its node, as long as anybody waits for it. Twice is harmless: the host has it once by its
 * id. The trust revision is that of now, so that what was revoked since the request does not start.
 */
export async function sendTask(ctx: Context, task: KeptTask): Promise<void> {
  if (!isWorthSending(task, ctx.now())) return;
  const [QueueUrl, revision] = await Promise.all([findQueueUrl(task.node_id), readHostRevision()]);
  if (QueueUrl === undefined) return ctx.log.warn('The node has no queue.', about(task));
  await sqs().send(
    new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(frameOf(task, revision)) }),
  );
  await noteSent(task, ctx.now());
  ctx.log.info('The task was sent.', about(task));
}

const about = ({ id, node_id, kind }: KeptTask) => ({ task_id: id, node_id, kind });
