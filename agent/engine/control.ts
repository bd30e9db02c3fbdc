import type { TaskResult } from '../../functions/tasks/task.ts';
import { type TaskContext, TaskFailed, type WorkloadRecord } from '../tasks/performer.ts';
import { bringUp } from './bring-up.ts';
import { despiteRestarts } from './engine.ts';
import { failureOf } from './engine-errors.ts';
import type { Parts } from './parts.ts';
import { readStatus } from './status.ts';
import type { Supervisor } from './supervisor.ts';
import { stopContainers } from './tear-down.ts';
import { recordedWorkload, type Workload } from './workload.ts';

export function requireRecord(parts: Parts, workloadId: string, fence: number): WorkloadRecord {
  const record = parts.engine.journal.getWorkload(workloadId);
  if (!record || record.desired === 'absent')
    throw new TaskFailed('workload_unknown', 'This host does not hold the workload.');
  if (record.fence > fence) throw new TaskFailed('fenced', 'A later task has come before.');
  return record;
}

/** Stop, start and restart of what was launched before. What cannot be started stays stopped. */
export function controlWorkload(
  parts: Parts,
  supervisor: Supervisor,
  ctx: TaskContext<'oci.control'>,
): Promise<TaskResult> {
  const { task } = ctx;
  const { workload_id, action } = task.payload;
  return parts.locks.task(workload_id, async () => {
    const record = requireRecord(parts, workload_id, task.fence);
    const workload = { ...recordedWorkload(record), fence: task.fence };
    supervisor.release(workload_id);
    try {
      return await despiteRestarts(
        parts.engine,
        async () => {
          if (action !== 'start') await stop(parts, ctx, record, workload);
          if (action !== 'stop') await start(parts, supervisor, ctx, record, workload);
          const desired = action === 'stop' ? 'stopped' : 'present';
          return { containers: await readStatus(parts.engine, workload, desired, parts.states) };
        },
        ctx.signal,
      );
    } catch (error) {
      throw ctx.signal.aborted ? error : failureOf(error);
    }
  });
}

async function stop(
  parts: Parts,
  ctx: TaskContext<'oci.control'>,
  record: WorkloadRecord,
  workload: Workload,
): Promise<void> {
  ctx.step('stop_containers');
  parts.engine.journal.putWorkload({ ...record, fence: ctx.task.fence, desired: 'stopped' });
  await stopContainers(parts, workload.id, workload, workload.stop_grace_seconds);
  parts.states.forget(workload.id);
}

async function start(
  parts: Parts,
  supervisor: Supervisor,
  ctx: TaskContext<'oci.control'>,
  record: WorkloadRecord,
  workload: Workload,
): Promise<void> {
  const { task, signal } = ctx;
  parts.engine.journal.putWorkload({ ...record, fence: task.fence, desired: 'present' });
  try {
    await bringUp(parts, workload, {
      trustRevision: task.trust_revision,
      signal,
      step: (name) => ctx.step(name),
      bootstrap: 'if_created',
    });
  } catch (error) {
    const failure = failureOf(error);
    if (!signal.aborted && failure.code !== 'engine_unavailable') await stop(parts, ctx, record, workload);
    throw error;
  }
  supervisor.adopt(workload);
}
