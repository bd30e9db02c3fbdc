import type { TaskResult } from '../../functions/tasks/task.ts';
import { type TaskContext, TaskFailed, type WorkloadRecord } from '../tasks/performer.ts';
import { bringUp, type Outputs } from './bring-up.ts';
import { despiteRestarts } from './engine.ts';
import { failureOf } from './engine-errors.ts';
import type { Parts } from './parts.ts';
import { readStatus } from './status.ts';
import type { Supervisor } from './supervisor.ts';
import { namesOf, tearDown } from './tear-down.ts';
import { isSameLaunch, type LaunchPayload, payloadOf, type Workload, workloadOf } from './workload.ts';

export type LaunchContext = TaskContext<'oci.launch'> | TaskContext<'compose.up'>;

const OUTPUT_CHARACTERS_MAX = 16 * 1024;

/** One container or several: all are ready afterwards, or nothing of them is left. */
export function launchWorkload(
  parts: Parts,
  supervisor: Supervisor,
  ctx: LaunchContext,
): Promise<TaskResult> {
  const { workload_id } = ctx.task.payload;
  return parts.locks.task(workload_id, async () => {
    supervisor.release(workload_id);
    // Before anything is written down: what is refused here was never begun.
    const before = parts.engine.journal.getWorkload(workload_id);
    requireAcceptable(ctx, before);
    try {
      return await despiteRestarts(parts.engine, () => launch(parts, supervisor, ctx), ctx.signal);
    } catch (error) {
      throw await undo(parts, ctx, error);
    }
  });
}

function requireAcceptable({ task }: LaunchContext, before: WorkloadRecord | undefined): void {
  if (!before) return;
  if (before.fence > task.fence) throw new TaskFailed('fenced', 'A later task has come before.');
  if (before.desired !== 'absent' && !isSameLaunch(payloadOf(before), task.payload))
    throw new TaskFailed('workload_exists', 'Another launch has this workload id.');
}

async function launch(parts: Parts, supervisor: Supervisor, ctx: LaunchContext): Promise<TaskResult> {
  const workload = await record(parts, ctx);
  const outputs = await bringUp(parts, workload, {
    trustRevision: ctx.task.trust_revision,
    signal: ctx.signal,
    step: (name) => ctx.step(name),
    bootstrap: 'always',
  });
  const containers = await readStatus(parts.engine, workload, 'present', parts.states);
  supervisor.adopt(workload);
  return { containers, ...(outputs.size > 0 && { bootstrap_output: textOf(outputs) }) };
}

/** In the journal before any effect: whatever happens next, the next run knows of it. */
async function record(parts: Parts, ctx: LaunchContext): Promise<Workload> {
  const { task } = ctx;
  const { journal } = parts.engine;
  const before = journal.getWorkload(task.payload.workload_id);
  if (before?.desired === 'absent') await tearDown(parts, before.workload_id);
  ctx.step('record_workload');
  const write = (payload: LaunchPayload): void =>
    journal.putWorkload({
      workload_id: payload.workload_id,
      fence: task.fence,
      desired: 'present',
      kind: task.kind === 'compose.up' ? 'compose' : 'oci',
      payload: JSON.stringify(payload),
    });
  // What was chosen once stays chosen.
  if (before && before.desired !== 'absent') {
    const payload = payloadOf(before);
    write(payload);
    return workloadOf(payload, task.fence);
  }
  return workloadOf(await parts.ports.choose<LaunchPayload>(task.payload, write), task.fence);
}

/** The agent stops: the next run goes on from here. Otherwise nothing stays of what was begun. */
async function undo(parts: Parts, ctx: LaunchContext, error: unknown): Promise<Error> {
  const { task, signal } = ctx;
  const reason: unknown = signal.reason;
  if (signal.aborted && !(reason instanceof TaskFailed)) return reason as Error;
  const failure = failureOf(signal.aborted ? reason : error);
  const { journal, log } = parts.engine;
  if (failure.code === 'internal')
    log('error', 'A launch failed.', { error: String(error), task_id: task.id });
  const record = journal.getWorkload(task.payload.workload_id);
  if (!record) return failure;
  ctx.step('undo_launch');
  journal.putWorkload({ ...record, desired: 'absent' });
  try {
    const left = namesOf(await tearDown(parts, record.workload_id));
    if (left.length > 0)
      return new TaskFailed(
        'left_behind',
        `${failure.message} Still there: ${left.join(', ')}`,
        failure.result,
      );
  } catch (cause) {
    // What nobody knows of is removed as soon as the engine is back.
    log('warn', 'A failed launch could not be undone yet.', { error: String(cause), task_id: task.id });
  }
  journal.forgetWorkload(record.workload_id);
  return failure;
}

const textOf = (outputs: Outputs): string =>
  [...outputs]
    .map(([name, output]) => (outputs.size > 1 ? `${name}:\n${output}` : output))
    .join('\n')
    .slice(-OUTPUT_CHARACTERS_MAX);
