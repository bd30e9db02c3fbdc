// What a host has that no workload may get at: services, a process with a secret in its environment, a file, a disk.

import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Every cloud has its metadata there. */
const METADATA = '169.254.169.254';
const NAMESPACES = ['pid', 'ipc', 'uts', 'net', 'cgroup'];

export async function openHost(bridgeAddress: string) {
  const marker = randomUUID();
  const folder = mkdtempSync(join(tmpdir(), 'escape-'));
  const file = join(folder, `${marker}.txt`);
  writeFileSync(file, marker);
  const sleeper = spawn('sleep', ['86399'], { env: { MARKER: marker }, stdio: 'ignore' });
  await once(sleeper, 'spawn');
  const bridge = interfaceOf(bridgeAddress);
  ip('address', 'add', `${METADATA}/32`, 'dev', bridge);
  const service = await serve('0.0.0.0');
  const local = await serve('127.0.0.1');

  return {
    folder,
    variables: {
      MARKER: marker,
      HOST_FILE: file,
      HOST_PROCESS: '86399',
      HOST_PROCESS_ID: String(sleeper.pid),
      HOST_ADDRESS: bridgeAddress,
      DISK: diskOf(folder),
      SERVICE: String(portOf(service)),
      LOCAL_SERVICE: String(portOf(local)),
      ...Object.fromEntries(
        NAMESPACES.map((kind) => [`HOST_${kind.toUpperCase()}`, readlinkSync(`/proc/self/ns/${kind}`)]),
      ),
    },
    isUnharmed: () => isAlive(sleeper),
    async close() {
      sleeper.kill();
      for (const server of [service, local]) server.close();
      ip('address', 'delete', `${METADATA}/32`, 'dev', bridge);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const ip = (...args: string[]): void => void execFileSync('ip', args);

/** What comes in at this interface is passed on; hosts with containers do so at all of them. */
export const forwardFrom = (device: string): void =>
  writeFileSync(`/proc/sys/net/ipv4/conf/${device}/forwarding`, '1');

function interfaceOf(wanted: string): string {
  const found = Object.entries(networkInterfaces()).find(([, addresses]) =>
    addresses?.some(({ address }) => address === wanted),
  );
  if (!found) throw new Error(`No interface has the address ${wanted}.`);
  return found[0];
}

async function serve(address: string): Promise<Server> {
  const server = createServer((_, response) => response.end('served\n')).listen(0, address);
  await once(server, 'listening');
  return server;
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

/** Major and minor number of the device the file lies on, as mknod wants them (makedev(3)). */
function diskOf(path: string): string {
  const { dev } = statSync(path);
  return `${(dev >> 8) & 0xfff} ${dev & 0xff}`;
}

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null;
