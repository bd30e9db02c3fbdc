import * as v from 'valibot';
import { type Context, nodeOf } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import { report } from '../platform/http/endpoint.ts';
import type { TaskId } from '../platform/ids.ts';
import { countRefusal } from '../platform/metrics.ts';
import { foreignRequest } from './refuse-foreign.ts';
import { refuse } from './problems.ts';
import { subjectOfKept, TaskParams } from './task-row.ts';
import { findAnyTask, noteProgress } from './task-store.ts';
import { TaskReport } from './task.ts';

const ROUTE = 'POST /api/v1/nodes/{node_id}/tasks/{task_id}/progress';

export const reportProgress = report(
  {
    summary: 'Tell how far the host has come with a task',
    params: TaskParams,
    body: TaskReport.options[0],
    reply: v.object({}),
    refusals: ['task.unknown', 'task.fenced'],
  },
  async (ctx, { params, body: { fence, step, at } }) => {
    const isNoted = await noteProgress({ ...params, node_id: nodeOf(ctx).id }, { fence, step, at });
    if (!isNoted) await explain(ctx, params.task_id, fence);
    return {};
  },
);

/** Of a task that has ended, progress comes too late and is no fault. */
async function explain(ctx: Context, id: TaskId, fence: number): Promise<void> {
  const { id: nodeId } = nodeOf(ctx);
  const found = await findAnyTask(id);
  if (!found) throw refuse('task.unknown');
  if (found.task.node_id !== nodeId) {
    await commitDecision(ctx, 'nodes.task.progress', async () =>
      foreignRequest(nodeId, ROUTE, subjectOfKept(found.task)),
    );
    countRefusal(ctx.log, 'task.unknown');
    throw refuse('task.unknown');
  }
  if (found.task.fence !== fence) throw refuse('task.fenced');
}
