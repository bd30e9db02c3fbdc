import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision, type Decision } from '../platform/data/change.ts';
import type { AllocationId } from '../platform/ids.ts';
import { type PlannedTask, planRemoval } from '../tasks/plan-task.ts';
import { readAnswers } from '../tasks/read-tasks.ts';
import { readWorkloadsOn } from '../tasks/read-workloads.ts';
import type { Workload } from '../tasks/workload.ts';
import {
  aboutAllocation,
  type Allocation,
  AllocationReleased,
  finishRelease,
  type Leftover,
  subjectOfAllocation,
  tellLeftovers,
} from './allocation.ts';
import { findAnyAllocation, saveAllocation } from './allocation-store.ts';
import { freeCapacity } from './free-capacity.ts';

const RELEASE: Actor = { kind: 'platform', id: 'allocation-release' };

/** A removal takes four writes of its own, and a transaction has room for a hundred. */
const TOGETHER_MAX = 20;
const REMOVAL = { deadline_seconds: 900, stop_grace_seconds: 30 };

/**
 * What a release leads to: the removal of everything that runs on the allocation, and, when a receipt has proved that
 * nothing does any more, free capacity. `again`: removals that failed are asked for once more.
 */
export async function advanceRelease(
  ctx: Context,
  id: AllocationId,
  { again }: { again: boolean },
): Promise<void> {
  await commitDecision(ctx, 'allocations.allocation.advance_release', async () => {
    const allocation = await findAnyAllocation(id);
    if (allocation?.status !== 'releasing') return undefined;
    const workloads = await readWorkloadsOn(allocation.node_id, id);
    return workloads.length === 0 ? finish(ctx, allocation) : removeLeft(ctx, allocation, workloads, again);
  });
}

async function finish(ctx: Context, before: Allocation): Promise<Decision | undefined> {
  const after = finishRelease({ ...before, leftovers: [] }, ctx.now());
  if (!after) return undefined;
  const { writes, events } = await freeCapacity(before);
  return {
    ...about(before, after),
    writes: [...saveAllocation(before, after), ...writes],
    events: [AllocationReleased(after), ...events],
  };
}

async function removeLeft(
  ctx: Context,
  before: Allocation,
  workloads: Workload[],
  again: boolean,
): Promise<Decision | undefined> {
  const known = new Map(before.leftovers.map((left) => [left.workload_id, left]));
  const lefts = await lookAt(workloads.map(({ workload_id }) => known.get(workload_id) ?? { workload_id }));
  const isToAsk = ({ task_id, code }: Leftover) => task_id === undefined || (again && code !== undefined);
  const asked = lefts.filter(isToAsk).slice(0, TOGETHER_MAX);
  const byActor = { ...ctx, actor: RELEASE };
  const planned = new Map<string, PlannedTask>();
  for (const { workload_id } of asked) {
    const workload = workloads.find((each) => each.workload_id === workload_id);
    if (workload) planned.set(workload_id, await planRemoval(byActor, workload, REMOVAL));
  }
  const after = tellLeftovers(
    before,
    lefts.map((left) => {
      const task_id = planned.get(left.workload_id)?.task.id;
      return task_id === undefined ? left : { workload_id: left.workload_id, task_id };
    }),
  );
  if (!after) return undefined;
  const plans = [...planned.values()];
  return {
    ...about(before, after),
    writes: [...saveAllocation(before, after), ...plans.flatMap(({ writes }) => writes)],
    events: plans.flatMap(({ events }) => events),
  };
}

/** With why the last removal did not succeed, as its task says now. */
async function lookAt(lefts: Leftover[]): Promise<Leftover[]> {
  const answers = await readAnswers(lefts.flatMap(({ task_id }) => task_id ?? []));
  return lefts.map(({ workload_id, task_id }) => {
    const answer = task_id === undefined ? undefined : answers.get(task_id);
    if (!answer) return { workload_id };
    return { workload_id, task_id, ...(!answer.isOpen && { code: answer.code ?? 'internal' }) };
  });
}

const about = (before: Allocation, after: Allocation) => ({
  subject: subjectOfAllocation(after),
  before: aboutAllocation(before),
  after: aboutAllocation(after),
  actor: RELEASE,
  place: { org_id: after.org_id, project_id: after.project_id },
});

/** Of an allocation that was written off: should the host come back, it removes what ran there. */
export async function removeWrittenOff(ctx: Context, id: AllocationId): Promise<void> {
  const allocation = await findAnyAllocation(id);
  if (!allocation?.written_off) return;
  const { node_id, org_id, project_id } = allocation;
  const left = (await readWorkloadsOn(node_id, id)).filter(({ desired }) => desired === 'present');
  for (const { workload_id } of left)
    await commitDecision(ctx, 'allocations.allocation.remove_written_off', async () => {
      const workload = (await readWorkloadsOn(node_id, id)).find((each) => each.workload_id === workload_id);
      if (workload?.desired !== 'present') return undefined;
      const { writes, events } = await planRemoval({ ...ctx, actor: RELEASE }, workload, REMOVAL);
      return {
        subject: subjectOfAllocation(allocation),
        after: { workload_id, desired: 'absent' },
        actor: RELEASE,
        place: { org_id, project_id },
        writes,
        events,
      };
    });
}
