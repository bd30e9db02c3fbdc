import * as v from 'valibot';
import { type Context, nodeOf } from '../platform/context.ts';
import type { Change } from '../platform/data/change.ts';
import { Conflict } from '../platform/data/commit.ts';
import { command } from '../platform/http/endpoint.ts';
import { EndReport, judgeEnd, workloadAfter } from './outcome.ts';
import { foreignRequest } from './refuse-foreign.ts';
import { refuse } from './problems.ts';
import {
  isOpen,
  type KeptTask,
  planOutcome,
  subjectOfKept,
  TASK_STATUSES,
  TaskEnded,
  TaskParams,
} from './task-row.ts';
import { findAnyTask, insertOutcome, saveEnd } from './task-store.ts';
import type { Outcome } from './task.ts';
import { verifyReceipt } from './verify-receipt.ts';
import { isNews, type Workload, WorkloadChanged } from './workload.ts';
import { findWorkload, removeWorkload, saveWorkload } from './workload-store.ts';

const ROUTE = 'POST /api/v1/nodes/{node_id}/tasks/{task_id}/outcome';

/** A host asks again until it is answered, so an answer that was heard before is heard again and changes nothing. */
export const endTask = command(
  {
    summary: 'Tell how a task ended',
    action: 'nodes.task.end',
    params: TaskParams,
    body: EndReport,
    reply: v.object({ status: v.picklist(TASK_STATUSES) }),
    refusals: ['task.unknown', 'task.fenced'],
  },
  async (ctx, { params, body: outcome }): Promise<Change> => {
    const { id: nodeId } = nodeOf(ctx);
    const found = await findAnyTask(params.task_id);
    if (!found) throw refuse('task.unknown');
    const { task } = found;
    if (task.node_id !== nodeId) {
      const foreign = foreignRequest(nodeId, ROUTE, subjectOfKept(task));
      return { ...foreign, reply: {}, refusal: refuse('task.unknown') };
    }
    if (task.fence !== outcome.fence) throw refuse('task.fenced');
    // The two were read one after the other, and the answer came between: both are there the next time.
    if (found.outcome && isOpen(task)) throw new Conflict('The task is just being ended.');
    if (found.outcome) return repeated(task);
    return endedBy(ctx, task, outcome);
  },
);

const repeated = (task: KeptTask): Change => ({
  subject: subjectOfKept(task),
  after: { status: task.status, repeated: true },
  writes: [],
  reply: { status: task.status },
});

/** After the platform gave up waiting the task stays as it ended then; what the host did counts all the same. */
async function endedBy(ctx: Context, task: KeptTask, outcome: Outcome): Promise<Change> {
  const now = ctx.now();
  const receipt = await verifyReceipt(outcome.result ?? {}, task, nodeOf(ctx));
  const end = judgeEnd(task.kind, outcome, receipt);
  const before = task.workload_id && (await findWorkload(task.node_id, task.workload_id));
  const after = workloadAfter(before || undefined, task, end, outcome, now);
  const isLate = !isOpen(task);
  return {
    subject: subjectOfKept(task),
    before: { status: task.status },
    after: { ...end, ...(outcome.result?.receipt && { receipt }), ...(isLate && { late: true }) },
    writes: [
      insertOutcome(planOutcome(task, outcome, now)),
      ...(isLate ? [] : [saveEnd(task, end, now)]),
      ...(before ? keep(before, after) : []),
    ],
    events: [TaskEnded(task, end, isLate), ...(before ? tellChange(before, after) : [])],
    reply: { status: isLate ? task.status : end.status },
  };
}

type After = ReturnType<typeof workloadAfter>;

function keep(before: Workload, after: After) {
  if (after === 'unchanged' || after === before) return [];
  return [after === 'gone' ? removeWorkload(before) : saveWorkload(before, after)];
}

function tellChange(before: Workload, after: After) {
  if (typeof after === 'string' || !after.status || !isNews(before, after)) return [];
  return [WorkloadChanged(after, after.status)];
}
