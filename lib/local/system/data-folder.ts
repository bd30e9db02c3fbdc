import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { releaseDockerMounts } from '../engines/docker.ts';
import { endLeftover } from '../engines/pid-file.ts';
import { writeWhole } from '../journal/write-whole.ts';

const MARKER = 'gpuaas-data.txt';
const MARKER_TEXT =
  'State of a GPUaaS App Platform running on this machine. "npm start -- --fresh" clears this folder.\n';

const OWNER = 'platform.json';
// dockerd gives its containers 15 s to end.
const LEFTOVER_SECONDS_MAX = 20;

/**
 * Takes the folder for this process, until the function it returns is called; two platforms on one folder would
 * tear each other's state apart.
 */
export async function takeDataFolder(dataDir: string, fresh: boolean): Promise<() => void> {
  mkdirSync(dataDir, { recursive: true });
  refuseForeign(dataDir);
  const leave = own(dataDir);
  try {
    // Children of a run that was killed may still hold files and mounts in here.
    for (const file of readdirSync(dataDir).filter((name) => name.endsWith('.pid.json'))) {
      await endLeftover(join(dataDir, file), LEFTOVER_SECONDS_MAX);
    }
    await releaseDockerMounts(dataDir);
    if (fresh) clear(dataDir);
    writeFileSync(join(dataDir, MARKER), MARKER_TEXT);
    mkdirSync(join(dataDir, 'logs'), { recursive: true });
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

/** 32 bytes that stay the same as long as the folder does: sessions and keys are sealed under it. */
export function folderSecret(dataDir: string): Buffer {
  const file = join(dataDir, 'secret');
  if (!existsSync(file)) writeWhole(file, randomBytes(32), { mode: 0o600 });
  return readFileSync(file);
}

/** Once a folder bears our mark, --fresh empties it: it must not be one that somebody keeps other things in. */
function refuseForeign(dataDir: string): void {
  const entries = readdirSync(dataDir);
  if (entries.length === 0 || entries.includes(MARKER) || entries.includes(OWNER)) return;
  throw new Error(
    `${dataDir} is not empty and was not made by the platform. Name another folder with --data.`,
  );
}

function own(dataDir: string): () => void {
  const file = join(dataDir, OWNER);
  const entry = JSON.stringify({ pid: process.pid, startedAt: startTime(process.pid) });
  if (livingOwner(file) === undefined) rmSync(file, { force: true });
  try {
    writeFileSync(file, entry, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Error(
      `A platform (process ${livingOwner(file)}) already uses ${dataDir}. Stop it, or start this one with --data <another folder>.`,
      { cause: error },
    );
  }
  return () => rmSync(file, { force: true });
}

function livingOwner(file: string): number | undefined {
  try {
    const { pid, startedAt } = JSON.parse(readFileSync(file, 'utf8')) as { pid: number; startedAt: string };
    return startTime(pid) === startedAt ? pid : undefined;
  } catch {
    // There is none, or it was killed while it wrote this.
    return undefined;
  }
}

/** Tells a process from a later one with the same number. */
function startTime(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

function clear(dataDir: string): void {
  const entries = readdirSync(dataDir).filter((entry) => entry !== OWNER);
  for (const entry of entries) rmSync(join(dataDir, entry), { recursive: true, force: true });
}
