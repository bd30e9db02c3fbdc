// How a container is made. Whatever is not written here, it does not get.

import type { ContainerCreateOptions, MountConfig } from 'dockerode';
import { type Container, FORBIDDEN_ENV } from '../../functions/tasks/task.ts';
import { gpuOptions } from './gpu.ts';
import { containerLabels, containerName, networkName, volumeName } from './labels.ts';
import type { User } from './user.ts';
import type { Workload } from './workload.ts';

const MIB = 1024 * 1024;
const NANO = 1e9;
const LOG_FILES = { 'max-size': '10m', 'max-file': '3' };
const TMPFS = 'rw,nosuid,nodev';
/** Not in the client's types. Engines on the first cgroups would otherwise show a container those of the host. */
const OWN_CGROUPS = { CgroupnsMode: 'private' };

export interface ContainerInput {
  nodeId: string;
  workload: Workload;
  container: Container;
  /** With the registry's host, by digest. */
  image: string;
  /** What the image declares of itself. */
  imageEnv: string[];
  imageVolumes: string[];
  user: User;
  /** Where the secrets lie in the host's memory; nothing where there are none. */
  secretsDir?: string;
  runtimes: string[];
}

export function containerOptions(input: ContainerInput): ContainerCreateOptions & { name: string } {
  const { nodeId, workload, container, user } = input;
  const { resources, ports, command, args } = container;
  const { env, ...gpus } = gpuOptions(resources.gpu_uuids, input.runtimes);
  const memory = resources.memory_mib * MIB;
  return {
    name: containerName(workload.id, container.name),
    Image: input.image,
    Hostname: container.name,
    User: `${user.uid}:${user.gid}`,
    ...(command && { Entrypoint: command }),
    ...(args && { Cmd: args }),
    Env: [...environment(input), ...env],
    Labels: containerLabels(nodeId, workload, container),
    ExposedPorts: Object.fromEntries(ports.map((port) => [portKey(port), {}])),
    // Health is probed from outside: the image's own check would be one more process in the container.
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGTERM',
    NetworkingConfig: {
      EndpointsConfig: { [networkName(workload.id)]: { Aliases: [container.name] } },
    },
    HostConfig: {
      ...gpus,
      NetworkMode: networkName(workload.id),
      Privileged: false,
      CapDrop: ['ALL'],
      CapAdd: [],
      // Without a word about seccomp the engine's default profile applies.
      SecurityOpt: ['no-new-privileges:true'],
      ReadonlyRootfs: !container.writable_root,
      Tmpfs: memoryFolders(input),
      Mounts: mounts(input),
      Binds: [],
      Devices: [],
      IpcMode: 'private',
      PidMode: '',
      UTSMode: '',
      UsernsMode: '',
      ...OWN_CGROUPS,
      PidsLimit: resources.pids,
      Memory: memory,
      // The same again: no swap beside it.
      MemorySwap: memory,
      NanoCpus: Math.round(resources.vcpu * NANO),
      ShmSize: Math.min(resources.shared_memory_mib, resources.memory_mib) * MIB,
      Ulimits: [{ Name: 'core', Soft: 0, Hard: 0 }],
      Init: true,
      PortBindings: portBindings(container),
      PublishAllPorts: false,
      LogConfig: { Type: 'local', Config: LOG_FILES },
      // The agent restarts, as it also counts and reports.
      RestartPolicy: { Name: 'no' },
      AutoRemove: false,
    },
  };
}

/** Of what the image brings along, the variables that only the platform sets are taken out (a name without a value). */
function environment({ workload, container, imageEnv }: ContainerInput): string[] {
  const own = {
    GPUAAS_WORKLOAD_ID: workload.id,
    GPUAAS_PROJECT_ID: workload.project_id,
    GPUAAS_COMPONENT: container.name,
    ...(workload.app_instance_id !== undefined && { GPUAAS_APP_INSTANCE_ID: workload.app_instance_id }),
  };
  const refused = imageEnv
    .map((entry) => entry.split('=')[0] ?? '')
    .filter((name) => FORBIDDEN_ENV.test(name) && !(name in own) && !name.startsWith('NVIDIA_'));
  return [
    ...refused,
    ...Object.entries(own).map(([name, value]) => `${name}=${value}`),
    ...container.env.map(({ name, value }) => `${name}=${value}`),
  ];
}

/** What may be written to without a volume is memory, and counts as the container's own. */
function memoryFolders(input: ContainerInput): Record<string, string> {
  const { container, user, imageVolumes } = input;
  const half = `size=${Math.ceil(container.resources.memory_mib / 2)}m`;
  const owned = `${TMPFS},${half},mode=755,uid=${user.uid},gid=${user.gid}`;
  const covered = new Set<string>([...container.mounts.map(({ path }) => path), '/run/secrets']);
  // An image that declares volumes would otherwise get some on the disk, without a label and without a bound.
  const declared = imageVolumes
    .map((path) => path.replace(/\/+$/, ''))
    .filter((path) => !covered.has(path))
    .map((path) => [path, owned]);
  const always = container.writable_root
    ? []
    : [
        ['/tmp', `${TMPFS},${half},mode=1777`],
        ['/run', owned],
      ];
  return Object.fromEntries([...declared, ...always]) as Record<string, string>;
}

function mounts({ container, secretsDir }: ContainerInput): MountConfig {
  return [
    ...container.mounts.map(({ volume_id, path, read_only }) => ({
      Type: 'volume' as const,
      Source: volumeName(volume_id),
      Target: path,
      ReadOnly: read_only,
      // An image does not fill a project's volume.
      VolumeOptions: { NoCopy: true, Labels: {}, DriverConfig: { Name: 'local', Options: {} } },
    })),
    ...(secretsDir === undefined
      ? []
      : [
          {
            Type: 'bind' as const,
            Source: secretsDir,
            Target: '/run/secrets',
            ReadOnly: true,
            BindOptions: { Propagation: 'rprivate' as const },
          },
        ]),
  ];
}

/** On 127.0.0.1 alone: nothing on a host listens to the world. */
function portBindings({ ports }: Container): Record<string, { HostIp: string; HostPort: string }[]> {
  const published = ports.filter(({ host }) => host !== undefined);
  return Object.fromEntries(
    published.map((port) => [portKey(port), [{ HostIp: '127.0.0.1', HostPort: String(port.host) }]]),
  );
}

const portKey = ({ container, protocol }: { container: number; protocol: string }): string =>
  `${container}/${protocol}`;
