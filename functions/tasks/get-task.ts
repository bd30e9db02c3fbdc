import { query } from '../platform/http/endpoint.ts';
import { TaskParams, TaskView, viewTask } from './task-row.ts';
import { findTask } from './task-store.ts';

export const getTask = query(
  {
    summary: 'Get a task of a host, and what the host brought back',
    params: TaskParams,
    reply: TaskView,
    refusals: ['task.unknown'],
  },
  async (_ctx, { params }) => {
    const { task, outcome } = await findTask(params.node_id, params.task_id);
    return viewTask(task, outcome);
  },
);
