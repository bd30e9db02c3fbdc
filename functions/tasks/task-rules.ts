// What a task's fields must say together, which no field can be asked alone. Pure: the platform refuses by these rules
// what it is asked to send, and a host what it is sent.

import type { WorkloadId } from '../platform/ids.ts';
import type { Payload, TaskKind } from './task.ts';

/** Of a container, what its neighbours and its volumes have to fit to. */
interface Part {
  name: string;
  env: { name: string }[];
  ports: { container: number; protocol: string; host?: number | undefined }[];
  health?: { kind: string; port?: number | undefined; path?: unknown; command?: unknown } | undefined;
  resources: { gpu_uuids: string[] };
  mounts: { volume_id: string; path: string }[];
  secrets: { path: string }[];
  depends_on: string[];
}

export interface Launch {
  container?: Part | undefined;
  containers?: Part[] | undefined;
  volumes: { id: string }[];
}

/** The first fault, in words that repeat nothing but names of components; nothing where all fits. */
export function findLaunchFault({ container, containers = [], volumes }: Launch): string | undefined {
  const parts = container ? [container] : containers;
  const names = parts.map(({ name }) => name);
  if (hasTwice(names)) return 'Two components have the same name.';
  if (hasTwice(volumes.map(({ id }) => id))) return 'Two volumes have the same id.';
  if (hasTwice(parts.flatMap(hostPorts))) return 'Two ports are published at the same port of the host.';
  const declared = new Set(volumes.map(({ id }) => id));
  for (const part of parts) {
    const fault = findPartFault(part, names, declared);
    if (fault !== undefined) return `${fault} Component: ${part.name}.`;
  }
  return startSteps(parts) ? undefined : 'Components depend on each other in a circle.';
}

/**
 * Those of a later step depend only on those of earlier ones. Nothing where no such order exists: some depend on each
 * other in a circle, or on what is not there.
 */
export function startSteps<P extends Pick<Part, 'name' | 'depends_on'>>(parts: P[]): P[][] | undefined {
  const steps: P[][] = [];
  const started = new Set<string>();
  let waiting = parts;
  while (waiting.length > 0) {
    const next = waiting.filter(({ depends_on }) => depends_on.every((name) => started.has(name)));
    if (next.length === 0) return undefined;
    for (const { name } of next) started.add(name);
    waiting = waiting.filter((part) => !next.includes(part));
    steps.push(next);
  }
  return steps;
}

function findPartFault(part: Part, names: string[], volumes: Set<string>): string | undefined {
  const { env, ports, mounts, secrets, depends_on, resources } = part;
  if (depends_on.some((name) => !names.includes(name)))
    return 'It depends on a component that is not in the task.';
  if (mounts.some(({ volume_id }) => !volumes.has(volume_id)))
    return 'It mounts a volume that is not among those of the task.';
  if (hasTwice(mounts.map(({ path }) => path))) return 'It has two volumes at the same path.';
  // A volume at two paths would be read-only at one and not at the other.
  if (hasTwice(mounts.map(({ volume_id }) => volume_id))) return 'It mounts a volume twice.';
  if (hasTwice(secrets.map(({ path }) => path))) return 'It has two secrets at the same path.';
  // Which of the two counts, runtimes do not agree on.
  if (hasTwice(env.map(({ name }) => name))) return 'It sets a variable twice.';
  if (hasTwice(ports.map(({ container, protocol }) => `${container}/${protocol}`)))
    return 'It lists a port twice.';
  if (hasTwice(resources.gpu_uuids)) return 'It is given a GPU twice.';
  return findHealthFault(part);
}

function findHealthFault({ health, ports }: Part): string | undefined {
  if (!health) return undefined;
  if (health.kind === 'command')
    return health.command === undefined ? 'Its health check has no command.' : undefined;
  if (health.command !== undefined) return 'Its health check has a command that nobody would run.';
  if (health.kind === 'tcp' && health.path !== undefined)
    return 'Its health check has a path that nobody would ask for.';
  return health.port === undefined && ports.length === 0 ? 'Its health check has no port.' : undefined;
}

/** Port 0 is whichever is free, and so never the same. */
const hostPorts = ({ ports }: Part): string[] =>
  ports.filter(({ host }) => host).map(({ host, protocol }) => `${host}/${protocol}`);

const hasTwice = (names: string[]): boolean => new Set(names).size < names.length;

/**
 * What a task acts on. Tasks of one subject are numbered, and a host does them one after the other. It follows from the
 * payload, else a task could come under the numbers of another subject.
 */
export type Subject =
  | { kind: 'workload'; id: WorkloadId }
  /** A volume, the keys of one user of the host, or the agent itself. */
  | { kind: 'other'; name: string };

export function subjectOfTask(kind: TaskKind, payload: Payload): Subject {
  const named = payload as Partial<Record<string, string>> & { volume?: { id: string } };
  switch (kind) {
    case 'volume.create':
      return { kind: 'other', name: `volume:${named.volume?.id}` };
    case 'volume.remove':
      return { kind: 'other', name: `volume:${named['volume_id']}` };
    case 'ssh_trust.reconcile':
      return { kind: 'other', name: `ssh_trust:${named['user']}` };
    case 'agent.update':
      return { kind: 'other', name: 'agent' };
    default:
      return { kind: 'workload', id: named['workload_id'] ?? '' };
  }
}

export const nameSubject = (subject: Subject): string =>
  subject.kind === 'workload' ? `workload:${subject.id}` : subject.name;
