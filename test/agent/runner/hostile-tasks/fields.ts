// One field that says what it may not, by the kind of field.

import { DIGEST, type HostileTask, OTHER_ID } from './case.ts';

const HEX = 'ab'.repeat(32);
const PAYLOAD = '/payload';
const CONTAINER = `${PAYLOAD}/container`;

/** Every value of a list at one place. */
const each = (
  sample: HostileTask['sample'],
  at: string,
  what: string,
  values: unknown[],
  more: Partial<HostileTask> = {},
): HostileTask[] =>
  values.map((value) => ({
    name: `${what} ${nameOf(value)} in ${sample}, ${at}`,
    sample,
    at,
    value,
    ...more,
  }));

const nameOf = (value: unknown): string => JSON.stringify(value)?.slice(0, 60) ?? 'nothing';

const WRONG_IDS = [
  '',
  'latest',
  '../../etc',
  '*',
  'all',
  7,
  null,
  {},
  ['0190aaaa-0000-7000-8000-000000000002'],
  '0190AAAA-0000-7000-8000-000000000002',
  '0190aaaa00007000800000000000000002',
  ' 0190aaaa-0000-7000-8000-000000000002',
  '0190aaaa-0000-7000-8000-000000000002\n',
  '0190aaaa-0000-7000-8000-000000000002\0',
  '0190аааа-0000-7000-8000-000000000002',
  '0190aaaa-0000-7000-8000-00000000000２',
  '0190aaaa-0000-7000-8000-000000000002/../other',
];

const IMAGES = [
  ...each('oci', `${CONTAINER}/digest`, 'the digest', [
    'latest',
    'v1.2.3',
    HEX,
    `sha256:${HEX.slice(2)}`,
    `sha256:${HEX}00`,
    `sha256:${HEX.toUpperCase()}`,
    `sha512:${HEX}${HEX}`,
    `md5:${HEX.slice(32)}`,
    `${DIGEST}\n`,
    `${DIGEST}@${DIGEST}`,
    `sha256:${'zz'.repeat(32)}`,
    { $ne: null },
    null,
  ]),
  ...each('oci', `${CONTAINER}/repository`, 'the repository', [
    'gpuaas/apps/jupyter:latest',
    `gpuaas/apps/jupyter@${DIGEST}`,
    'registry.example.com:5000/apps/jupyter',
    'localhost:5000/apps/jupyter',
    'https://registry.example.com/apps/jupyter',
    'docker://apps/jupyter',
    'user:password@registry.example.com/jupyter',
    '../other-team/runtime',
    'gpuaas/apps/../../other',
    '/gpuaas/apps/jupyter',
    'gpuaas//jupyter',
    'gpuaas/apps/jupyter/',
    'Gpuaas/Apps/Jupyter',
    'gpuaas/apps/jupyter --privileged',
    'gpuaas/apps/jupyter;id',
    '$(id)',
    'gpuaas/apps/jupyter\n',
    'gpuaas/apps/jupyter\0',
    'gpuaas/аpps/jupyter',
    'a/'.repeat(100) + 'bc',
    '',
  ]),
];

const NAMES = each('oci', `${CONTAINER}/name`, 'the component', [
  '',
  '.',
  '..',
  '../web',
  'Web',
  'web_1',
  '-web',
  'web-',
  'web\n',
  'web\0',
  'web web',
  'wеb',
  'ｗeb',
  'w'.repeat(41),
  'web,label=x',
  '__proto__',
  null,
]);

const COMMANDS = ['command', 'args', 'bootstrap/command'].flatMap((field) =>
  each('oci', `${CONTAINER}/${field}`, 'the command', [
    '/bin/sh -c id',
    [],
    ['/bin/true\0--privileged'],
    [7],
    [['nested']],
    ['x'.repeat(4097)],
    Array.from({ length: 101 }, () => 'x'),
  ]),
);

const VARIABLES = [
  ...[
    'LD_PRELOAD',
    'LD_LIBRARY_PATH',
    'LD_AUDIT',
    'GLIBC_TUNABLES',
    'NVIDIA_VISIBLE_DEVICES',
    'NVIDIA_DRIVER_CAPABILITIES',
    'NVIDIA_DISABLE_REQUIRE',
    'NVIDIA_MIG_CONFIG_DEVICES',
    'CUDA_VISIBLE_DEVICES',
    'ROCR_VISIBLE_DEVICES',
    'HIP_VISIBLE_DEVICES',
    'AMD_VISIBLE_DEVICES',
    'GPU_DEVICE_ORDINAL',
    'DOCKER_HOST',
    'DOCKER_CONFIG',
    'GPUAAS_WORKLOAD_ID',
    'GPUAAS_TOKEN',
  ].flatMap((name) => each('oci', `${CONTAINER}/env/0/name`, 'the variable', [name])),
  ...each('oci', `${CONTAINER}/env/0/name`, 'the variable', [
    '',
    '1ST',
    'A B',
    'A=B',
    'A\n',
    'A\0',
    'A-B',
    'МODE',
    'ＬD_PRELOAD',
    'M'.repeat(129),
  ]),
  ...each('oci', `${CONTAINER}/env/0/value`, 'the value', ['a\0b', 7, null, {}, 'x'.repeat(8193)]),
  ...each('oci', `${CONTAINER}/env`, 'variables', [
    { LD_PRELOAD: '/x.so' },
    ['A=B'],
    'A=B',
    Array.from({ length: 201 }, (_, index) => ({ name: `V${index}`, value: '' })),
  ]),
];

const PORTS = [
  ...each('oci', `${CONTAINER}/ports/0/container`, 'the port', [
    0,
    -1,
    65_536,
    80.5,
    '80',
    '80/tcp',
    null,
    1e308,
  ]),
  ...each('oci', `${CONTAINER}/ports/0/host`, 'the host port', [
    -1,
    65_536,
    0.5,
    '0.0.0.0:80',
    '20000',
    [20_000],
  ]),
  ...each('oci', `${CONTAINER}/ports/0/protocol`, 'the protocol', ['sctp', 'TCP', 'tcp ', 'all', null]),
  ...each('oci', `${CONTAINER}/ports/0/host_ip`, 'the address', ['0.0.0.0', '::', '127.0.0.1']),
];

const HEALTH = [
  ...each('oci', `${CONTAINER}/health/path`, 'the path', [
    'healthz',
    'http://169.254.169.254/',
    '/a b',
    '/a\r\nX-Other: 1',
    '/ä',
    `/${'x'.repeat(1024)}`,
  ]),
  ...each('oci', `${CONTAINER}/health/kind`, 'the check', ['exec', 'HTTP', 'https']),
  ...each('oci', `${CONTAINER}/health/host`, 'the host', ['169.254.169.254', '127.0.0.1']),
  ...each('oci', `${CONTAINER}/health/interval_seconds`, 'the interval', [0, -1, 301, 0.001]),
];

const MOUNTS = [
  ...each('oci', `${CONTAINER}/mounts/0/path`, 'the mount', [
    '/',
    '/etc',
    '/proc',
    '/sys',
    '/dev',
    '/run/secrets',
    '/workspace/',
    '/workspace/..',
    '/workspace/../etc',
    'workspace',
    '/data\0',
    '/var/run/docker.sock',
  ]),
  ...each('oci', `${CONTAINER}/mounts/0/volume_id`, 'the volume', [
    '/',
    '/etc',
    '/var/run/docker.sock',
    '..',
    'gpuaas-x',
  ]),
  ...each('oci', `${CONTAINER}/mounts/0/source`, 'the source', ['/', '/var/run/docker.sock']),
  ...each('oci', `${CONTAINER}/mounts/0/type`, 'the type', ['bind', 'tmpfs']),
  ...each('oci', `${CONTAINER}/mounts/0/propagation`, 'the propagation', ['rshared']),
  ...each('oci', `${PAYLOAD}/volumes/0/kind`, 'the kind', ['host', 'bind', 'shared', null]),
  ...each('oci', `${PAYLOAD}/volumes/0/size_gib`, 'the size', [0, -1, 1.5, '1', 102_401, Number.MAX_VALUE]),
  ...each('oci', `${PAYLOAD}/volumes/0/driver_opts`, 'options', [{ type: 'none', o: 'bind', device: '/' }]),
  ...each('oci', `${PAYLOAD}/volumes/0/host_path`, 'the path', ['/etc']),
];

const SECRETS = [
  ...each('oci', `${CONTAINER}/secrets/0/path`, 'the secret', [
    '/run/secrets/',
    '/run/secrets/..',
    '/run/secrets/../../etc/passwd',
    '/run/secrets/a/b',
    '/run/secrets/.hidden',
    '/run/secrets/A',
    '/run/secrets/a\n',
    '/run/secrets/a\0',
    '/etc/shadow',
    'run/secrets/a',
    `/run/secrets/${'a'.repeat(65)}`,
  ]),
  ...each('oci', `${CONTAINER}/secrets/0/handle`, 'the handle', [
    '',
    'short',
    'h'.repeat(44),
    `${'h'.repeat(42)}/`,
    7,
  ]),
  ...each('oci', `${CONTAINER}/secrets/0/value`, 'the value', ['plain text']),
];

const NUMBERS = [
  ...each('oci', `${CONTAINER}/resources/vcpu`, 'processors', [0, -1, 0.01, 1025, '1', null, -1e308, 1e308]),
  ...each('oci', `${CONTAINER}/resources/memory_mib`, 'memory', [0, -1, 15, 64.5, 1e308, '64m', 16_777_217]),
  ...each('oci', `${CONTAINER}/resources/pids`, 'processes', [0, -1, 7, 32_769, 1.5, null]),
  ...each('oci', `${CONTAINER}/resources/shared_memory_mib`, 'shared memory', [0, -1, 1e15]),
  ...each('oci', `${CONTAINER}/resources/gpu_uuids`, 'GPUs', [
    [0],
    ['0'],
    ['all'],
    ['GPU-0'],
    ['/dev/nvidia0'],
    ['GPU-aaaaaaaa,all'],
    ['GPU-aaaaaaaa\n'],
    ['gpu-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee'],
    'all',
    Array.from({ length: 65 }, (_, index) => `GPU-aaaaaaaa-${index}`),
  ]),
  ...each('oci', `${CONTAINER}/restarts`, 'restarts', [-1, 101, 0.5]),
  ...each('oci', `${CONTAINER}/resources`, 'resources', [[], 'unlimited', 7]),
  ...each('remove', `${PAYLOAD}/stop_grace_seconds`, 'the grace', [0, -1, 601, '30']),
  ...each('logs', `${PAYLOAD}/lines`, 'lines', [0, -1, 2001, 1e9, '10']),
];

const IDS = [
  ...each('status', `${PAYLOAD}/workload_id`, 'the id', WRONG_IDS),
  ...each('volumeRemove', `${PAYLOAD}/volume_id`, 'the id', WRONG_IDS),
  ...each('oci', `${PAYLOAD}/project_id`, 'the project', [null, '', '*', 'platform']),
  ...each('oci', `${PAYLOAD}/allocation_id`, 'the allocation', [undefined, 'any']),
];

const OTHERS = [
  ...each('control', `${PAYLOAD}/action`, 'the action', ['kill', 'exec', 'pause', 'STOP', ['stop'], null]),
  ...each('logs', `${PAYLOAD}/component`, 'the component', ['../web', '*', '']),
  ...each('logs', `${PAYLOAD}/since`, 'since', ['yesterday', 0, '2026-01-01']),
  ...each('logs', `${PAYLOAD}/path`, 'the path', ['/etc/shadow']),
  ...each('ssh', `${PAYLOAD}/user`, 'the user', [
    '../root',
    'Ubuntu',
    'ubuntu\n',
    'a b',
    '',
    `u${'x'.repeat(32)}`,
    'ubuntu:0',
  ]),
  ...each('ssh', `${PAYLOAD}/keys/0`, 'the key', [
    `command="id" ssh-ed25519 ${'A'.repeat(68)}`,
    `ssh-ed25519 ${'A'.repeat(68)} comment`,
    `ssh-ed25519 ${'A'.repeat(68)}\nssh-ed25519 ${'B'.repeat(68)}`,
    `ssh-dss ${'A'.repeat(68)}`,
    `from="*" ssh-rsa ${'A'.repeat(68)}`,
    'ssh-ed25519 A',
    '# gpuaas',
  ]),
  ...each('ssh', `${PAYLOAD}/path`, 'the path', ['/root/.ssh/authorized_keys']),
  ...each('update', `${PAYLOAD}/path`, 'the path', [
    'https://example.com/bundle.mjs',
    '//example.com/bundle.mjs',
    '/api/v1/../../other',
    '/api/v1/agent/../bundle.mjs',
    '/api/v1//example.com',
    '/api/v1/agent/bundle.mjs?x=1',
    '/api/v2/agent/bundle.mjs',
    '/api/v1/',
    '/api/v1/.hidden',
    `/api/v1/${'a'.repeat(200)}`,
  ]),
  ...each('update', `${PAYLOAD}/digest`, 'the digest', ['latest', '', `sha256:${HEX}0`]),
  ...each('update', `${PAYLOAD}/version`, 'the version', [
    'latest',
    '1.2',
    '1.2.3; id',
    '1.2.3-rc1',
    '٣.1.1',
  ]),
  ...each('volume', `${PAYLOAD}/project_id`, 'the project', [undefined, OTHER_ID.toUpperCase()]),
];

export const FIELD_CASES: HostileTask[] = [
  ...IMAGES,
  ...NAMES,
  ...COMMANDS,
  ...VARIABLES,
  ...PORTS,
  ...HEALTH,
  ...MOUNTS,
  ...SECRETS,
  ...NUMBERS,
  ...IDS,
  ...OTHERS,
];
