// What the platform asks of a host and what the host answers. Platform and agent import this one file; it is pure.
// A task says what is to be true, never how: no Compose text, no host path, no tag, no secret is in it.

import * as v from 'valibot';
import { branded, type NodeId, type TaskId } from '../platform/ids.ts';
import { Digest, Time } from '../platform/name.ts';
import { objectsOnly } from '../platform/objects-only.ts';
import { findLaunchFault, type Launch, nameSubject, subjectOfTask } from './task-rules.ts';

/** Raised when a payload changes its meaning. A host answers `newer_schema` to what it does not know yet. */
export const TASK_SCHEMA_VERSION = 1;

export const TASK_BYTES_MAX = 200 * 1024;

/** In one spelling: names and labels on a host are compared as they are written. */
const Id = v.pipe(v.string(), v.uuid(), v.regex(/^[0-9a-f-]*$/));
const whole = (min: number, max: number) => v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max));
const text = (max: number) => v.pipe(v.string(), v.maxLength(max));
const list = <S extends v.GenericSchema>(item: S, max: number) =>
  v.optional(v.pipe(v.array(item), v.maxLength(max)), () => []);

const PortNumber = whole(1, 65_535);

/** The name of a component: part of container names, host names and labels. */
const ComponentName = v.pipe(v.string(), v.regex(/^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/));

/** As the registry has it, without its host: which registry that is, the host knows from its own configuration. */
export const RepositoryName = v.pipe(
  v.string(),
  v.regex(/^[a-z0-9]+(?:[._-][a-z0-9]+)*(?:\/[a-z0-9]+(?:[._-][a-z0-9]+)*)*$/),
  v.maxLength(200),
);

// NUL would end the text for the kernel, and what comes after it would be judged but not run.
const plain = (max: number) => v.pipe(text(max), v.regex(/^[^\0]*$/));
const Command = v.pipe(v.array(plain(4096)), v.minLength(1), v.maxLength(100));
const EnvName = v.pipe(v.string(), v.regex(/^[A-Za-z_]\w*$/), v.maxLength(128));

/** What the dynamic linker and language runtimes obey: an environment must not bring code along. */
export const FORBIDDEN_ENV =
  /^(?:LD_|GLIBC_TUNABLES$|NVIDIA_|(?:CUDA|ROCR|HIP|AMD)_VISIBLE_DEVICES$|GPU_DEVICE_ORDINAL$|DOCKER_|GPUAAS_)/;

const Env = v.strictObject({
  name: v.pipe(
    EnvName,
    v.check((name) => !FORBIDDEN_ENV.test(name), 'A variable that the platform sets itself or never sets.'),
  ),
  value: plain(8192),
});

const Port = v.strictObject({
  container: PortNumber,
  protocol: v.optional(v.picklist(['tcp', 'udp']), 'tcp'),
  /** Where it is published on the host's 127.0.0.1; 0: the host chooses. Without it, other components alone reach it. */
  host: v.optional(whole(0, 65_535)),
});

const Health = v.strictObject({
  kind: v.picklist(['http', 'tcp', 'command']),
  port: v.optional(PortNumber),
  path: v.optional(v.pipe(v.string(), v.regex(/^\/[!-~]*$/), v.maxLength(1024))),
  command: v.optional(Command),
  interval_seconds: v.optional(whole(1, 300), 10),
  timeout_seconds: v.optional(whole(1, 300), 5),
  failures: v.optional(whole(1, 100), 3),
  start_seconds: v.optional(whole(1, 3600), 60),
});

const Bootstrap = v.strictObject({ command: Command, timeout_seconds: v.optional(whole(1, 3600), 300) });

/** Every container has limits: what is not said is the least that works. */
const ContainerResources = v.strictObject({
  vcpu: v.optional(v.pipe(v.number(), v.minValue(0.05), v.maxValue(1024)), 1),
  memory_mib: v.optional(whole(16, 16 * 1024 * 1024), 512),
  shared_memory_mib: v.optional(whole(1, 16 * 1024 * 1024), 64),
  pids: v.optional(whole(8, 32_768), 512),
  /** As `nvidia-smi -L` names them, MIG parts too. Never a number: numbers change with a restart. */
  gpu_uuids: list(v.pipe(v.string(), v.regex(/^(?:GPU|MIG)-[\w/-]{8,128}$/)), 64),
});

const Mount = v.strictObject({
  volume_id: Id,
  path: v.picklist(['/workspace', '/data']),
  read_only: v.optional(v.boolean(), false),
});

/** The host fetches the value by its handle, once, over its own channel, and writes it to a file in memory. */
const SecretFile = v.strictObject({
  handle: v.pipe(v.string(), v.regex(/^[\w-]{43}$/)),
  path: v.pipe(v.string(), v.regex(/^\/run\/secrets\/[a-z0-9][a-z0-9._-]{0,63}$/)),
});

export const Container = v.strictObject({
  name: ComponentName,
  repository: RepositoryName,
  digest: Digest,
  command: v.optional(Command),
  args: v.optional(Command),
  env: list(Env, 200),
  ports: list(Port, 20),
  health: v.optional(Health),
  bootstrap: v.optional(Bootstrap),
  resources: v.optional(ContainerResources, () => v.parse(ContainerResources, {})),
  mounts: list(Mount, 2),
  secrets: list(SecretFile, 20),
  /** Components of the same task that must be ready before it starts. */
  depends_on: list(ComponentName, 20),
  /** The image must run as root; only where the profile says so and was reviewed for it. */
  root: v.optional(v.boolean(), false),
  /** A root file system that can be written to; only where the profile says so. */
  writable_root: v.optional(v.boolean(), false),
  restarts: v.optional(whole(0, 100), 5),
});
export type Container = v.InferOutput<typeof Container>;

/** A volume the host makes where it is not there yet. Scratch goes with its workload, persistent stays with the project. */
const Volume = v.strictObject({
  id: Id,
  kind: v.picklist(['scratch', 'persistent']),
  size_gib: v.optional(whole(1, 100 * 1024)),
});
export type Volume = v.InferOutput<typeof Volume>;

/** Whose it is; told in labels, in the receipt and in the log. */
const WORKLOAD = {
  workload_id: Id,
  allocation_id: Id,
  org_id: Id,
  project_id: Id,
  app_instance_id: v.optional(Id),
};

const Stop = v.optional(whole(1, 600), 30);

/** Its message is for people; it repeats nothing of the payload but names of components. */
const fitting = <L extends Launch>() =>
  v.check<L, (issue: v.CheckIssue<L>) => string>(
    (launch) => findLaunchFault(launch) === undefined,
    ({ input }) => findLaunchFault(input) ?? '',
  );

const PAYLOADS = {
  'oci.launch': v.pipe(
    v.strictObject({
      ...WORKLOAD,
      container: Container,
      volumes: list(Volume, 2),
      stop_grace_seconds: Stop,
    }),
    fitting(),
  ),
  'oci.status': v.strictObject({ workload_id: Id }),
  'oci.control': v.strictObject({ workload_id: Id, action: v.picklist(['stop', 'start', 'restart']) }),
  'oci.remove': v.strictObject({ workload_id: Id, stop_grace_seconds: Stop }),
  'compose.up': v.pipe(
    v.strictObject({
      ...WORKLOAD,
      containers: v.pipe(v.array(Container), v.minLength(1), v.maxLength(20)),
      volumes: list(Volume, 2),
      stop_grace_seconds: Stop,
    }),
    fitting(),
  ),
  'compose.status': v.strictObject({ workload_id: Id }),
  'compose.down': v.strictObject({ workload_id: Id, stop_grace_seconds: Stop }),
  'volume.create': v.strictObject({ project_id: Id, volume: Volume }),
  'volume.remove': v.strictObject({ volume_id: Id }),
  'logs.read': v.strictObject({
    workload_id: Id,
    component: v.optional(ComponentName),
    /** The last so many lines, of those at or after `since`. */
    lines: v.optional(whole(1, 2000), 200),
    since: v.optional(Time),
  }),
  'ssh_trust.reconcile': v.strictObject({
    user: v.pipe(v.string(), v.regex(/^[a-z_][a-z0-9_-]{0,31}$/)),
    /** Whose lines these are: other lines are not touched, also not those of other owners. */
    owner_id: Id,
    keys: v.pipe(
      v.array(
        v.pipe(
          v.string(),
          v.regex(/^(?:ssh-ed25519|ecdsa-sha2-nistp256|ssh-rsa) [A-Za-z0-9+/]{40,1000}={0,2}$/),
        ),
      ),
      v.maxLength(20),
    ),
  }),
  'agent.update': v.strictObject({
    version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+$/)),
    digest: Digest,
    /** Beneath the platform's own address; the signature over the bundle is fetched beside it. */
    path: v.pipe(v.string(), v.regex(/^\/api\/v1(?:\/\w[\w-]*(?:\.[\w-]+)*)+$/), v.maxLength(200)),
    trial_seconds: v.optional(whole(10, 3600), 180),
  }),
} as const;

export type TaskKind = keyof typeof PAYLOADS;
export type Payload<K extends TaskKind = TaskKind> = v.InferOutput<(typeof PAYLOADS)[K]>;

export const TASK_KINDS = Object.keys(PAYLOADS) as [TaskKind, ...TaskKind[]];

export const payloadSchema = <K extends TaskKind>(kind: K) => PAYLOADS[kind];

/** The frame of every task, of whatever kind and version: enough to answer what cannot be understood. */
export const TaskFrame = v.looseObject({
  id: branded<TaskId>(Id),
  node_id: branded<NodeId>(Id),
  schema_version: whole(1, 1_000_000),
  kind: text(64),
  /** What it acts on: a workload, a volume, or the node itself. Tasks of one subject run one after the other. */
  subject: text(128),
  /** Rises with each task of a subject; a host that has seen a higher one refuses this one. */
  fence: whole(1, Number.MAX_SAFE_INTEGER),
  /** After this nobody waits for it: it is not begun any more. */
  deadline_at: Time,
  /** The host must know at least this revision of the trust policy before it starts anything. */
  trust_revision: v.optional(whole(0, Number.MAX_SAFE_INTEGER), 0),
  correlation_id: text(128),
  traceparent: v.optional(text(64)),
  payload: v.unknown(),
});
export type TaskFrame = v.InferOutput<typeof TaskFrame>;

/** Named one by one: a frame may have members nobody here knows, of which nothing is known either. */
type FrameMember =
  | 'id'
  | 'node_id'
  | 'schema_version'
  | 'subject'
  | 'fence'
  | 'deadline_at'
  | 'trust_revision'
  | 'correlation_id'
  | 'traceparent';

export type Task<K extends TaskKind = TaskKind> = {
  [Kind in K]: Pick<TaskFrame, FrameMember> & { kind: Kind; payload: Payload<Kind> };
}[K];

/** Why a task did not do what it says. A closed list: people and workflows decide by it. */
export const TASK_FAILURES = [
  'unknown_kind',
  'newer_schema',
  'invalid_payload',
  'wrong_node',
  'fenced',
  'deadline_passed',
  'workload_unknown',
  'workload_exists',
  'volume_unknown',
  'volume_in_use',
  'image_pull_failed',
  'signature_rejected',
  'revoked',
  'trust_unavailable',
  'root_refused',
  'secret_unavailable',
  'gpu_unavailable',
  'port_taken',
  'disk_full',
  'bootstrap_failed',
  'not_ready_in_time',
  'out_of_memory',
  'exited',
  'left_behind',
  'update_rejected',
  'engine_unavailable',
  'isolation_unavailable',
  'internal',
] as const;
export type TaskFailure = (typeof TASK_FAILURES)[number];

const CONTAINER_STATES = [
  'created',
  'starting',
  'ready',
  'unhealthy',
  'restarting',
  'stopped',
  'exited',
  'missing',
] as const;

export const ContainerStatus = v.object({
  name: ComponentName,
  container_id: v.optional(text(64)),
  state: v.picklist(CONTAINER_STATES),
  digest: v.optional(Digest),
  ports: list(
    v.object({ container: PortNumber, protocol: v.picklist(['tcp', 'udp']), host: PortNumber }),
    20,
  ),
  restarts: v.optional(whole(0, 1_000_000), 0),
  exit_code: v.optional(v.number()),
  out_of_memory: v.optional(v.boolean(), false),
  started_at: v.optional(Time),
  ready_at: v.optional(Time),
});
export type ContainerStatus = v.InferOutput<typeof ContainerStatus>;

const names = list(text(256), 200);

/** Written by the host after it has looked at the engine once more; `signature` is a compact JWS of the rest by the node's key. */
export const Receipt = v.object({
  workload_id: Id,
  task_id: Id,
  node_id: Id,
  removed: v.object({ containers: names, networks: names, volumes: names, paths: names }),
  /** Persistent volumes, which stay with the project. */
  kept: v.object({ volumes: names }),
  /** What is still there; a removal that leaves anything has failed with `left_behind`. */
  remaining: names,
  checked_at: Time,
});
export type Receipt = v.InferOutput<typeof Receipt>;

/** What a task of any kind may bring back. */
export const TaskResult = v.object({
  containers: v.optional(v.pipe(v.array(ContainerStatus), v.maxLength(20))),
  receipt: v.optional(Receipt),
  receipt_signature: v.optional(text(16 * 1024)),
  lines: v.optional(
    v.pipe(
      v.array(
        v.object({
          at: Time,
          component: ComponentName,
          stream: v.picklist(['stdout', 'stderr']),
          text: text(16 * 1024),
        }),
      ),
      v.maxLength(2000),
    ),
  ),
  /** The output of bootstrap commands, bounded. */
  bootstrap_output: v.optional(text(16 * 1024)),
  keys_added: v.optional(whole(0, 1000)),
  keys_removed: v.optional(whole(0, 1000)),
  agent_version: v.optional(text(32)),
});
export type TaskResult = v.InferOutput<typeof TaskResult>;

/** How a host answers. `refused`: nothing was begun. `failed`: what was begun was undone, unless `left_behind`. */
export const TaskReport = v.variant('status', [
  v.strictObject({
    status: v.literal('running'),
    fence: whole(1, Number.MAX_SAFE_INTEGER),
    step: text(64),
    at: Time,
  }),
  v.strictObject({
    status: v.literal('succeeded'),
    fence: whole(1, Number.MAX_SAFE_INTEGER),
    at: Time,
    result: TaskResult,
  }),
  v.strictObject({
    status: v.picklist(['failed', 'refused']),
    fence: whole(1, Number.MAX_SAFE_INTEGER),
    at: Time,
    code: v.picklist(TASK_FAILURES),
    detail: text(2000),
    result: v.optional(TaskResult),
  }),
]);
export type TaskReport = v.InferOutput<typeof TaskReport>;
/** The answers that end a task. */
export type Outcome = Exclude<TaskReport, { status: 'running' }>;

export type ParsedTask =
  | { task: Task }
  | { refused: Extract<TaskFailure, 'unknown_kind' | 'newer_schema' | 'invalid_payload'>; detail: string };

/** Whatever has a readable frame gets an answer: what is not understood is refused, not dropped. */
export function parseTask(frame: TaskFrame): ParsedTask {
  if (frame.schema_version > TASK_SCHEMA_VERSION)
    return {
      refused: 'newer_schema',
      detail: `This agent knows tasks up to version ${TASK_SCHEMA_VERSION}. Update the agent.`,
    };
  if (!(TASK_KINDS as string[]).includes(frame.kind))
    return {
      refused: 'unknown_kind',
      detail: 'This agent does not know this kind of task. Update the agent.',
    };
  const payload = v.safeParse(objectsOnly(payloadSchema(frame.kind as TaskKind)), frame.payload);
  if (!payload.success) return { refused: 'invalid_payload', detail: explain(payload.issues) };
  const subject = subjectOfTask(frame.kind as TaskKind, payload.output);
  if (frame.subject !== nameSubject(subject))
    return { refused: 'invalid_payload', detail: 'The subject is not what the payload acts on.' };
  return { task: { ...frame, payload: payload.output } as Task };
}

/** Bounded, as names of unknown members are the sender's own, and as long as they like. */
function explain(issues: v.BaseIssue<unknown>[]): string {
  const unfit = issues.find(({ type, path }) => type === 'check' && path === undefined);
  const faults = issues
    .slice(0, 10)
    .map(({ path = [] }) => `/${path.map(({ key }) => String(key).slice(0, 40)).join('/')}`);
  return unfit
    ? `The payload is not valid. ${unfit.message}`
    : `The payload is not valid at ${faults.join(', ').slice(0, 400)}.`;
}
