// What the platform has to be told and may not have heard yet. A report goes only when the platform has answered it.

import type { DatabaseSync } from 'node:sqlite';
import { publishStep } from './step-channel.ts';

export interface Report {
  number: number;
  /** What it is about; a later report about the same replaces an earlier one. */
  about: string;
  /** Below the platform's address. */
  path: string;
  body: string;
  kept_at: string;
}

/** Nobody waits for one that is older, and the disk is not endless. */
const DAYS_KEPT = 14;

export type ReportJournal = ReturnType<typeof createReportJournal>;

export function createReportJournal(database: DatabaseSync) {
  // A replaced report gets a new number: when its predecessor, on its way just now, is answered, it stays.
  const keep = database.prepare(
    'INSERT OR REPLACE INTO reports (about, path, body, kept_at) VALUES (?, ?, ?, ?)',
  );
  const list = database.prepare('SELECT * FROM reports ORDER BY number LIMIT ?');
  const drop = database.prepare('DELETE FROM reports WHERE number = ?');
  const count = database.prepare('SELECT count(*) AS count FROM reports');
  let awaken = (): void => {};

  return {
    keep(about: string, path: string, body: object, now: Date): void {
      keep.run(about, path, JSON.stringify(body), now.toISOString());
      if (!database.isTransaction) publishStep({ kind: 'report.kept', about });
      awaken();
    },
    list: (max: number): Report[] => list.all(max) as unknown as Report[],
    drop(report: Report): void {
      drop.run(report.number);
      publishStep({ kind: 'report.sent', about: report.about });
    },
    count: (): number => (count.get() as { count: number }).count,
    /** Called whenever one more is kept. */
    onKept(listener: () => void): void {
      awaken = listener;
    },
    isTooOld: ({ kept_at }: Report, now: Date): boolean =>
      now.getTime() - Date.parse(kept_at) > DAYS_KEPT * 24 * 3600 * 1000,
  };
}
