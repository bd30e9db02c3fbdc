// After a restart of whatever: labels, journal and wish are compared, and the engine is brought to what is wished.

import type { ContainerInfo } from 'dockerode';
import type { WorkloadRecord } from '../tasks/performer.ts';
import { bringUp } from './bring-up.ts';
import { failureOf, isEngineGone, unlessAbsent } from './engine-errors.ts';
import { COMPONENT, containerName, labelled, NODE, WORKLOAD } from './labels.ts';
import type { Parts } from './parts.ts';
import { awaitReady } from './start-component.ts';
import type { Supervisor } from './supervisor.ts';
import { namesOf, stopContainers, tearDown } from './tear-down.ts';
import { recordedWorkload } from './workload.ts';

/** A container without a workload lives for a moment only, while an image is looked into. */
const MOMENT_MS = 60_000;

/**
 * What is not wanted has gone when it answers. What is wanted is on its way then: that may take as long as a component
 * takes to become ready, and is told to the platform.
 */
export async function converge(parts: Parts, supervisor: Supervisor): Promise<void> {
  const { engine } = parts;
  // The engine first: whatever is launched meanwhile is in the journal before it is on the engine.
  const present = await listPresent(parts);
  const records = new Map(engine.journal.listWorkloads().map((record) => [record.workload_id, record]));
  const removed = [...new Set([...present.workloads, ...records.keys()])].flatMap((id) => {
    const desired = records.get(id)?.desired;
    if (desired === 'present') {
      inBackground(parts, id, (signal) => bringBack(parts, supervisor, id, signal));
      return [];
    }
    if (desired === 'stopped') return [keepStopped(parts, id)];
    return [removeUnwanted(parts, id)];
  });
  await Promise.all([...removed, ...present.strays.map((info) => removeStray(parts, info))]);
}

interface Present {
  workloads: string[];
  strays: ContainerInfo[];
}

async function listPresent({ engine, secrets }: Parts): Promise<Present> {
  const { docker, nodeId } = engine;
  const ours = labelled([NODE, nodeId]);
  const [containers, networks, { Volumes }] = await Promise.all([
    docker.listContainers({ all: true, filters: ours }),
    docker.listNetworks({ filters: ours }),
    docker.listVolumes({ filters: JSON.stringify(ours) as never }),
  ]);
  const labels = [...containers, ...networks, ...(Volumes ?? [])].map(({ Labels }) => Labels?.[WORKLOAD]);
  return {
    workloads: [...labels.filter((id) => id !== undefined), ...secrets.list()],
    strays: containers.filter(({ Labels }) => Labels[WORKLOAD] === undefined),
  };
}

function inBackground(parts: Parts, id: string, work: (signal: AbortSignal) => Promise<void>): void {
  parts.locks.background(id, work).catch((error: unknown) => {
    if (!isEngineGone(error))
      parts.engine.log('error', 'A workload could not be brought back.', {
        workload_id: id,
        error: String(error),
      });
  });
}

/** Those that run are left as they are: nothing of them is judged or made again. */
async function bringBack(
  parts: Parts,
  supervisor: Supervisor,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const { engine, states } = parts;
  const record = engine.journal.getWorkload(id);
  if (record?.desired !== 'present') return;
  const workload = recordedWorkload(record);
  const found = await engine.docker.listContainers({
    filters: labelled([NODE, engine.nodeId], [WORKLOAD, id]),
  });
  const running = new Set(found.map(({ Labels }) => Labels[COMPONENT]));
  const missing = workload.containers.filter(({ name }) => !running.has(name));
  const isSettled = workload.containers.every(({ name }) => states.of(id, name).state === 'ready');
  if (missing.length === 0 && isSettled && supervisor.isWatched(id)) return;
  const how = { trustRevision: 0, signal, step: (): void => undefined, bootstrap: 'if_created' as const };
  const results = await Promise.allSettled([
    ...(missing.length > 0 ? [bringUp(parts, workload, how, missing)] : []),
    ...workload.containers
      .filter(({ name }) => running.has(name))
      .map((container) =>
        awaitReady(
          parts,
          workload,
          container,
          engine.docker.getContainer(containerName(id, container.name)),
          signal,
        ),
      ),
  ]);
  signal.throwIfAborted();
  const failed = results.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as unknown] : [],
  );
  if (failed.some(isEngineGone)) throw failed[0];
  supervisor.adopt(workload);
  const details = failed.map((error) => failureOf(error)).map(({ code, message }) => `${code}: ${message}`);
  await supervisor.tell(id, details.length > 0 ? details.join(' ') : undefined);
  for (const { name } of workload.containers)
    if (states.of(id, name).state !== 'ready')
      void supervisor.recover(id, name, running.has(name) ? 'unhealthy' : 'exited');
}

async function keepStopped(parts: Parts, id: string): Promise<void> {
  await parts.locks.background(id, async () => {
    const record: WorkloadRecord | undefined = parts.engine.journal.getWorkload(id);
    if (record?.desired !== 'stopped') return;
    const workload = recordedWorkload(record);
    await stopContainers(parts, id, workload, workload.stop_grace_seconds);
  });
}

/** Unknown to the journal, or not wanted any more; only ever what carries the own node's label. */
async function removeUnwanted(parts: Parts, id: string): Promise<void> {
  const { journal, log } = parts.engine;
  await parts.locks.background(id, async () => {
    const record = journal.getWorkload(id);
    if (record && record.desired !== 'absent') return;
    const left = namesOf(await tearDown(parts, id));
    log(left.length === 0 ? 'info' : 'warn', 'Removed a workload that is not wanted here.', {
      workload_id: id,
      left: left.join(', '),
    });
  });
}

async function removeStray({ engine }: Parts, { Id, Created }: ContainerInfo): Promise<void> {
  if (engine.now().getTime() - Created * 1000 < MOMENT_MS) return;
  await unlessAbsent(engine.docker.getContainer(Id).remove({ force: true, v: true }));
}
