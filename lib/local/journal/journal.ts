import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';

export type Journal = DatabaseSync;

/**
 * What the engine itself must remember across `kill -9`: executions, stream checkpoints, queued
 * asynchronous invocations. One SQLite file in the data folder; each part creates its own tables.
 * WAL with NORMAL sync survives the death of the process, which is what is promised here.
 */
export function openJournal(dataDir: string): Journal {
  const journal = new DatabaseSync(join(dataDir, 'journal.sqlite'));
  journal.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA busy_timeout = 5000;');
  return journal;
}
