// Whether a task is performed at all. Pure: what was seen before is told.

import * as v from 'valibot';
import {
  parseTask,
  type Task,
  type TaskFailure,
  TaskFrame,
  TASK_BYTES_MAX,
} from '../../functions/tasks/task.ts';

export type Delivery =
  | { frame: TaskFrame }
  /** Enough of it can be read to answer it. */
  | { answerable: Pick<TaskFrame, 'id' | 'fence'> }
  | { unreadable: string };

const Answerable = v.object({
  id: TaskFrame.entries.id,
  fence: v.optional(v.fallback(TaskFrame.entries.fence, 1), 1),
});

/** What came in a message. Nothing is believed of it before. */
export function readDelivery(text: string): Delivery {
  if (Buffer.byteLength(text) > TASK_BYTES_MAX) return { unreadable: 'It is too long.' };
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return { unreadable: 'It is not JSON.' };
  }
  const frame = v.safeParse(TaskFrame, content);
  if (frame.success) return { frame: frame.output };
  const answerable = v.safeParse(Answerable, content);
  return answerable.success
    ? { answerable: answerable.output }
    : { unreadable: 'It does not say which task it is.' };
}

export interface Seen {
  nodeId: string;
  /** The highest fence of the subject. */
  fence: number;
  /** The task was begun before, and the agent did not live to end it. */
  isInterrupted: boolean;
  now: Date;
}

export type Judged = { task: Task } | { refused: TaskFailure; detail: string };

export function judgeTask(frame: TaskFrame, { nodeId, fence, isInterrupted, now }: Seen): Judged {
  if (frame.node_id !== nodeId)
    return { refused: 'wrong_node', detail: 'The task names another node than this one.' };
  if (frame.fence < fence)
    return { refused: 'fenced', detail: `A task with the fence ${fence} of the same subject was seen.` };
  // One that was begun is performed again even then, so that what it left is undone; its signal says that time is up.
  if (!isInterrupted && Date.parse(frame.deadline_at) <= now.getTime())
    return { refused: 'deadline_passed', detail: 'The deadline had passed before the task was begun.' };
  const parsed = parseTask(frame);
  return 'task' in parsed ? parsed : { refused: parsed.refused, detail: parsed.detail };
}
