import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

export class AlreadyRunning extends Error {}

/**
 * One agent per state directory. The lock is the kernel's, held through SQLite: it ends with the process, however that
 * dies, so there is no stale lock to clean up.
 */
export function lockStateDir(stateDir: string): { release(): void } {
  const database = new DatabaseSync(join(stateDir, 'agent.lock'));
  try {
    database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;');
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new AlreadyRunning(`Another agent runs with the state directory ${stateDir}.`);
  }
  return { release: () => database.close() };
}

const SQLITE_BUSY = 5;
const isBusy = (error: unknown): boolean => (error as { errcode?: number }).errcode === SQLITE_BUSY;
