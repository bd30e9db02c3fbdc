// What was asked of this host, how far it came, and how it ended: intent before effect, outcome before acknowledgement.

import type { DatabaseSync } from 'node:sqlite';
import type { Outcome, TaskFrame } from '../../functions/tasks/task.ts';
import { atomically } from './open-database.ts';
import type { ReportJournal } from './report-journal.ts';
import { publishStep } from './step-channel.ts';

export interface TaskRecord {
  id: string;
  kind: string;
  subject: string;
  fence: number;
  begun_at: string;
  ended_at: string | null;
  outcome?: Outcome;
  /** The last one, if there is any. */
  step?: string;
}

interface Row {
  id: string;
  kind: string;
  subject: string;
  fence: number;
  frame: string;
  begun_at: string;
  ended_at: string | null;
  outcome: string | null;
  step: string | null;
}

/** Longer than a queue keeps a message: what is delivered again later is refused by its fence or its deadline. */
const ENDED_DAYS_KEPT = 7;
const ENDED_KEPT_MAX = 5_000;
const FENCE_DAYS_KEPT = 30;
const DAY_MS = 24 * 3600 * 1000;

export type TaskJournal = ReturnType<typeof createTaskJournal>;

export function createTaskJournal(database: DatabaseSync, reports: ReportJournal) {
  const find = database.prepare('SELECT *, NULL AS step FROM tasks WHERE id = ?');
  const open = database.prepare('SELECT frame FROM tasks WHERE ended_at IS NULL ORDER BY begun_at, rowid');
  const recent = database.prepare(
    `SELECT *, (SELECT name FROM steps WHERE task_id = id ORDER BY rowid DESC LIMIT 1) AS step FROM tasks
     WHERE ended_at IS NULL OR ended_at > ? ORDER BY begun_at DESC LIMIT ?`,
  );
  const insert = database.prepare(
    'INSERT INTO tasks (id, subject, fence, kind, frame, begun_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING',
  );
  // The first outcome stands, whatever comes later.
  const end = database.prepare(
    `INSERT INTO tasks (id, subject, fence, kind, frame, begun_at, ended_at, outcome)
     VALUES (:id, :subject, :fence, :kind, '', :at, :at, :outcome)
     ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, outcome = excluded.outcome WHERE ended_at IS NULL`,
  );
  const step = database.prepare('INSERT INTO steps (task_id, name, about, at) VALUES (?, ?, ?, ?)');
  const dropSteps = database.prepare('DELETE FROM steps WHERE task_id = ?');
  const raise = database.prepare(
    `INSERT INTO fences (subject, fence, seen_at) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET fence = max(fence, excluded.fence), seen_at = excluded.seen_at`,
  );
  const fence = database.prepare('SELECT fence FROM fences WHERE subject = ?');

  return {
    find(id: string): TaskRecord | undefined {
      const row = find.get(id) as Row | undefined;
      return row && recordOf(row);
    },

    /** Tasks that began and did not end, oldest first, as they were delivered. */
    unended: (): string[] => (open.all() as { frame: string }[]).map(({ frame }) => frame),

    /** Open ones, and those that ended since, newest first. */
    list: (endedSince: Date, max: number): TaskRecord[] =>
      (recent.all(endedSince.toISOString(), max) as unknown as Row[]).map(recordOf),

    /** The highest that was seen of a subject; 0 if none was. */
    fenceOf: (subject: string): number => (fence.get(subject) as { fence: number } | undefined)?.fence ?? 0,

    /** A second begin of the same task changes nothing but steps: it is performed again from its start. */
    begin(frame: TaskFrame, text: string, now: Date): void {
      const at = now.toISOString();
      atomically(database, () => {
        raise.run(frame.subject, frame.fence, at);
        insert.run(frame.id, frame.subject, frame.fence, frame.kind, text, at);
        dropSteps.run(frame.id);
      });
      publishStep({ kind: 'task.begun', about: frame.id });
    },

    step(id: string, name: string, about: object, now: Date): void {
      step.run(id, name, JSON.stringify(about), now.toISOString());
      publishStep({ kind: 'step', about: id, name });
    },

    /**
     * The outcome, the report of it, and that its fence was seen, at once: either all of it is kept or the task has not
     * ended. Without a frame it is the answer to something of which no more than the id could be read. `also` is written
     * with it.
     */
    end(
      id: string,
      frame: TaskFrame | undefined,
      outcome: Outcome,
      path: string,
      now: Date,
      also: (() => void)[] = [],
    ): void {
      const at = now.toISOString();
      const { subject = '', kind = '' } = frame ?? {};
      atomically(database, () => {
        if (frame) raise.run(frame.subject, frame.fence, at);
        end.run({ id, subject, kind, fence: outcome.fence, at, outcome: JSON.stringify(outcome) });
        dropSteps.run(id);
        reports.keep(outcomeReport(id), path, outcome, now);
        for (const write of also) write();
      });
      publishStep({ kind: 'task.ended', about: id });
    },

    prune(now: Date): void {
      const before = (days: number) => new Date(now.getTime() - days * DAY_MS).toISOString();
      atomically(database, () => {
        database.prepare('DELETE FROM tasks WHERE ended_at < ?').run(before(ENDED_DAYS_KEPT));
        database
          .prepare(
            `DELETE FROM tasks WHERE id IN
             (SELECT id FROM tasks WHERE ended_at IS NOT NULL ORDER BY ended_at DESC LIMIT -1 OFFSET ?)`,
          )
          .run(ENDED_KEPT_MAX);
        database
          .prepare(
            `DELETE FROM fences WHERE seen_at < ? AND subject NOT IN (SELECT 'workload:' || workload_id FROM workloads)
             AND subject NOT IN (SELECT subject FROM tasks)`,
          )
          .run(before(FENCE_DAYS_KEPT));
      });
    },
  };
}

export const outcomeReport = (taskId: string): string => `outcome:${taskId}`;

function recordOf(row: Row): TaskRecord {
  const { id, kind, subject, fence, begun_at, ended_at, outcome, step } = row;
  return {
    id,
    kind,
    subject,
    fence,
    begun_at,
    ended_at,
    ...(outcome !== null && { outcome: JSON.parse(outcome) as Outcome }),
    ...(step !== null && { step }),
  };
}
