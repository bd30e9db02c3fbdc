// Fields that are right alone and wrong together, keys nobody knows, and frames that are not this host's to perform.

import { DIGEST, type HostileTask, OTHER_ID, SAMPLE_NAMES, SEEN_FENCE, VOLUME_ID } from './case.ts';

/** What engines and Compose would obey, if anybody handed it on. */
const UNKNOWN_KEYS: [string, unknown][] = [
  ['privileged', true],
  ['Privileged', true],
  ['cap_add', ['SYS_ADMIN']],
  ['CapAdd', ['ALL']],
  ['devices', ['/dev/kmsg:/dev/kmsg']],
  ['device_cgroup_rules', ['a *:* rwm']],
  ['volumes_from', ['other']],
  ['binds', ['/:/host']],
  ['network_mode', 'host'],
  ['pid', 'host'],
  ['ipc', 'host'],
  ['uts', 'host'],
  ['userns_mode', 'host'],
  ['cgroup_parent', '/'],
  ['cgroupns_mode', 'host'],
  ['security_opt', ['seccomp=unconfined']],
  ['sysctls', { 'kernel.core_pattern': '|/bin/sh' }],
  ['ulimits', { core: -1 }],
  ['runtime', 'runc'],
  ['user', '0:0'],
  ['group_add', ['docker']],
  ['extra_hosts', ['metadata:169.254.169.254']],
  ['dns', ['169.254.169.254']],
  ['labels', { 'gpuaas.node': 'another' }],
  ['extends', { file: '/etc/passwd' }],
  ['env_file', '/etc/environment'],
  ['build', '.'],
  ['image', 'busybox:latest'],
  ['links', ['other:other']],
  ['tmpfs', ['/etc']],
  ['oom_kill_disable', true],
  ['oom_score_adj', -1000],
  ['restart', 'always'],
  ['logging', { driver: 'syslog' }],
  ['constructor', { prototype: { privileged: true } }],
  ['__proto__', { root: true, writable_root: true }],
  ['prototype', {}],
  ['toString', 'x'],
  ['hasOwnProperty', true],
  ['k'.repeat(100_000), true],
];

const UNKNOWN: HostileTask[] = [
  ...UNKNOWN_KEYS.map(([key, value]): HostileTask => ({
    name: `the key ${key.slice(0, 40)} of a container`,
    sample: 'oci',
    at: `/payload/container/${key}`,
    value,
  })),
  ...SAMPLE_NAMES.flatMap((sample): HostileTask[] => [
    { name: `an unknown key of ${sample}`, sample, at: '/payload/script', value: 'id' },
    { name: `__proto__ of ${sample}`, sample, at: '/payload/__proto__', value: { workload_id: OTHER_ID } },
    { name: `no payload of ${sample}`, sample, at: '/payload' },
    { name: `a list as the payload of ${sample}`, sample, at: '/payload', value: [] },
    { name: `a text as the payload of ${sample}`, sample, at: '/payload', value: '{"workload_id":"x"}' },
  ]),
];

const port = (host: number) => [{ container: 80, host }];

const TOGETHER: HostileTask[] = (
  [
    ['two components of one name', '/containers/1/name', 'web'],
    ['a component that depends on itself', '/containers/0/depends_on', ['web']],
    ['a circle of two', '/containers/0/depends_on', ['worker']],
    ['a component that depends on nobody there', '/containers/0/depends_on', ['absent']],
    ['dependencies on what every object has', '/containers/0/depends_on', ['constructor']],
    ['two components on one port of the host', '/containers/2/ports', port(20_000)],
    [
      'one port of the host for two ports',
      '/containers/0/ports',
      [...port(20_000), { container: 81, host: 20_000 }],
    ],
    ['a port twice', '/containers/0/ports', [...port(20_000), ...port(20_005)]],
    ['a volume nobody declared', '/containers/0/mounts/0/volume_id', OTHER_ID],
    ['two volumes at one path', '/containers/0/mounts', mounts('/data', '/data')],
    ['one volume at two paths', '/containers/0/mounts', mounts('/data', '/workspace')],
    [
      'two volumes of one id',
      '/volumes',
      [
        { id: VOLUME_ID, kind: 'scratch' },
        { id: VOLUME_ID, kind: 'persistent' },
      ],
    ],
    ['three volumes', '/volumes', Array.from({ length: 3 }, () => ({ id: VOLUME_ID, kind: 'scratch' }))],
    ['two secrets at one path', '/containers/0/secrets', secrets('/run/secrets/a', '/run/secrets/a')],
    ['a variable twice', '/containers/0/env', [variable('A', '1'), variable('A', '2')]],
    ['a GPU twice', '/containers/0/resources/gpu_uuids', ['GPU-aaaaaaaa-1', 'GPU-aaaaaaaa-1']],
    ['a check without its command', '/containers/0/health', { kind: 'command' }],
    ['a check without a port', '/containers/1/health', { kind: 'tcp' }],
    ['a check with a command it does not run', '/containers/0/health', { kind: 'http', command: ['id'] }],
    ['a check with a path it does not ask for', '/containers/0/health', { kind: 'tcp', port: 80, path: '/' }],
    ['no components', '/containers', []],
    ['components by name', '/containers', { web: { digest: DIGEST } }],
    ['twenty-one components', '/containers', many(21)],
    ['a circle of twenty', '/containers', many(20)],
    ['a component that is null', '/containers/0', null],
  ] as [string, string, unknown][]
).map(([name, at, value]) => ({ name, sample: 'compose', at: `/payload${at}`, value }));

function mounts(...paths: string[]) {
  return paths.map((path) => ({ volume_id: VOLUME_ID, path }));
}

function secrets(...paths: string[]) {
  return paths.map((path) => ({ handle: 'h'.repeat(43), path }));
}

function variable(name: string, value: string) {
  return { name, value };
}

/** Each depends on the next, the last on the first. */
function many(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    name: `c${index}`,
    repository: 'gpuaas/apps/web',
    digest: DIGEST,
    depends_on: [`c${(index + 1) % count}`],
  }));
}

const FRAMES: HostileTask[] = (
  [
    ['another node', 'node_id', OTHER_ID, 'wrong_node'],
    ['a node in capitals', 'node_id', '0190AAAA-0000-7000-8000-000000000001', 'invalid_payload'],
    ['a fence that was passed', 'fence', SEEN_FENCE - 1, 'fenced'],
    ['the fence 0', 'fence', 0, 'invalid_payload'],
    ['a negative fence', 'fence', -1, 'invalid_payload'],
    ['a fence in text', 'fence', '7', 'invalid_payload'],
    ['a fence no computer counts to', 'fence', 2 ** 53, 'invalid_payload'],
    ['a broken fence', 'fence', 5.5, 'invalid_payload'],
    ['no fence', 'fence', undefined, 'invalid_payload'],
    ['a deadline that has passed', 'deadline_at', '2025-12-31T23:59:59.999Z', 'deadline_passed'],
    ['a deadline in words', 'deadline_at', 'tomorrow', 'invalid_payload'],
    ['no deadline', 'deadline_at', undefined, 'invalid_payload'],
    ['a kind nobody knows', 'kind', 'shell.run', 'unknown_kind'],
    ['a kind that every object has', 'kind', 'constructor', 'unknown_kind'],
    ['the kind __proto__', 'kind', '__proto__', 'unknown_kind'],
    ['a kind in capitals', 'kind', 'OCI.LAUNCH', 'unknown_kind'],
    ['a kind with a blank', 'kind', 'oci.launch ', 'unknown_kind'],
    ['a long kind', 'kind', 'k'.repeat(65), 'invalid_payload'],
    ['a later schema', 'schema_version', 2, 'newer_schema'],
    ['the schema 0', 'schema_version', 0, 'invalid_payload'],
    ['a negative trust revision', 'trust_revision', -1, 'invalid_payload'],
    ['a trust revision in text', 'trust_revision', '0', 'invalid_payload'],
    ['the subject of another workload', 'subject', `workload:${OTHER_ID}`, 'invalid_payload'],
    ['no subject', 'subject', undefined, 'invalid_payload'],
    ['an empty subject', 'subject', '', 'invalid_payload'],
    ['a long subject', 'subject', 's'.repeat(129), 'invalid_payload'],
    ['a long correlation id', 'correlation_id', 'c'.repeat(129), 'invalid_payload'],
  ] as [string, string, unknown, HostileTask['code']][]
).map(([name, key, value, code]) => ({
  name,
  sample: 'oci',
  at: `/${key}`,
  ...(value !== undefined && { value }),
  ...(code && { code }),
}));

export const TOGETHER_CASES: HostileTask[] = [...UNKNOWN, ...TOGETHER, ...FRAMES];
