import { mkdtempSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { journalFile } from '../../../agent/journal/open-database.ts';
import { JOURNAL_VERSION } from '../../../agent/journal/schema.ts';
import type { JournalStep } from '../../../agent/journal/step-channel.ts';
import type { Outcome } from '../../../functions/tasks/task.ts';
import { aTask } from '../a-task.ts';

let stateDir: string;
let journal: Journal;
let time: Date;
const now = () => time;
const DAY_MS = 24 * 3600_000;

beforeEach(() => {
  time = new Date('2026-01-01T00:00:00.000Z');
  stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
  journal = openJournal(stateDir, now);
});
afterEach(() => journal.close());

const done: Outcome = { status: 'succeeded', fence: 1, at: '2026-01-01T00:00:00.000Z', result: {} };

function perform(more = {}) {
  const task = aTask(more);
  journal.tasks.begin(task, JSON.stringify(task), now());
  return task;
}

const end = (task: ReturnType<typeof perform>) => journal.tasks.end(task.id, task, done, '/outcome', now());

describe('the journal', () => {
  test('is readable for its owner alone, of a known version, and opened as often as needed', () => {
    expect(statSync(journalFile(stateDir)).mode % 0o1000).toBe(0o600);
    journal.close();
    journal = openJournal(stateDir, now);
    const database = new DatabaseSync(journalFile(stateDir), { readOnly: true });
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: JOURNAL_VERSION });
    expect(database.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    database.close();
  });

  test('keeps an ended task for a week, and an open one for ever', () => {
    const open = perform();
    const ended = perform();
    end(ended);
    time = new Date(time.getTime() + 6 * DAY_MS);
    journal.prune();
    expect(journal.tasks.find(ended.id)?.outcome).toEqual(done);
    time = new Date(time.getTime() + 2 * DAY_MS);
    journal.prune();
    expect(journal.tasks.find(ended.id)).toBeUndefined();
    expect(journal.tasks.find(open.id)).toBeDefined();
  });

  test('keeps a fence longer than any queue keeps a message, and that of a workload as long as it is here', () => {
    const gone = perform({ fence: 7 });
    const here = perform({ fence: 8 });
    end(gone);
    end(here);
    const workload_id = here.subject.replace('workload:', '');
    const workload = { workload_id, fence: 8, desired: 'present', kind: 'oci', payload: '{}' } as const;
    journal.workloads.putWorkload(workload);
    time = new Date(time.getTime() + 29 * DAY_MS);
    journal.prune();
    expect(journal.tasks.fenceOf(gone.subject)).toBe(7);
    time = new Date(time.getTime() + 2 * DAY_MS);
    journal.prune();
    expect([journal.tasks.fenceOf(gone.subject), journal.tasks.fenceOf(here.subject)]).toEqual([0, 8]);
  });

  test('keeps the highest fence of a subject and the first outcome of a task', () => {
    const high = perform({ fence: 5 });
    perform({ subject: high.subject, fence: 3 });
    expect(journal.tasks.fenceOf(high.subject)).toBe(5);
    end(high);
    journal.tasks.end(high.id, high, { ...done, at: '2027-01-01T00:00:00.000Z' }, '/outcome', now());
    expect(journal.tasks.find(high.id)?.outcome).toEqual(done);
  });

  test('shows the last step of a task, and none of an attempt before', () => {
    const task = perform();
    journal.tasks.step(task.id, 'pull', {}, now());
    journal.tasks.step(task.id, 'create', { name: 'x' }, now());
    expect(journal.tasks.list(new Date(0), 10)[0]?.step).toBe('create');
    journal.tasks.begin(task, JSON.stringify(task), now());
    expect(journal.tasks.list(new Date(0), 10)[0]?.step).toBeUndefined();
  });

  test('knows workloads until they are forgotten', () => {
    const record = {
      workload_id: 'w',
      fence: 1,
      desired: 'present',
      kind: 'oci',
      payload: '{"a":1}',
    } as const;
    journal.workloads.putWorkload(record);
    journal.workloads.putWorkload({ ...record, desired: 'absent', fence: 2 });
    expect(journal.workloads.listWorkloads()).toEqual([{ ...record, desired: 'absent', fence: 2 }]);
    journal.workloads.forgetWorkload('w');
    expect(journal.workloads.getWorkload('w')).toBeUndefined();
  });

  test('gives a handle the same fetch id again, also after a restart, and does not know the handle', () => {
    const first = journal.workloads.fetchIdOf('handle-of-a-secret');
    journal.close();
    journal = openJournal(stateDir, now);
    expect(journal.workloads.fetchIdOf('handle-of-a-secret')).toBe(first);
    expect(journal.workloads.fetchIdOf('another')).not.toBe(first);
    const database = new DatabaseSync(journalFile(stateDir), { readOnly: true });
    expect(JSON.stringify(database.prepare('SELECT * FROM fetches').all())).not.toContain('handle-of');
    database.close();
  });

  test('says of everything it has made durable that it did', () => {
    const seen: string[] = [];
    const listen = (step: unknown) => void seen.push((step as JournalStep).kind);
    subscribe('gpuaas.agent.step', listen);
    const task = perform();
    journal.tasks.step(task.id, 'pull', {}, now());
    end(task);
    journal.workloads.fetchIdOf('x');
    for (const report of journal.reports.list(1)) journal.reports.drop(report);
    unsubscribe('gpuaas.agent.step', listen);
    expect(seen).toEqual(['task.begun', 'step', 'task.ended', 'fetch.kept', 'report.sent']);
  });
});
