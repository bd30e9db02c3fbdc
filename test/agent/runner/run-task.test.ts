import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { runTask, type TaskRunner } from '../../../agent/runner/run-task.ts';
import { AgentStopping } from '../../../agent/runner/stopping.ts';
import { type Performer, type Performers, TaskFailed } from '../../../agent/tasks/performer.ts';
import type { Outcome, TaskFrame } from '../../../functions/tasks/task.ts';
import { aTask, NODE, performersOf, silent } from '../a-task.ts';

let stateDir: string;
let journal: Journal;
let performed: string[];

const now = () => new Date();
const never = new AbortController().signal;

beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'agent-'));
  journal = openJournal(stateDir, now);
  performed = [];
});
afterEach(() => journal.close());

const succeeding: Performer<'oci.status'> = (ctx) => {
  performed.push(ctx.task.id);
  return Promise.resolve({ containers: [] });
};

function runnerOf(some: Partial<Performers> = { 'oci.status': succeeding }): TaskRunner {
  return { nodeId: NODE, journal, performers: performersOf(some), log: silent, now, tellProgress: silent };
}

const deliver = (task: object, runner = runnerOf(), signal = never) =>
  runTask(runner, JSON.stringify(task), signal);

const outcomeOf = (id: string): Outcome | undefined => journal.tasks.find(id)?.outcome;

const reported = () =>
  journal.reports.list(100).map(({ path, body }) => ({ path, outcome: JSON.parse(body) as Outcome }));

describe('a task that is understood', () => {
  test('is performed, and its outcome is kept together with its report', async () => {
    const task = aTask();
    expect(await deliver(task)).toBe('answered');
    expect(outcomeOf(task.id)).toMatchObject({ status: 'succeeded', fence: 1, result: { containers: [] } });
    expect(reported()).toEqual([
      { path: `/api/v1/nodes/${NODE}/tasks/${task.id}/outcome`, outcome: outcomeOf(task.id) },
    ]);
  });

  test('that fails with a code of the list is reported with it', async () => {
    const task = aTask();
    const failing = () => Promise.reject(new TaskFailed('workload_unknown', 'Nothing of it is here.'));
    await deliver(task, runnerOf({ 'oci.status': failing }));
    expect(outcomeOf(task.id)).toMatchObject({ status: 'failed', code: 'workload_unknown' });
  });

  test('that fails as nobody expected is reported as internal', async () => {
    const task = aTask();
    await deliver(
      task,
      runnerOf({ 'oci.status': () => Promise.reject(new TypeError('x is not a function')) }),
    );
    expect(outcomeOf(task.id)).toMatchObject({ status: 'failed', code: 'internal' });
  });

  test('that takes longer than its deadline is told to end, and has failed', async () => {
    const task = aTask({ deadline_at: new Date(Date.now() + 50).toISOString() });
    const slow: Performer<'oci.status'> = ({ signal }) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
    await deliver(task, runnerOf({ 'oci.status': slow }));
    expect(outcomeOf(task.id)).toMatchObject({ status: 'failed', code: 'deadline_passed' });
  });
});

describe('a task that is delivered more often', () => {
  test.each([1, 2, 3])('%d times is performed once, and answered each time the same', async (times) => {
    const task = aTask();
    for (let count = 0; count < times; count++) await deliver(task);
    expect(performed).toEqual([task.id]);
    expect(reported()).toEqual([expect.objectContaining({ outcome: outcomeOf(task.id) })]);
  });

  test('is answered again after its report was sent', async () => {
    const task = aTask();
    await deliver(task);
    for (const report of journal.reports.list(10)) journal.reports.drop(report);
    await deliver(task);
    expect(reported()).toHaveLength(1);
  });

  test('is not performed again after a newer one of its subject', async () => {
    const first = aTask();
    const second = aTask({ subject: first.subject, fence: 2 });
    await deliver(first);
    await deliver(second);
    await deliver(first);
    expect(performed).toEqual([first.id, second.id]);
    expect(outcomeOf(first.id)?.status).toBe('succeeded');
  });
});

describe('a task that comes too late', () => {
  test('is refused by its fence when a newer one was seen first', async () => {
    const newer = aTask({ fence: 5 });
    const older = aTask({ subject: newer.subject, fence: 4 });
    await deliver(newer);
    await deliver(older);
    expect(outcomeOf(older.id)).toMatchObject({ status: 'refused', code: 'fenced', fence: 4 });
    expect(performed).toEqual([newer.id]);
  });

  test('is refused also when the newer one was itself refused', async () => {
    const newer = aTask({ fence: 5, kind: 'oci.teleport' });
    const older = aTask({ subject: newer.subject, fence: 4 });
    await deliver(newer);
    await deliver(older);
    expect(outcomeOf(older.id)).toMatchObject({ code: 'fenced' });
  });

  test('is not held up by a fence of another subject', async () => {
    await deliver(aTask({ fence: 9 }));
    const other = aTask();
    await deliver(other);
    expect(outcomeOf(other.id)?.status).toBe('succeeded');
  });

  test('is refused when its deadline has passed', async () => {
    const task = aTask({ deadline_at: new Date(Date.now() - 1).toISOString() });
    await deliver(task);
    expect(outcomeOf(task.id)).toMatchObject({ status: 'refused', code: 'deadline_passed' });
    expect(performed).toEqual([]);
  });
});

describe('what is not understood is answered', () => {
  const refusals: [string, Partial<TaskFrame>, string][] = [
    ['an unknown kind', { kind: 'oci.teleport' }, 'unknown_kind'],
    ['a newer schema version', { schema_version: 2 }, 'newer_schema'],
    ['a payload that is not valid', { payload: { workload_id: 'none' } }, 'invalid_payload'],
    [
      'a payload with a member too many',
      { payload: { workload_id: NODE, privileged: true } },
      'invalid_payload',
    ],
    ['a task for another node', { node_id: '0190a000-0000-7000-8000-00000000000f' }, 'wrong_node'],
  ];
  test.each(refusals)('%s', async (_, more, code) => {
    const task = aTask(more);
    expect(await deliver(task)).toBe('answered');
    expect(outcomeOf(task.id)).toMatchObject({ status: 'refused', code });
    expect(reported()).toHaveLength(1);
    expect(performed).toEqual([]);
  });

  test('a frame of which only the id can be read', async () => {
    const { id } = aTask();
    await deliver({ id, kind: 7 });
    expect(outcomeOf(id)).toMatchObject({ status: 'refused', code: 'invalid_payload', fence: 1 });
  });

  test('and of what is no task at all nothing is kept', async () => {
    for (const text of ['', 'no JSON', '[]', '{"id":"x"}', `"${'x'.repeat(300_000)}"`])
      expect(await runTask(runnerOf(), text, never)).toBe('answered');
    expect(reported()).toEqual([]);
  });

  test('the fence of another node says nothing here', async () => {
    const foreign = aTask({ fence: 9, node_id: '0190a000-0000-7000-8000-00000000000f' });
    const own = aTask({ subject: foreign.subject });
    await deliver(foreign);
    await deliver(own);
    expect(outcomeOf(own.id)?.status).toBe('succeeded');
  });
});

describe('a task that was interrupted', () => {
  const stopped = new AbortController();
  stopped.abort(new AgentStopping());
  const interrupted: Performer<'oci.status'> = (ctx) => {
    ctx.step('half.way');
    return Promise.reject(new AgentStopping());
  };

  async function interrupt(task: TaskFrame): Promise<void> {
    const stopping = new AbortController();
    const runner = runnerOf({
      'oci.status': (ctx) => {
        stopping.abort(new AgentStopping());
        return interrupted(ctx);
      },
    });
    expect(await deliver(task, runner, stopping.signal)).toBe('interrupted');
  }

  test('has no outcome, and is among those to resume', async () => {
    const task = aTask();
    await interrupt(task);
    expect(outcomeOf(task.id)).toBeUndefined();
    expect(reported()).toEqual([]);
    expect(journal.tasks.unended().map((text) => (JSON.parse(text) as TaskFrame).id)).toEqual([task.id]);
  });

  test('is performed again from its start', async () => {
    const task = aTask();
    await interrupt(task);
    await deliver(task);
    expect(performed).toEqual([task.id]);
    expect(outcomeOf(task.id)?.status).toBe('succeeded');
    expect(journal.tasks.unended()).toEqual([]);
  });

  test('after its deadline may still undo what it left, and has failed', async () => {
    const task = aTask({ deadline_at: new Date(Date.now() + 300).toISOString() });
    await interrupt(task);
    const late = { ...runnerOf(), now: () => new Date(Date.now() + 1_000) };
    const undone: boolean[] = [];
    late.performers = performersOf({
      'oci.status': ({ signal }) => {
        undone.push(signal.aborted);
        return Promise.reject(signal.reason as Error);
      },
    });
    await deliver(task, late);
    expect(undone).toEqual([true]);
    expect(outcomeOf(task.id)).toMatchObject({ status: 'failed', code: 'deadline_passed' });
  });

  test('is not begun at all while the agent stops', async () => {
    const task = aTask();
    expect(await deliver(task, runnerOf(), stopped.signal)).toBe('interrupted');
    expect(journal.tasks.find(task.id)).toBeUndefined();
  });

  test('that failed for a reason of its own while the agent stops has failed', async () => {
    const task = aTask();
    const stopping = new AbortController();
    const failing: Performer<'oci.status'> = () => {
      stopping.abort(new AgentStopping());
      return Promise.reject(new TaskFailed('exited', 'It ended.'));
    };
    await deliver(task, runnerOf({ 'oci.status': failing }), stopping.signal);
    expect(outcomeOf(task.id)).toMatchObject({ status: 'failed', code: 'exited' });
  });
});
