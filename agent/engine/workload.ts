// What runs together: one container or several, by the same rules.

import * as v from 'valibot';
import { type Container, type Payload, payloadSchema, type Volume } from '../../functions/nodes/task.ts';
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

/** What the schema cannot check: that the parts of a payload fit together. */
export function requireSound({ containers, volumes }: Workload): void {
  const names = containers.map(({ name }) => name);
  requireDifferent(names, 'Two components have the same name.');
  requireDifferent(
    volumes.map(({ id }) => id),
    'Two volumes have the same id.',
  );
  for (const { name, depends_on, health, ports, mounts, secrets } of containers) {
    if (depends_on.some((other) => !names.includes(other)))
      throw invalid(`${name} depends on a component that is not in the task.`);
    requireDifferent(
      mounts.map(({ path }) => path),
      `${name} has two volumes at the same path.`,
    );
    requireDifferent(
      secrets.map(({ path }) => path),
      `${name} has two secrets at the same path.`,
    );
    requireDifferent(
      ports.map(({ container, protocol }) => `${container}/${protocol}`),
      `${name} lists a port twice.`,
    );
    if (health?.kind === 'command' && health.command === undefined)
      throw invalid(`The health check of ${name} has no command.`);
    if (health && health.kind !== 'command' && (health.port ?? ports[0]) === undefined)
      throw invalid(`The health check of ${name} has no port.`);
  }
  startOrder(containers);
}

/** Those of a later step depend only on those of earlier ones. */
export function startOrder<C extends Pick<Container, 'name' | 'depends_on'>>(containers: C[]): C[][] {
  const steps: C[][] = [];
  const started = new Set<string>();
  let waiting = containers;
  while (waiting.length > 0) {
    const next = waiting.filter(({ depends_on }) => depends_on.every((name) => started.has(name)));
    if (next.length === 0) throw invalid('Components depend on each other in a circle.');
    for (const { name } of next) started.add(name);
    waiting = waiting.filter(({ name }) => !started.has(name));
    steps.push(next);
  }
  return steps;
}

function requireDifferent(names: string[], fault: string): void {
  if (new Set(names).size < names.length) throw invalid(fault);
}

const invalid = (detail: string): TaskFailed => new TaskFailed('invalid_payload', detail);
