// Secrets lie in files of the host's memory, which only the container's own user can read. They are in no variable, no
// label, no log and on no disk, and go with the workload.

import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import type { Container } from '../../functions/tasks/task.ts';
import { TaskFailed } from '../tasks/performer.ts';
import type { Engine } from './engine.ts';
import type { User } from './user.ts';

const RUN_DIR = '/run/gpuaas-agent';
/** statfs(2). */
const TMPFS_MAGIC = 0x01_02_19_94;
const OPTIONS = 'size=64m,mode=0700,nosuid,nodev,noexec';

export class Secrets {
  #root: string;
  #memory: Promise<void> | undefined;

  constructor(nodeId: string) {
    this.#root = join(RUN_DIR, nodeId);
  }

  /** Those of all workloads. */
  get root(): string {
    return this.#root;
  }

  pathOf(workloadId: string): string {
    return join(this.#root, workloadId);
  }

  /** The folder to mount; it is there as a whole or not at all. */
  async ensure(
    engine: Engine,
    workloadId: string,
    container: Container,
    owner: User,
  ): Promise<string | undefined> {
    if (container.secrets.length === 0) return undefined;
    const folder = join(this.pathOf(workloadId), container.name);
    if (existsSync(folder)) return folder;
    await this.#inMemory();
    const { usersFrom = 0 } = await engine.facts();
    // A remapped engine's root is somebody else, who must be able to get here.
    const mode = usersFrom === 0 ? 0o700 : 0o711;
    mkdirSync(this.pathOf(workloadId), { recursive: true, mode });
    for (const outer of [RUN_DIR, this.#root, this.pathOf(workloadId)]) chmodSync(outer, mode);
    const values = await Promise.all(
      container.secrets.map(async ({ handle, path }) => ({ path, value: await fetchSecret(engine, handle) })),
    );
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { mode: 0o700 });
    for (const { path, value } of values) {
      const file = join(part, basename(path));
      writeFileSync(file, value, { mode: 0o400, flag: 'wx' });
      chownSync(file, usersFrom + owner.uid, usersFrom + owner.gid);
    }
    chmodSync(part, 0o500);
    chownSync(part, usersFrom + owner.uid, usersFrom + owner.gid);
    renameSync(part, folder);
    return folder;
  }

  /** Whether there was anything. */
  remove(workloadId: string): boolean {
    const folder = this.pathOf(workloadId);
    if (!existsSync(folder)) return false;
    rmSync(folder, { recursive: true, force: true });
    return true;
  }

  /** Workloads that have secrets here. */
  list(): string[] {
    return existsSync(this.#root) ? readdirSync(this.#root) : [];
  }

  /** Once, also for those who come at the same moment. */
  #inMemory(): Promise<void> {
    this.#memory ??= ensureMemory(this.#root);
    this.#memory.catch(() => {
      this.#memory = undefined;
    });
    return this.#memory;
  }
}

/** A file system of our own in memory: /run is one on most hosts, but may be swapped to the disk. */
async function ensureMemory(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const isMounted = statSync(folder).dev !== statSync(RUN_DIR).dev;
  if (!isMounted) await mountTmpfs(folder);
  if (statfsSync(folder).type !== TMPFS_MAGIC)
    throw new TaskFailed('secret_unavailable', `${folder} does not lie in memory and cannot be made so.`);
}

/** Kernels before 6.4 do not know `noswap`. */
async function mountTmpfs(folder: string): Promise<void> {
  const mount = (options: string) =>
    promisify(execFile)('mount', ['-t', 'tmpfs', '-o', options, 'gpuaas-secrets', folder]);
  await mount(`${OPTIONS},noswap`)
    .catch(() => mount(OPTIONS))
    .catch(() => undefined);
}

async function fetchSecret({ channel, journal }: Engine, handle: string): Promise<Uint8Array> {
  try {
    return await channel.secret(handle, journal.fetchIdOf(handle));
  } catch (error) {
    if (error instanceof TaskFailed) throw error;
    throw new TaskFailed('secret_unavailable', 'The value of a secret could not be fetched.');
  }
}
