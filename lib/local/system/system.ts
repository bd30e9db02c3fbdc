import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findDockerd } from '../engines/docker.ts';
import { findJava } from '../engines/dynamodb-local.ts';
import { findCommand } from '../engines/machine.ts';
import { findRegistry } from '../registry/registry.ts';
import { findBusybox } from './busybox.ts';
import { installScript } from './system-install.ts';

export interface SystemParts {
  java: string | undefined;
  registry: string | undefined;
  dockerd: string | undefined;
  /** One that needs no other file. */
  busybox: string | undefined;
  nft: string | undefined;
}

/** What a look around this machine found. */
export interface Findings {
  java: { path: string } | { unusable: string } | 'unneeded';
  registry: string | undefined;
  dockerd: string | undefined;
  ip: string | undefined;
  /** Keeps containers from this machine and from each other. */
  nft: string | undefined;
  /** The command, which some releases keep apart from the engine. */
  docker: string | undefined;
  busybox: string | undefined;
  packages: 'apt' | 'dnf' | 'brew' | undefined;
  privilege: 'root' | 'sudo' | 'none';
}

type Part = 'java' | 'registry' | 'dockerd' | 'ip' | 'nft' | 'docker' | 'busybox';

interface InstallOptions {
  say: (part: string, message: string) => void;
  /** For what apt says; a new folder when left out. */
  logDir?: string;
}

/**
 * Looks for the programs that npm can't bring and, where that needs no question, installs what is missing.
 * Java is a must for DynamoDB Local, and for nothing else; without a registry or a container engine the platform starts
 * and does without.
 */
export async function ensureSystemParts(
  options: InstallOptions & { needsJava: boolean },
): Promise<SystemParts> {
  const { say, needsJava } = options;
  let found = await lookAround(needsJava);
  const packages = packagesToInstall(found);
  if (packages.length > 0) {
    await install(packages, found.privilege, options);
    found = await lookAround(needsJava);
  }
  const { java, registry, dockerd, busybox, nft } = found;
  const command = commandToRun(found);
  if (java !== 'unneeded' && 'unusable' in java)
    throw new Error(`${java.unusable} DynamoDB Local can't run without it. ${command ?? ''}`.trimEnd());
  const lacking = lackingParts(found).filter((part) => part !== 'java');
  for (const part of lacking) say('system', `${NAMES[part]} is missing: ${CONSEQUENCES[part]}.`);
  if (command !== undefined) say('system', command);
  return { java: java === 'unneeded' ? undefined : java.path, registry, dockerd, busybox, nft };
}

/** Programs that only the tests use, by command and Debian package. Without one of them the tests can't run. */
export async function ensureTools(tools: Record<string, string>, options: InstallOptions): Promise<void> {
  const lacking = () => Object.entries(tools).filter(([command]) => findCommand(command) === undefined);
  const packages = lacking().map(([, debianPackage]) => debianPackage);
  const right = await privilege();
  if (packages.length > 0 && packageSource() === 'apt' && right !== 'none')
    await install(packages, right, options);
  const commands = lacking().map(([command]) => command);
  if (commands.length === 0) return;
  throw new Error(
    `The tests need ${commands.join(', ')}. On Debian: ${INSTALLERS.apt} ${packages.join(' ')}`,
  );
}

export function lackingParts(found: Findings): Part[] {
  const lacksJava = found.java !== 'unneeded' && 'unusable' in found.java;
  const others = (['registry', 'dockerd', 'ip', 'nft', 'docker', 'busybox'] as const).filter(
    (part) => found[part] === undefined,
  );
  return [...(lacksJava ? (['java'] as const) : []), ...others];
}

/** What the command installs by itself: never after a question, never where it lacks the right. */
export function packagesToInstall(found: Findings): string[] {
  if (found.packages !== 'apt' || found.privilege === 'none') return [];
  return lackingParts(found).map((part) => PACKAGES.apt[part]);
}

/** What to type, for whoever has the right. */
export function commandToRun(found: Findings): string | undefined {
  const parts = lackingParts(found);
  const { packages } = found;
  if (parts.length === 0) return undefined;
  if (packages === undefined)
    return `Install ${parts.map((part) => NAMES[part]).join(', ')}, then start again.`;
  const names = parts.flatMap((part) => PACKAGES[packages][part] ?? []);
  return names.length === 0 ? undefined : `Install it with: ${INSTALLERS[packages]} ${names.join(' ')}`;
}

const NAMES: Record<Part, string> = {
  java: 'Java 17 or newer',
  registry: 'the OCI registry (docker-registry)',
  dockerd: 'the container engine (dockerd)',
  ip: 'the ip command (iproute2)',
  nft: 'the nft command (nftables)',
  docker: 'the docker command',
  busybox: 'a statically linked busybox (busybox-static)',
};

const CONSEQUENCES: Record<Exclude<Part, 'java'>, string> = {
  registry: 'the platform starts, but images can be neither pushed nor pulled',
  dockerd: 'the platform starts, but without a host, so nothing can be launched',
  ip: 'the platform starts, but without a host, so nothing can be launched',
  nft: 'the platform starts, but without a host, so nothing can be launched',
  docker: 'the platform starts, but images cannot be built and pushed as the guides do it',
  busybox: 'the platform starts, but the demo app has no image and stays a draft',
};

const PACKAGES = {
  apt: {
    java: 'openjdk-17-jre-headless',
    registry: 'docker-registry',
    dockerd: 'docker.io',
    ip: 'iproute2',
    nft: 'nftables',
    docker: 'docker-cli',
    busybox: 'busybox-static',
  },
  dnf: {
    java: 'java-latest-openjdk-headless',
    registry: 'docker-distribution',
    dockerd: 'moby-engine',
    ip: 'iproute',
    nft: 'nftables',
    docker: 'docker-cli',
    busybox: 'busybox',
  },
  // The container engine needs Linux.
  brew: {
    java: 'openjdk@17',
    registry: undefined,
    dockerd: undefined,
    ip: undefined,
    nft: undefined,
    docker: undefined,
    busybox: undefined,
  },
};

const INSTALLERS = {
  apt: 'sudo apt-get update && sudo apt-get install -y --no-install-recommends',
  dnf: 'sudo dnf install -y',
  brew: 'brew install',
};

async function lookAround(needsJava: boolean): Promise<Findings> {
  return {
    java: needsJava ? await findJava() : 'unneeded',
    registry: findRegistry(),
    dockerd: findDockerd(),
    ip: findCommand('ip'),
    nft: findCommand('nft'),
    docker: findCommand('docker'),
    busybox: findBusybox(),
    packages: packageSource(),
    privilege: await privilege(),
  };
}

function packageSource(): Findings['packages'] {
  if (findCommand('apt-get') !== undefined) return 'apt';
  if (findCommand('dnf') !== undefined) return 'dnf';
  return findCommand('brew') === undefined ? undefined : 'brew';
}

async function privilege(): Promise<Findings['privilege']> {
  if (process.getuid?.() === 0) return 'root';
  // -n: fail instead of asking for a password.
  const sudo = await promisify(execFile)('sudo', ['-n', 'true']).catch(() => undefined);
  return sudo === undefined ? 'none' : 'sudo';
}

async function install(
  packages: string[],
  right: Findings['privilege'],
  options: InstallOptions,
): Promise<void> {
  const { say, logDir = mkdtempSync(join(tmpdir(), 'gpuaas-')) } = options;
  mkdirSync(logDir, { recursive: true });
  const logFile = join(logDir, 'system-install.log');
  say('system', `installing ${packages.join(', ')}; this takes one to five minutes. Details: ${logFile}`);
  const words = [
    ...(right === 'sudo' ? ['sudo', '-n'] : []),
    'sh',
    '-c',
    installScript(packages, { logFile }),
  ];
  const [command = 'sh', ...args] = words;
  const script = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const stillAtIt = setInterval(() => say('system', `still installing: ${lastLine(logFile)}`), 15_000);
  try {
    for await (const line of createInterface(script.stdout)) say('system', line);
  } finally {
    clearInterval(stillAtIt);
  }
}

function lastLine(file: string): string {
  if (!existsSync(file)) return 'starting';
  return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
}
