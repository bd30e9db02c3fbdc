import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrate } from './schema.ts';

export const journalFile = (stateDir: string): string => join(stateDir, 'journal.db');

/** FULL: what is written is there after the machine loses its power too, not only after the process is killed. */
export function openDatabase(stateDir: string): DatabaseSync {
  const database = new DatabaseSync(journalFile(stateDir), { timeout: 5_000 });
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;');
  migrate(database);
  chmodSync(journalFile(stateDir), 0o600);
  return database;
}

/** All of it or nothing. Calls may be inside one another: the outermost counts. */
export function atomically<T>(database: DatabaseSync, write: () => T): T {
  if (database.isTransaction) return write();
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = write();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
}
