// Gone means gone: after everything was removed the engine is looked at again, and what was removed and what remains is
// signed with the node's key.

import type { Receipt, TaskResult } from '../../functions/tasks/task.ts';
import { type TaskContext, TaskFailed } from '../tasks/performer.ts';
import { despiteRestarts } from './engine.ts';
import { failureOf } from './engine-errors.ts';
import { containerName, networkName, volumeName } from './labels.ts';
import type { Parts } from './parts.ts';
import type { Supervisor } from './supervisor.ts';
import { type Belongings, findBelongings, namesOf, stopContainers, tearDown } from './tear-down.ts';
import { recordedWorkload, type Workload } from './workload.ts';

type RemoveContext = TaskContext<'oci.remove'> | TaskContext<'compose.down'>;

export function removeWorkload(
  parts: Parts,
  supervisor: Supervisor,
  ctx: RemoveContext,
): Promise<TaskResult> {
  const { workload_id } = ctx.task.payload;
  return parts.locks.task(workload_id, async () => {
    supervisor.release(workload_id);
    try {
      return await despiteRestarts(parts.engine, () => remove(parts, ctx), ctx.signal);
    } catch (error) {
      throw ctx.signal.aborted ? error : failureOf(error);
    }
  });
}

async function remove(parts: Parts, ctx: RemoveContext): Promise<TaskResult> {
  const { journal } = parts.engine;
  const { task } = ctx;
  const { workload_id, stop_grace_seconds } = task.payload;
  const record = journal.getWorkload(workload_id);
  if (record && record.fence > task.fence) throw new TaskFailed('fenced', 'A later task has come before.');
  const workload = record && recordedWorkload(record);
  ctx.step('remove_workload');
  if (record) journal.putWorkload({ ...record, fence: task.fence, desired: 'absent' });

  const found = await findBelongings(parts, workload_id);
  ctx.step('stop_containers');
  await stopContainers(parts, workload_id, workload, stop_grace_seconds);
  ctx.step('remove_belongings');
  const left = await tearDown(parts, workload_id);

  ctx.step('sign_receipt');
  // Where an earlier attempt was interrupted, some of it has gone already; the receipt names that too.
  const isSecond = record?.desired === 'absent';
  const known = workload && isSecond ? merge(found, belongingsOf(parts, workload)) : found;
  const receipt: Receipt = {
    workload_id,
    task_id: task.id,
    node_id: parts.engine.nodeId,
    removed: without(known, left),
    kept: { volumes: workload ? await keptVolumes(parts, workload) : [] },
    remaining: namesOf(left),
    checked_at: ctx.now().toISOString(),
  };
  const result = { receipt, receipt_signature: await parts.engine.channel.sign(receipt) };
  if (receipt.remaining.length > 0)
    throw new TaskFailed(
      'left_behind',
      `Still there: ${receipt.remaining.join(', ')}`.slice(0, 2000),
      result,
    );
  // Only with the outcome: a removal that is repeated after a crash has to know what it removed.
  ctx.withOutcome(() => journal.forgetWorkload(workload_id));
  return result;
}

function belongingsOf({ secrets }: Parts, { id, containers, volumes }: Workload): Belongings {
  return {
    containers: containers.map(({ name }) => containerName(id, name)),
    networks: [networkName(id)],
    volumes: volumes.filter(({ kind }) => kind === 'scratch').map((volume) => volumeName(volume.id)),
    paths: containers.some(({ secrets }) => secrets.length > 0) ? [secrets.pathOf(id)] : [],
  };
}

const KINDS = ['containers', 'networks', 'volumes', 'paths'] as const;

const merge = (one: Belongings, other: Belongings): Belongings =>
  each((kind) => [...new Set([...one[kind], ...other[kind]])]);

const without = (all: Belongings, left: Belongings): Belongings =>
  each((kind) => all[kind].filter((name) => !left[kind].includes(name)));

const each = (namesOfKind: (kind: (typeof KINDS)[number]) => string[]): Belongings =>
  Object.fromEntries(KINDS.map((kind) => [kind, namesOfKind(kind)])) as unknown as Belongings;

/** Persistent volumes stay with the project. */
async function keptVolumes({ engine }: Parts, { containers }: Workload): Promise<string[]> {
  const mounted = new Set(
    containers.flatMap(({ mounts }) => mounts.map(({ volume_id }) => volumeName(volume_id))),
  );
  const { Volumes } = await engine.docker.listVolumes();
  return (Volumes ?? []).map(({ Name }) => Name).filter((name) => mounted.has(name));
}
