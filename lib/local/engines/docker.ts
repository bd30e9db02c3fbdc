import { createHash } from 'node:crypto';
import { mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { endEarlierRun, superviseChild } from './child-process.ts';
import { endContainerd, endContainers, unmountBelow } from './docker-leftovers.ts';
import { createBridge, removeBridges } from './docker-network.ts';
import { findCommand } from './machine.ts';

const NAME = 'dockerd';
/** dockerd gives its containers 15 s to end. */
const STOP_SECONDS_MAX = 20;

export interface Docker {
  socketPath: string;
  /** For DOCKER_HOST. */
  host: string;
  /** Where a container reaches this machine; its own 127.0.0.1 is another. */
  bridgeAddress: string;
  pid(): number | undefined;
  stop(): Promise<void>;
}

export interface DockerOptions {
  dataDir: string;
  /** `127.0.0.1:<port>` of a registry that speaks plain HTTP. */
  insecureRegistry?: string;
}

export function findDockerd(): string | undefined {
  return findCommand('dockerd');
}

/**
 * A container engine of our own, beside whatever engine the machine has: own socket, images, containerd
 * namespace, bridge and addresses, so that neither disturbs the other and two data folders don't either. It
 * leaves the firewall alone: containers can be reached on ports published to 127.0.0.1, and reach this
 * machine at the bridge's address, but not the internet.
 */
export async function startDocker(options: DockerOptions): Promise<Docker | { unavailable: string }> {
  const dockerd = findDockerd();
  if (dockerd === undefined) return { unavailable: 'there is no dockerd on this machine' };
  if (findCommand('ip') === undefined)
    return { unavailable: 'there is no ip command (iproute2) on this machine' };
  if (process.getuid?.() !== 0)
    return { unavailable: 'dockerd needs root: start the platform as root or with sudo' };
  const places = placesFor(options.dataDir);
  try {
    return await start(dockerd, places, options);
  } catch (error) {
    await cleanUp(places).catch(() => undefined);
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

/** Ends and unmounts what a killed dockerd left in the data folder; then it can be used again, or deleted. */
export async function releaseDockerMounts(dataDir: string): Promise<void> {
  await release(placesFor(dataDir));
}

async function release({ mounted, runDir }: Places): Promise<void> {
  await endContainerd(mounted.execRoot);
  await endContainers(mounted.execRoot);
  await unmountBelow(Object.values(mounted));
  rmSync(runDir, { recursive: true, force: true });
}

interface Places {
  bridge: string;
  seed: number;
  runDir: string;
  mounted: { dataRoot: string; execRoot: string };
}

function placesFor(dataDir: string): Places {
  mkdirSync(dataDir, { recursive: true });
  const folder = realpathSync(dataDir);
  const hash = createHash('sha256').update(folder).digest();
  const id = hash.toString('hex', 0, 4);
  // Sockets lie in here, and a socket's path has at most 107 characters: not in the data folder, then.
  const runDir = `/run/gpuaas-${id}`;
  const mounted = { dataRoot: join(folder, 'docker'), execRoot: join(runDir, 'exec') };
  // The name of an interface has at most 15 characters.
  return { bridge: `gpuaas-${id}`, seed: hash.readUInt8(4), runDir, mounted };
}

async function start(dockerd: string, places: Places, options: DockerOptions): Promise<Docker> {
  const { runDir, mounted, bridge, seed } = places;
  const socketPath = join(runDir, 'docker.sock');
  const configFile = join(runDir, 'daemon.json');
  const pidFile = join(runDir, 'dockerd.pid');
  await endEarlierRun(options.dataDir, NAME, STOP_SECONDS_MAX);
  await release(places);
  mkdirSync(runDir, { recursive: true, mode: 0o700 });
  // Else dockerd reads /etc/docker/daemon.json, the settings of the machine's own engine.
  writeFileSync(configFile, '{}');
  const network = await createBridge(bridge, seed);
  const child = await superviseChild({
    name: NAME,
    command: dockerd,
    args: [
      `--config-file=${configFile}`,
      `--pidfile=${pidFile}`,
      `--host=unix://${socketPath}`,
      `--data-root=${mounted.dataRoot}`,
      `--exec-root=${mounted.execRoot}`,
      // Should the machine run a containerd, dockerd would use it, together with the machine's own engine.
      `--containerd-namespace=${bridge}`,
      `--containerd-plugins-namespace=${bridge}-plugins`,
      // Not `none`, which deletes the docker0 of the machine's own engine; and not its default addresses.
      `--bridge=${bridge}`,
      `--default-address-pool=base=${network.pool},size=24`,
      '--iptables=false',
      '--ip6tables=false',
      '--ip-masq=false',
      '--ip-forward=false',
      ...(options.insecureRegistry === undefined ? [] : [`--insecure-registry=${options.insecureRegistry}`]),
    ],
    dataDir: options.dataDir,
    prepare: async () => {
      rmSync(pidFile, { force: true });
      await endContainerd(mounted.execRoot);
      await unmountBelow(Object.values(mounted));
    },
    ready: () => answersPing(socketPath),
    readySecondsMax: 30,
    stopSecondsMax: STOP_SECONDS_MAX,
    // Killed, it would leave containers running and mounts in place.
    orphanSignal: 'TERM',
  });
  return {
    socketPath,
    host: `unix://${socketPath}`,
    bridgeAddress: network.bridgeAddress,
    pid: () => child.pid(),
    async stop() {
      await child.stop();
      await cleanUp(places);
    },
  };
}

async function cleanUp(places: Places): Promise<void> {
  await release(places);
  await removeBridges(places.bridge);
}

function answersPing(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get({ socketPath, path: '/_ping', timeout: 1_000 }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.once('timeout', () => request.destroy());
    request.once('error', () => resolve(false));
  });
}
