import type { ContainerInspectInfo } from 'dockerode';
import type { WorkloadStatus } from '../../functions/tasks/agent-api.ts';
import type { Container, ContainerStatus } from '../../functions/tasks/task.ts';
import type { WorkloadRecord } from '../tasks/performer.ts';
import type { Engine } from './engine.ts';
import { unlessAbsent } from './engine-errors.ts';
import { containerName } from './labels.ts';
import type { ComponentState, States } from './states.ts';
import type { Workload } from './workload.ts';

export async function readStatus(
  { docker }: Engine,
  workload: Workload,
  desired: WorkloadRecord['desired'],
  states: States,
): Promise<ContainerStatus[]> {
  return Promise.all(
    workload.containers.map(async (container) => {
      const found = await unlessAbsent(
        docker.getContainer(containerName(workload.id, container.name)).inspect(),
      );
      return containerStatus(container, found, desired, states.of(workload.id, container.name));
    }),
  );
}

function containerStatus(
  container: Container,
  found: ContainerInspectInfo | undefined,
  desired: WorkloadRecord['desired'],
  known: ComponentState,
): ContainerStatus {
  const { name, digest } = container;
  const ports = container.ports.flatMap(({ container, protocol, host }) =>
    host === undefined ? [] : [{ container, protocol, host }],
  );
  const base = { name, digest, ports, restarts: known.restarts, out_of_memory: false };
  if (!found) return { ...base, state: 'missing' };
  const { State, Id } = found;
  const hasRun = !State.StartedAt.startsWith('0001');
  const status: ContainerStatus = {
    ...base,
    container_id: Id,
    state: stateOf(found, desired, known),
    ...(hasRun && { started_at: new Date(State.StartedAt).toISOString() }),
  };
  if (State.Running) return { ...status, ...(known.readyAt && { ready_at: known.readyAt.toISOString() }) };
  return { ...status, ...(hasRun && { exit_code: State.ExitCode, out_of_memory: State.OOMKilled }) };
}

function stateOf(
  { State }: ContainerInspectInfo,
  desired: WorkloadRecord['desired'],
  { state }: ComponentState,
): ContainerStatus['state'] {
  if (State.Running) return state === 'exited' ? 'unhealthy' : state;
  if (State.Status === 'created') return 'created';
  if (desired === 'stopped') return 'stopped';
  return state === 'restarting' ? 'restarting' : 'exited';
}

/** Of all containers together. */
export function overall(
  containers: ContainerStatus[],
  desired: WorkloadRecord['desired'],
  hasGivenUp: boolean,
): WorkloadStatus['state'] {
  if (desired === 'stopped') return 'stopped';
  if (containers.every(({ state }) => state === 'ready')) return 'ready';
  return hasGivenUp ? 'failed' : 'degraded';
}
