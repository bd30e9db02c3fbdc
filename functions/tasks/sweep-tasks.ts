import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { TaskId } from '../platform/ids.ts';
import { type Sweep, sweeping } from '../platform/workflow/sweep.ts';
import { NO_ANSWER } from './outcome.ts';
import { sendTask } from './send-task.ts';
import { findOverdue, type KeptTask, subjectOfKept, TaskEnded } from './task-row.ts';
import { listOpenTasks, readTask, saveEnd } from './task-store.ts';

const SWEEP: Actor = { kind: 'platform', id: 'task-sweep' };

/** Ends tasks that nobody answered in time, and sends those whose event was missed. */
export const taskSweep: Sweep<KeptTask> = {
  noun: 'task',
  find: async (ctx) => {
    const open = await listOpenTasks();
    return open.filter((task) => findOverdue(task, ctx.now()));
  },
  mend: (ctx, { id }) => mendTask(ctx, id),
  label: ({ id, node_id }) => ({ task_id: id, node_id }),
  atOnce: 4,
  secondsMax: 40,
};

export const handler = sweeping(taskSweep);

async function mendTask(ctx: Context, id: TaskId): Promise<void> {
  // The index may lag behind.
  const task = await readTask(id);
  const overdue = task && findOverdue(task, ctx.now());
  if (overdue === 'unsent') await sendTask(ctx, task as KeptTask);
  if (overdue === 'unanswered') await giveUp(ctx, id);
}

async function giveUp(ctx: Context, id: TaskId): Promise<void> {
  await commitDecision(ctx, 'nodes.task.expire', async () => {
    const task = await readTask(id);
    if (!task || findOverdue(task, ctx.now()) !== 'unanswered') return undefined;
    return {
      subject: subjectOfKept(task),
      before: { status: task.status },
      after: NO_ANSWER,
      reason: NO_ANSWER.detail,
      actor: SWEEP,
      writes: [saveEnd(task, NO_ANSWER, ctx.now())],
      events: [TaskEnded(task, NO_ANSWER, false)],
    };
  });
}
