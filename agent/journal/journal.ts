// What the agent must not forget, in one SQLite file of its state directory. Every call is durable when it returns.

import type { WorkloadJournal } from '../tasks/performer.ts';
import { openDatabase } from './open-database.ts';
import { createReportJournal, type ReportJournal } from './report-journal.ts';
import { createTaskJournal, type TaskJournal } from './task-journal.ts';
import { createWorkloadJournal } from './workload-journal.ts';

export interface Journal {
  tasks: TaskJournal;
  reports: ReportJournal;
  workloads: WorkloadJournal;
  /** Forgets what nobody will ask for again. */
  prune(): void;
  close(): void;
}

const FETCH_DAYS_KEPT = 7;

export function openJournal(stateDir: string, now: () => Date): Journal {
  const database = openDatabase(stateDir);
  const reports = createReportJournal(database);
  const tasks = createTaskJournal(database, reports);
  return {
    tasks,
    reports,
    workloads: createWorkloadJournal(database, now),
    prune() {
      tasks.prune(now());
      const oldest = new Date(now().getTime() - FETCH_DAYS_KEPT * 24 * 3600 * 1000);
      database.prepare('DELETE FROM fetches WHERE kept_at < ?').run(oldest.toISOString());
    },
    close: () => database.close(),
  };
}
