// A workload from whose inside probes are run, another whose things it must not get at, and containers on the same engine
// that nobody has protected.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { join } from 'node:path';
import { bridgeName } from '../../../agent/engine/labels.ts';
import { forwardFrom, ip, openHost } from './escape-host.ts';
import { PROGRAMS } from './escape-probes/calls.ts';
import type { Control, Probe } from './escape-probes/probe.ts';
import { syscallProgram } from './escape-probes/syscall-program.ts';
import { type EngineWorld, openEngineWorld } from './world.ts';

/** Where containers in a cloud find their metadata; here a container serves it, behind the host. */
const ROUTED_METADATA = '169.254.170.2';
const SETUID = 105;
const NETWORKS = ['gpuesc-a', 'gpuesc-b'] as const;
/** The most a container can be given. Not every host has SYS_RESOURCE itself. */
const EVERYTHING = [
  '--cap-add=ALL',
  '--cap-drop=SYS_RESOURCE',
  '--security-opt=seccomp=unconfined',
  '--security-opt=systempaths=unconfined',
  '--device-cgroup-rule=a *:* rwm',
  ...['pid', 'ipc', 'uts', 'network', 'cgroupns'].map((namespace) => `--${namespace}=host`),
  ...['/dev', '/sys'].map((path) => `--volume=${path}:${path}`),
];
type Variables = Record<string, string>;

export async function openEscapeWorld() {
  const agentSecret = randomUUID();
  process.env['PLANTED_SECRET'] = agentSecret;
  const world = await openEngineWorld();
  const host = await openHost(world.engine.bridgeAddress);
  const { docker, engine } = world;
  const run = (args: string[], input = '') => cli(['--host', engine.host, ...args], input);
  const secret = randomUUID();
  const vault = await launchVault(world, secret);
  const { workloadId, tools } = await launchAttacker(world);
  const attacker = await world.inspect(workloadId);
  for (const id of [vault.workloadId, workloadId]) forwardFrom(bridgeName(id));
  const image = attacker.Image;
  const served = await openRoutedServer(run, image);

  const variables: Variables = {
    ...host.variables,
    AGENT_SECRET: agentSecret,
    SECRET: secret,
    SECRETS: vault.secrets,
    VOLUMES: vault.volume,
    PUBLISHED: vault.published,
    ENGINE: engine.socketPath,
    ROUTED_METADATA,
  };
  const OPTIONS: Record<Control, string[]> = {
    open: [
      ...EVERYTHING,
      `--env=LEAKED=${agentSecret}`,
      ...[host.folder, engine.socketPath, vault.secrets, vault.volume].map(
        (path) => `--volume=${path}:${path}`,
      ),
    ],
    plain: ['--shm-size=1g'],
    user: ['--user=64000:64000', '--tmpfs=/tmp'],
    routed: [`--network=${NETWORKS[0]}`],
    neighbour: [`--network=gpuaas-${vault.workloadId}`],
  };

  return {
    world,
    host,
    image,
    run,
    workloadId,
    /** Names of the probes that got what they wanted. */
    async succeedInControl(control: Control, probes: Probe[]): Promise<string[]> {
      const script = scriptOf(probes, { ...variables, GATEWAY: engine.bridgeAddress, OTHER_ADDRESS: served });
      const options = ['--rm', '--interactive', '--init', `--volume=${tools}:/data`, ...OPTIONS[control]];
      return readNames(probes, await run(['run', ...options, '--entrypoint=/bin/sh', image, '-s'], script));
    },
    async succeedInWorkload(probes: Probe[]): Promise<string[]> {
      const [network] = Object.values(attacker.NetworkSettings.Networks);
      const script = scriptOf(probes, {
        ...variables,
        GATEWAY: network?.Gateway ?? '',
        OTHER_ADDRESS: vault.address,
      });
      return readNames(probes, await run(['exec', '--interactive', attacker.Id, '/bin/sh', '-s'], script));
    },
    async close() {
      delete process.env['PLANTED_SECRET'];
      await host.close();
      const running = await docker.listContainers({ all: true });
      await Promise.all(running.map(({ Id }) => docker.getContainer(Id).remove({ force: true })));
      await world.close();
    },
  };
}

/** Somebody else's workload, with a secret in a file and another in its volume. */
async function launchVault(world: EngineWorld, secret: string) {
  const volumeId = randomUUID();
  const launch = world.launchOf(
    world.container({
      name: 'vault',
      mounts: [{ volume_id: volumeId, path: '/workspace' }],
      secrets: [{ handle: world.platform.keepSecret(secret), path: '/run/secrets/token' }],
    }),
    { volumes: [{ id: volumeId, kind: 'scratch' }] },
  );
  const { containers } = await world.run('oci.launch', launch);
  const { Mountpoint: volume } = await world.docker.getVolume(`gpuaas-${volumeId}`).inspect();
  writeFileSync(join(volume, 'secret.txt'), secret);
  const { NetworkSettings } = await world.inspect(launch.workload_id, 'vault');
  return {
    workloadId: launch.workload_id,
    volume,
    secrets: `/run/gpuaas-agent/${world.nodeId}/${launch.workload_id}/vault`,
    published: String(containers?.[0]?.ports[0]?.host),
    address: Object.values(NetworkSettings.Networks)[0]?.IPAddress ?? '',
  };
}

/** The attacker has brought programs along in the project's volume: one runs as root, whoever starts it. */
async function launchAttacker(world: EngineWorld) {
  const volumeId = randomUUID();
  const launch = world.launchOf(
    world.container({
      mounts: [{ volume_id: volumeId, path: '/data' }],
      resources: { vcpu: 0.5, memory_mib: 64, shared_memory_mib: 16, pids: 64 },
    }),
    { volumes: [{ id: volumeId, kind: 'persistent' }] },
  );
  await world.run('oci.launch', launch);
  const tools = `gpuaas-${volumeId}`;
  const { Mountpoint } = await world.docker.getVolume(tools).inspect();
  for (const [name, program] of PROGRAMS) writeFileSync(join(Mountpoint, name), program, { mode: 0o755 });
  writeFileSync(join(Mountpoint, 'setuid-root'), syscallProgram(SETUID, 0));
  chmodSync(join(Mountpoint, 'setuid-root'), 0o4755);
  writeFileSync(join(Mountpoint, 'only-root'), 'root', { mode: 0o600 });
  return { workloadId: launch.workload_id, tools };
}

/** Two networks without protection, between which the host forwards, and on the second a server; its address. */
async function openRoutedServer(run: (args: string[]) => Promise<string>, image: string): Promise<string> {
  for (const name of NETWORKS) {
    await run(['network', 'create', `--opt=com.docker.network.bridge.name=${name}`, name]);
    forwardFrom(name);
  }
  const serve = `busybox ip address add ${ROUTED_METADATA}/32 dev lo; exec httpd -f -p 8080 -h /www`;
  const options = ['--detach', '--cap-add=NET_ADMIN', `--network=${NETWORKS[1]}`, '--entrypoint=/bin/sh'];
  const id = (await run(['run', ...options, image, '-c', serve])).trim();
  const format = '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}';
  const address = (await run(['inspect', `--format=${format}`, id])).trim();
  ip('route', 'add', `${ROUTED_METADATA}/32`, 'via', address);
  return address;
}

/** Each in a shell of its own, its status behind its number. Variables are the shell's alone, not the environment's. */
function scriptOf(probes: Probe[], variables: Variables): string {
  return [
    'busybox mkdir -p /tmp/applets; busybox --install -s /tmp/applets 2> /dev/null; PATH=/tmp/applets:$PATH',
    ...Object.entries(variables).map(([name, value]) => `${name}='${value}'`),
    ...probes.map(
      ({ script }, index) => `(${script}) < /dev/null > /dev/null 2>&1; echo "probe ${index} $?"`,
    ),
    'exit 0',
  ].join('\n');
}

function readNames(probes: Probe[], output: string): string[] {
  const statuses = [...output.matchAll(/^probe \d+ (\d+)$/gm)].map(([, status]) => status);
  if (statuses.length !== probes.length)
    throw new Error(`${statuses.length} of ${probes.length} probes ended.`);
  return probes.filter((_, index) => statuses[index] === '0').map(({ name }) => name);
}

async function cli(args: string[], input: string): Promise<string> {
  const child = spawn('docker', args, { stdio: ['pipe', 'pipe', 'pipe'] });
  child.stdin.end(input);
  const [output, complaint] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  if (child.exitCode !== 0) throw new Error(`docker ${args[2]}: ${complaint}`);
  return output;
}
