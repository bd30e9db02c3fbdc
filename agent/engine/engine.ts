import { setTimeout as wait } from 'node:timers/promises';
import type Docker from 'dockerode';
import type { Log, PlatformChannel, WorkloadJournal } from '../tasks/performer.ts';
import { isEngineGone } from './engine-errors.ts';

export interface EngineOptions {
  docker: Docker;
  nodeId: string;
  journal: WorkloadJournal;
  channel: PlatformChannel;
  /** Ours alone, kept over restarts. */
  stateDir: string;
  /** Ports of this host's 127.0.0.1 that containers may be published at. */
  portRange: { from: number; to: number };
  log: Log;
  now: () => Date;
}

interface EngineFacts {
  /** Where the engine remaps users: the uid outside that is root inside. */
  usersFrom?: number;
  runtimes: string[];
}

export interface Engine extends EngineOptions {
  facts(): Promise<EngineFacts>;
  /** It may come back with another configuration. */
  forgetFacts(): void;
}

export function openEngine(options: EngineOptions): Engine {
  let known: Promise<EngineFacts> | undefined;
  const forgetFacts = (): void => {
    known = undefined;
  };
  return {
    ...options,
    facts() {
      known ??= readFacts(options.docker);
      known.catch(forgetFacts);
      return known;
    },
    forgetFacts,
  };
}

interface Info {
  SecurityOptions?: string[];
  DockerRootDir?: string;
  Runtimes?: Record<string, unknown>;
}

async function readFacts(docker: Docker): Promise<EngineFacts> {
  const info = (await docker.info()) as Info;
  const isRemapped = info.SecurityOptions?.some((option) => option.startsWith('name=userns'));
  // The engine tells the first uid of the range in no other place.
  const [, usersFrom] = /\/(\d+)\.\d+$/.exec(info.DockerRootDir ?? '') ?? [];
  return {
    ...(isRemapped && usersFrom !== undefined && { usersFrom: Number(usersFrom) }),
    runtimes: Object.keys(info.Runtimes ?? {}),
  };
}

const ATTEMPTS_MAX = 4;
/** A container engine that is being updated is back by then. */
const BACK_MS_MAX = 30_000;
const LOOK_MS = 100;

/** Every step finds out what is there already, so work during which the engine went away is simply begun again. */
export async function despiteRestarts<T>(
  { docker, log }: Pick<Engine, 'docker' | 'log'>,
  work: () => Promise<T>,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (!isEngineGone(error) || attempt === ATTEMPTS_MAX || signal.aborted) throw error;
      log('warn', 'The container engine went away during a task.', { attempt });
      if (!(await comesBack(docker, signal))) throw error;
    }
  }
}

async function comesBack(docker: Docker, signal: AbortSignal): Promise<boolean> {
  const endMs = Date.now() + BACK_MS_MAX;
  while (Date.now() < endMs && !signal.aborted) {
    if (await docker.ping().catch(() => undefined)) return true;
    await wait(LOOK_MS);
  }
  return false;
}
