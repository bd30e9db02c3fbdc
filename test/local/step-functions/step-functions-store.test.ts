import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openJournal, type Journal } from '../../../lib/local/journal/journal.ts';
import { History } from '../../../lib/local/step-functions/history.ts';
import { Store, type Execution } from '../../../lib/local/step-functions/store.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
let dataDir: string;
let journal: Journal;
let store: Store;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'step-functions-store-'));
  journal = openJournal(dataDir);
  store = new Store(journal);
});
afterEach(() => {
  journal.close();
  rmSync(dataDir, { recursive: true, force: true });
});

function insert(arn: string, stoppedMs: number | null): void {
  const execution: Execution = {
    arn,
    machineArn: 'machine',
    machineName: 'machine',
    roleArn: 'role',
    definitionHash: `definition of ${arn}`,
    name: arn,
    status: stoppedMs === null ? 'RUNNING' : 'SUCCEEDED',
    input: '{}',
    output: null,
    error: null,
    cause: null,
    startedMs: 0,
    stoppedMs,
  };
  store.insertExecution(execution, '{}');
}

test('executions that ended more than 90 days ago are forgotten with their history and definition', () => {
  const nowMs = 1000 * DAY_MS;
  const history = new History(store);
  for (const [arn, stoppedMs] of [
    ['old', nowMs - 91 * DAY_MS],
    ['recent', nowMs - 89 * DAY_MS],
    ['running', null],
  ] as const) {
    insert(arn, stoppedMs);
    history.append(arn, 'ExecutionStarted', 0);
  }
  store.forgetOldExecutions(nowMs);
  expect(store.execution('old')).toBeUndefined();
  expect(history.page('old', { afterId: undefined, limit: 1, isReversed: false })).toEqual([]);
  expect(() => store.definition('definition of old')).toThrow('without its definition');
  expect(store.execution('recent')).toBeDefined();
  expect(store.execution('running')).toBeDefined();
  expect(history.page('recent', { afterId: undefined, limit: 1, isReversed: false })).toHaveLength(1);
});

test('of more than 10,000 ended executions the oldest are forgotten; running ones do not count', () => {
  store.atomically(() => {
    insert('running', null);
    for (let n = 0; n < 10_002; n++) insert(`e${n}`, n);
  });
  store.forgetOldExecutions(20_000);
  expect(store.execution('e0')).toBeUndefined();
  expect(store.execution('e1')).toBeUndefined();
  expect(store.execution('e2')).toBeDefined();
  expect(store.execution('running')).toBeDefined();
});
