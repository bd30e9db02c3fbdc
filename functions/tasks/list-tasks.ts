import * as v from 'valibot';
import { findNode } from '../nodes/read-nodes.ts';
import { query } from '../platform/http/endpoint.ts';
import { NodeId } from '../platform/ids.ts';
import { refuse } from './problems.ts';
import { TaskListQuery, TaskPage, viewTask } from './task-row.ts';
import { listTasksOf } from './task-store.ts';

export const listTasks = query(
  {
    summary: 'List what was asked of a host, oldest first',
    params: v.object({ node_id: NodeId }),
    query: TaskListQuery,
    reply: TaskPage,
    refusals: ['node.unknown'],
  },
  async (_ctx, { params, query: page }) => {
    const { items, next_cursor } = await listTasksOf(params.node_id, page);
    if (items.length === 0 && page.cursor === undefined && !(await findNode(params.node_id)))
      throw refuse('node.unknown');
    return { items: items.map(({ task, outcome }) => viewTask(task, outcome)), next_cursor };
  },
);
