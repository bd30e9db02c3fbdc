// Everything the agent does on its container engine: one container and several are the same mechanism.

import { join } from 'node:path';
import type { TaskContext, Performers } from '../tasks/performer.ts';
import { controlWorkload, requireRecord } from './control.ts';
import { converge } from './converge.ts';
import { despiteRestarts, type EngineOptions, openEngine } from './engine.ts';
import { failureOf } from './engine-errors.ts';
import { Images } from './images.ts';
import { Isolation } from './isolation.ts';
import { launchWorkload } from './launch.ts';
import { Locks } from './locks.ts';
import { readLogs } from './logs.ts';
import type { Parts } from './parts.ts';
import { Ports } from './ports.ts';
import { removeWorkload } from './remove.ts';
import { Secrets } from './secrets.ts';
import { States } from './states.ts';
import { readStatus } from './status.ts';
import { Supervisor } from './supervisor.ts';
import { Verdicts } from './verdicts.ts';
import { ensureVolume, removeVolume } from './volumes.ts';
import { watchEngine } from './watch.ts';
import { recordedWorkload } from './workload.ts';

export type EngineKind =
  | 'oci.launch'
  | 'oci.status'
  | 'oci.control'
  | 'oci.remove'
  | 'compose.up'
  | 'compose.status'
  | 'compose.down'
  | 'volume.create'
  | 'volume.remove'
  | 'logs.read';

export interface EnginePerformers {
  performers: Pick<Performers, EngineKind>;
  /** Unwanted things have gone when it answers; wanted ones are on their way back. */
  converge(): Promise<void>;
  /** Restarts what ends, until it is aborted; also brings the engine back to what is wished after it was away. */
  watch(signal: AbortSignal): Promise<void>;
}

export function createPerformers(options: EngineOptions): EnginePerformers {
  const engine = openEngine(options);
  const parts: Parts = {
    engine,
    images: new Images(engine, new Verdicts(join(options.stateDir, 'verdicts.json'))),
    isolation: new Isolation(),
    secrets: new Secrets(options.nodeId),
    ports: new Ports(engine),
    states: new States(),
    locks: new Locks(),
  };
  const supervisor = new Supervisor(parts);
  const convergeAll = (): Promise<void> => converge(parts, supervisor);

  const status = (ctx: TaskContext<'oci.status'> | TaskContext<'compose.status'>) =>
    answering(parts, ctx, async () => {
      const record = requireRecord(parts, ctx.task.payload.workload_id, ctx.task.fence);
      const workload = recordedWorkload(record);
      return { containers: await readStatus(engine, workload, record.desired, parts.states) };
    });

  return {
    performers: {
      'oci.launch': (ctx) => launchWorkload(parts, supervisor, ctx),
      'compose.up': (ctx) => launchWorkload(parts, supervisor, ctx),
      'oci.status': status,
      'compose.status': status,
      'oci.control': (ctx) => controlWorkload(parts, supervisor, ctx),
      'oci.remove': (ctx) => removeWorkload(parts, supervisor, ctx),
      'compose.down': (ctx) => removeWorkload(parts, supervisor, ctx),
      'volume.create': (ctx) =>
        answering(parts, ctx, async () => {
          const { volume, project_id: projectId } = ctx.task.payload;
          ctx.step('create_volume');
          await ensureVolume(engine, { volume, projectId });
          return {};
        }),
      'volume.remove': (ctx) =>
        answering(parts, ctx, async () => {
          ctx.step('remove_volume');
          await removeVolume(engine, ctx.task.payload.volume_id);
          return {};
        }),
      'logs.read': (ctx) =>
        answering(parts, ctx, async () => {
          const { payload, fence } = ctx.task;
          const workload = recordedWorkload(requireRecord(parts, payload.workload_id, fence));
          return { lines: await readLogs(engine, workload, payload) };
        }),
    },
    converge: convergeAll,
    watch: (signal) => watchEngine(engine, supervisor, convergeAll, signal),
  };
}

async function answering<T>({ engine }: Parts, { signal }: TaskContext, work: () => Promise<T>): Promise<T> {
  try {
    return await despiteRestarts(engine, work, signal);
  } catch (error) {
    throw signal.aborted ? error : failureOf(error);
  }
}
