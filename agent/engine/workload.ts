// What runs together: one container or several, by the same rules.

import * as v from 'valibot';
import { startSteps } from '../../functions/tasks/task-rules.ts';
import { type Container, type Payload, payloadSchema, type Volume } from '../../functions/tasks/task.ts';
import { TaskFailed, type WorkloadRecord } from '../tasks/performer.ts';

export type LaunchPayload = Payload<'oci.launch'> | Payload<'compose.up'>;

export interface Workload {
  id: string;
  fence: number;
  kind: WorkloadRecord['kind'];
  allocation_id: string;
  project_id: string;
  app_instance_id?: string;
  containers: Container[];
  volumes: Volume[];
  stop_grace_seconds: number;
}

export function workloadOf(payload: LaunchPayload, fence: number): Workload {
  const { workload_id, allocation_id, project_id, app_instance_id, volumes, stop_grace_seconds } = payload;
  return {
    id: workload_id,
    fence,
    kind: 'containers' in payload ? 'compose' : 'oci',
    allocation_id,
    project_id,
    ...(app_instance_id !== undefined && { app_instance_id }),
    containers: 'containers' in payload ? payload.containers : [payload.container],
    volumes,
    stop_grace_seconds,
  };
}

export function payloadOf({ kind, payload }: WorkloadRecord): LaunchPayload {
  const parsed: unknown = JSON.parse(payload);
  return kind === 'compose'
    ? v.parse(payloadSchema('compose.up'), parsed)
    : v.parse(payloadSchema('oci.launch'), parsed);
}

export const recordedWorkload = (record: WorkloadRecord): Workload =>
  workloadOf(payloadOf(record), record.fence);

export function mapContainers<P extends LaunchPayload>(
  payload: P,
  change: (container: Container) => Container,
): P {
  return 'containers' in payload
    ? { ...payload, containers: payload.containers.map(change) }
    : { ...payload, container: change(payload.container) };
}

/** Whether the same is asked for as before; a port the host was to choose is the one it chose. */
export function isSameLaunch(recorded: LaunchPayload, asked: LaunchPayload): boolean {
  const chosen = workloadOf(recorded, 0).containers;
  const filled = mapContainers(asked, (container) => ({
    ...container,
    ports: container.ports.map((port, index) => {
      const before = chosen.find(({ name }) => name === container.name)?.ports[index];
      return port.host === 0 && before?.host !== undefined ? { ...port, host: before.host } : port;
    }),
  }));
  return JSON.stringify(filled) === JSON.stringify(recorded);
}

/** Those of a later step depend only on those of earlier ones. That there is such an order was checked with the task. */
export function startOrder<C extends Pick<Container, 'name' | 'depends_on'>>(containers: C[]): C[][] {
  const steps = startSteps(containers);
  if (!steps) throw new TaskFailed('invalid_payload', 'Components depend on each other in a circle.');
  return steps;
}
