import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const POLL_MS = 25;

interface Entry {
  pid: number;
  words: string[];
}

/** Remembers a child across our own death. The pid alone may be somebody else's by now, so the whole command line is kept. */
export function writePidFile(file: string, pid: number, words: string[]): void {
  // Whole or not at all: a reader must never find half of it.
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, JSON.stringify({ pid, words } satisfies Entry));
  renameSync(draft, file);
}

/** Ends the process an earlier run left behind, if it is still there. */
export async function endLeftover(file: string, stopSecondsMax: number): Promise<void> {
  const entry = readPidFile(file);
  if (entry === undefined) return;
  const deadline = Date.now() + stopSecondsMax * 1000;
  if (isRunning(entry)) signal(entry.pid, 'SIGTERM');
  while (isRunning(entry)) {
    if (Date.now() > deadline) signal(entry.pid, 'SIGKILL');
    await wait(POLL_MS);
  }
  rmSync(file, { force: true });
}

function readPidFile(file: string): Entry | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Entry;
  } catch {
    return undefined;
  }
}

function isRunning({ pid, words }: Entry): boolean {
  try {
    const running = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1);
    return running.slice(-words.length).join('\0') === words.join('\0');
  } catch {
    return false;
  }
}

/** Nothing, if it ended between the look and the signal. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
