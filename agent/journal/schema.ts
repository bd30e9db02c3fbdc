// The tables of the journal. Steps here only add: a release that comes back after a failed update must still be able to
// read what its successor wrote.

import type { DatabaseSync } from 'node:sqlite';

const STEPS = [
  `CREATE TABLE tasks (
     id TEXT PRIMARY KEY,
     subject TEXT NOT NULL,
     fence INTEGER NOT NULL,
     kind TEXT NOT NULL,
     frame TEXT NOT NULL,
     begun_at TEXT NOT NULL,
     ended_at TEXT,
     outcome TEXT
   ) STRICT;
   CREATE INDEX tasks_by_end ON tasks (ended_at);
   CREATE TABLE steps (
     task_id TEXT NOT NULL REFERENCES tasks (id) ON DELETE CASCADE,
     name TEXT NOT NULL,
     about TEXT NOT NULL,
     at TEXT NOT NULL
   ) STRICT;
   CREATE INDEX steps_by_task ON steps (task_id);
   CREATE TABLE workloads (
     workload_id TEXT PRIMARY KEY,
     fence INTEGER NOT NULL,
     desired TEXT NOT NULL,
     kind TEXT NOT NULL,
     payload TEXT NOT NULL
   ) STRICT;
   CREATE TABLE fences (subject TEXT PRIMARY KEY, fence INTEGER NOT NULL, seen_at TEXT NOT NULL) STRICT;
   CREATE TABLE reports (
     number INTEGER PRIMARY KEY AUTOINCREMENT,
     about TEXT NOT NULL UNIQUE,
     path TEXT NOT NULL,
     body TEXT NOT NULL,
     kept_at TEXT NOT NULL
   ) STRICT;
   CREATE TABLE fetches (handle_hash TEXT PRIMARY KEY, fetch_id TEXT NOT NULL, kept_at TEXT NOT NULL) STRICT;`,
];

export const JOURNAL_VERSION = STEPS.length;

export function migrate(database: DatabaseSync): void {
  const { user_version } = database.prepare('PRAGMA user_version').get() as { user_version: number };
  for (const [index, step] of STEPS.entries()) {
    if (index < user_version) continue;
    database.exec(`BEGIN IMMEDIATE; ${step}; PRAGMA user_version = ${index + 1}; COMMIT;`);
  }
}
