import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { say } from '../wire/say.ts';
import { findCommand } from './machine.ts';
import { endLeftover, writePidFile } from './pid-file.ts';
import type { PrivateNetwork } from './private-network.ts';

const RESTART_DELAY_MS_MIN = 100;
const RESTART_DELAY_MS_MAX = 5_000;
const READY_POLL_MS = 25;
const LOG_BYTES_MAX = 20 * 1024 * 1024;

export interface ChildSpec {
  name: string;
  command: string;
  args: string[];
  /** Besides our own environment. */
  env?: Record<string, string>;
  /** Where its pidfile and, in `logs`, its output are kept. Without one a later run can't find the child again. */
  dataDir?: string;
  ready: () => Promise<boolean>;
  readySecondsMax: number;
  /** Between SIGTERM and SIGKILL. */
  stopSecondsMax: number;
  /** What the kernel sends the child when we die without stopping it. */
  orphanSignal: 'KILL' | 'TERM';
  /** Where it listens, if not on a port of this machine. */
  network?: PrivateNetwork;
  /** Runs before every start, also before a restart, when nothing of the child is alive. */
  prepare?: () => Promise<void>;
}

export interface Child {
  pid(): number | undefined;
  stop(): Promise<void>;
}

/**
 * Runs a program as part of the engine: resolves when it is ready, starts it again when it dies, and leaves
 * nothing behind. Two nets catch a `kill -9` of this process. The kernel signals the child when the thread
 * that spawned it ends (`setpriv --pdeathsig`, part of util-linux); Node spawns from the calling thread, so
 * calling this from a worker ties the child to that worker. And where there is no setpriv, or the signal was
 * not enough, the next run finds the child by its pidfile and ends it before starting its own.
 */
export async function superviseChild(spec: ChildSpec): Promise<Child> {
  const child = new SupervisedChild(spec);
  await child.start();
  return child;
}

/** The command such that the kernel signals it when the thread that starts it ends, however that comes about. */
export function notOrphaned(words: string[], signal: 'KILL' | 'TERM'): string[] {
  const setpriv = findCommand('setpriv');
  return setpriv === undefined ? words : [setpriv, '--pdeathsig', signal, ...words];
}

/** Ends what a killed run of the same data folder left behind, if anything. */
export async function endEarlierRun(dataDir: string, name: string, stopSecondsMax: number): Promise<void> {
  await endLeftover(pidFile(dataDir, name), stopSecondsMax);
}

class SupervisedChild implements Child {
  #spec: ChildSpec;
  #process: ChildProcess | undefined;
  #exited: Promise<void> = Promise.resolve();
  #restarted: Promise<void> = Promise.resolve();
  #stopping = new AbortController();
  #restartDelayMs = RESTART_DELAY_MS_MIN;

  constructor(spec: ChildSpec) {
    this.#spec = spec;
  }

  pid(): number | undefined {
    return this.#process?.pid;
  }

  async start(): Promise<void> {
    const { dataDir, name, stopSecondsMax } = this.#spec;
    if (dataDir !== undefined) await endEarlierRun(dataDir, name, stopSecondsMax);
    const failure = await this.#launch();
    if (failure === undefined) return;
    await this.stop();
    throw new Error(`${name} did not start: ${failure}${lastWords(this.#spec)}`);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const running = this.#process;
    if (running) {
      running.kill('SIGTERM');
      const overdue = setTimeout(() => running.kill('SIGKILL'), this.#spec.stopSecondsMax * 1000);
      await this.#exited;
      clearTimeout(overdue);
    }
    await this.#restarted;
    if (this.#spec.dataDir !== undefined)
      rmSync(pidFile(this.#spec.dataDir, this.#spec.name), { force: true });
  }

  /** Answers why the child isn't ready, or nothing when it is. From then on its death means a restart. */
  async #launch(): Promise<string | undefined> {
    await this.#spec.prepare?.();
    if (this.#stopping.signal.aborted) return 'it was stopped meanwhile.';
    const child = this.#spawn();
    let death: string | undefined;
    child.once('error', (error) => (death = error.message));
    child.once('exit', (code, signal) => (death = `it ended with ${signal ?? `code ${code}`}.`));
    const deadline = Date.now() + this.#spec.readySecondsMax * 1000;
    while (Date.now() < deadline) {
      // The child's death is looked at after the probe: another program on the same port may have answered.
      const ready = await this.#spec.ready().catch(() => false);
      if (death !== undefined) return death;
      if (ready) {
        this.#restartOnDeath(child);
        return undefined;
      }
      await wait(READY_POLL_MS);
    }
    child.kill('SIGKILL');
    await this.#exited;
    return `it did not answer within ${this.#spec.readySecondsMax} s.`;
  }

  #spawn(): ChildProcess {
    const { name, command, args, env, dataDir, orphanSignal, network } = this.#spec;
    const words = [command, ...args];
    const [program = command, ...rest] =
      network?.commandFor(words, orphanSignal) ?? notOrphaned(words, orphanSignal);
    const log = openLog(this.#spec);
    // A session of its own: Ctrl-C at the terminal reaches us alone, and we stop the children in order.
    const stdio: StdioOptions = ['ignore', log, log, ...(network ? (['ipc'] as const) : [])];
    const child = spawn(program, rest, { stdio, detached: true, env: { ...process.env, ...env } });
    network?.keptBy(child);
    if (typeof log === 'number') closeSync(log);
    this.#process = child;
    this.#exited = new Promise((resolve) => {
      const gone = () => {
        this.#process = undefined;
        resolve();
      };
      child.once('exit', gone);
      child.once('error', gone);
    });
    if (dataDir !== undefined && child.pid !== undefined) {
      writePidFile(pidFile(dataDir, name), child.pid, words);
    }
    return child;
  }

  #restartOnDeath(child: ChildProcess): void {
    const readyAt = Date.now();
    child.once('exit', (code, signal) => {
      if (this.#stopping.signal.aborted) return;
      if (Date.now() - readyAt > RESTART_DELAY_MS_MAX) this.#restartDelayMs = RESTART_DELAY_MS_MIN;
      say(this.#spec.name, `ended unexpectedly (${signal ?? `code ${code}`}); starting it again.`);
      this.#restarted = this.#restart();
    });
  }

  async #restart(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      await wait(this.#restartDelayMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.#restartDelayMs = Math.min(this.#restartDelayMs * 2, RESTART_DELAY_MS_MAX);
      const failure = await this.#launch().catch((error: unknown) => String(error));
      if (failure === undefined) return say(this.#spec.name, 'is running again.');
      if (!signal.aborted) say(this.#spec.name, `did not start again: ${failure} Trying again.`);
    }
  }
}

function pidFile(dataDir: string, name: string): string {
  return join(dataDir, `${name}.pid.json`);
}

function logFile({ name, dataDir }: ChildSpec): string | undefined {
  return dataDir === undefined ? undefined : join(dataDir, 'logs', `${name}.log`);
}

function openLog(spec: ChildSpec): number | 'ignore' {
  const file = logFile(spec);
  if (file === undefined) return 'ignore';
  mkdirSync(dirname(file), { recursive: true });
  const sizeBytes = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (sizeBytes > LOG_BYTES_MAX) renameSync(file, `${file}.1`);
  return openSync(file, 'a');
}

function lastWords(spec: ChildSpec): string {
  const file = logFile(spec);
  if (file === undefined) return '';
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n').slice(-5);
  return ` The end of ${file}:\n${lines.join('\n')}`;
}
