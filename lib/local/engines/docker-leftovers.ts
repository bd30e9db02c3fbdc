import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { signal } from './pid-file.ts';

/**
 * A killed dockerd takes its containerd along, but not at once: the next one would find it alive, wait for it
 * in vain and give up.
 */
export async function endContainerd(execRoot: string): Promise<void> {
  const pidFile = join(execRoot, 'containerd', 'containerd.pid');
  await end(readPid(pidFile), join(execRoot, 'containerd', 'containerd.toml'));
  rmSync(pidFile, { force: true });
}

/**
 * Containers outlive a killed dockerd. The next one ends them by itself, after up to 10 s of patience, but
 * only if it still knows them: not when the data folder was cleared in between.
 */
export async function endContainers(execRoot: string): Promise<void> {
  const socket = join(execRoot, 'containerd', 'containerd.sock');
  const namespaces = join(execRoot, 'containerd', 'daemon', 'io.containerd.runtime.v2.task');
  for (const namespace of entries(namespaces)) {
    for (const container of entries(join(namespaces, namespace))) {
      const pid = readPid(join(namespaces, namespace, container, 'init.pid'));
      const shim = parentOf(pid);
      if (!commandLine(shim).includes(socket)) continue;
      await end(pid, '');
      await end(shim, socket);
    }
  }
}

/** Innermost first. dockerd mounts data-root onto itself, once more each time it was killed before. */
export async function unmountBelow(folders: string[]): Promise<void> {
  if (!existsSync('/proc/self/mountinfo')) return;
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) => unescapeOctal(line.split(' ')[4] ?? ''))
    .filter((point) => folders.some((folder) => point === folder || point.startsWith(`${folder}/`)));
  for (const point of mounts.sort().toReversed()) await promisify(execFile)('umount', ['--lazy', point]);
}

/** `\040` is a space in a mount point. */
function unescapeOctal(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Kills the process if its command line tells that it is the one meant, and waits until it is gone. */
async function end(pid: number | undefined, mark: string): Promise<void> {
  if (pid === undefined) return;
  const isRunning = () => commandLine(pid) !== '' && commandLine(pid).includes(mark);
  while (isRunning()) {
    signal(pid, 'SIGKILL');
    await wait(10);
  }
}

function readPid(file: string): number | undefined {
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined;
}

function parentOf(pid: number | undefined): number | undefined {
  const stat = readProcess(pid, 'stat');
  const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return parent === undefined ? undefined : Number(parent);
}

/** Empty for a process that is gone, also when nobody has collected it yet. */
function commandLine(pid: number | undefined): string {
  return readProcess(pid, 'cmdline');
}

function readProcess(pid: number | undefined, file: 'stat' | 'cmdline'): string {
  try {
    return pid === undefined ? '' : readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function entries(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
