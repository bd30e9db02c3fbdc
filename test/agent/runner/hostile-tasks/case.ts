// A task that must be refused: a good one with one thing in it changed, and by which code.

import type { TaskFailure } from '../../../../functions/tasks/task.ts';

export const NODE_ID = '0190aaaa-0000-7000-8000-000000000001';
const WORKLOAD_ID = '0190aaaa-0000-7000-8000-000000000002';
export const VOLUME_ID = '0190aaaa-0000-7000-8000-000000000003';
export const TASK_ID = '0190aaaa-0000-7000-8000-000000000007';
export const OTHER_ID = '0190aaaa-0000-7000-8000-0000000000ff';
export const DIGEST = `sha256:${'ab'.repeat(32)}`;
export const NOW = new Date('2026-01-01T00:00:00.000Z');
/** Of the same subject, the host has seen one with this fence. */
export const SEEN_FENCE = 5;

export interface HostileTask {
  name: string;
  /** Which of the good ones it was. */
  sample: keyof typeof SAMPLES;
  /** What is set, by JSON pointer. */
  at: string;
  /** Nothing: it is taken away. */
  value?: unknown;
  code?: TaskFailure;
}

const WORKLOAD = {
  workload_id: WORKLOAD_ID,
  allocation_id: '0190aaaa-0000-7000-8000-000000000004',
  org_id: '0190aaaa-0000-7000-8000-000000000005',
  project_id: '0190aaaa-0000-7000-8000-000000000006',
};

const web = () => ({
  name: 'web',
  repository: 'gpuaas/apps/jupyter',
  digest: DIGEST,
  command: ['/bin/serve'],
  args: ['--port', '80'],
  env: [{ name: 'MODE', value: 'production' }],
  ports: [{ container: 80, protocol: 'tcp', host: 20_000 }],
  health: { kind: 'http', port: 80, path: '/healthz' },
  bootstrap: { command: ['/bin/prepare'] },
  resources: { vcpu: 1, memory_mib: 64, shared_memory_mib: 16, pids: 64, gpu_uuids: [] as string[] },
  mounts: [{ volume_id: VOLUME_ID, path: '/workspace' }],
  secrets: [{ handle: 'h'.repeat(43), path: '/run/secrets/token' }],
  depends_on: [] as string[],
});

const volume = { id: VOLUME_ID, kind: 'scratch', size_gib: 1 };

const compose = () => ({
  ...WORKLOAD,
  containers: [
    web(),
    { name: 'worker', repository: 'gpuaas/apps/worker', digest: DIGEST, depends_on: ['web'] },
    {
      name: 'cache',
      repository: 'gpuaas/apps/cache',
      digest: DIGEST,
      ports: [{ container: 6379, host: 20_001 }],
    },
  ] as Record<string, unknown>[],
  volumes: [volume],
});

const ofWorkload = `workload:${WORKLOAD_ID}`;

const SAMPLES = {
  oci: () => ['oci.launch', ofWorkload, { ...WORKLOAD, container: web(), volumes: [volume] }],
  compose: () => ['compose.up', ofWorkload, compose()],
  status: () => ['oci.status', ofWorkload, { workload_id: WORKLOAD_ID }],
  control: () => ['oci.control', ofWorkload, { workload_id: WORKLOAD_ID, action: 'restart' }],
  remove: () => ['oci.remove', ofWorkload, { workload_id: WORKLOAD_ID, stop_grace_seconds: 10 }],
  down: () => ['compose.down', ofWorkload, { workload_id: WORKLOAD_ID }],
  volume: () => ['volume.create', `volume:${VOLUME_ID}`, { project_id: WORKLOAD.project_id, volume }],
  volumeRemove: () => ['volume.remove', `volume:${VOLUME_ID}`, { volume_id: VOLUME_ID }],
  logs: () => ['logs.read', ofWorkload, { workload_id: WORKLOAD_ID, component: 'web', lines: 10 }],
  ssh: () => [
    'ssh_trust.reconcile',
    'ssh_trust:ubuntu',
    { user: 'ubuntu', owner_id: OTHER_ID, keys: [`ssh-ed25519 ${'A'.repeat(68)}`] },
  ],
  update: () => [
    'agent.update',
    'agent',
    { version: '1.2.3', digest: DIGEST, path: '/api/v1/agent/bundle.mjs' },
  ],
} satisfies Record<string, () => [kind: string, subject: string, payload: object]>;

export const SAMPLE_NAMES = Object.keys(SAMPLES) as (keyof typeof SAMPLES)[];

export function sampleOf(name: keyof typeof SAMPLES): Record<string, unknown> {
  const [kind, subject, payload] = SAMPLES[name]();
  const at = { deadline_at: '2026-01-01T01:00:00.000Z', correlation_id: 'c', trust_revision: 0 };
  return structuredClone({
    id: TASK_ID,
    node_id: NODE_ID,
    schema_version: 1,
    kind,
    subject,
    fence: 7,
    ...at,
    payload,
  });
}

/** As it would come out of a queue. */
export function bodyOf({ sample, at, value }: HostileTask): string {
  const frame = sampleOf(sample);
  const keys = at.slice(1).split('/');
  const last = keys.pop() ?? '';
  let parent = frame;
  for (const key of keys) {
    if (parent[key] === undefined) throw new Error(`The sample has nothing at ${at}.`);
    parent = parent[key] as Record<string, unknown>;
  }
  if (value === undefined) delete parent[last];
  // As JSON.parse would: __proto__ is a name like any other.
  else Object.defineProperty(parent, last, { value, enumerable: true, writable: true, configurable: true });
  return JSON.stringify(frame);
}
