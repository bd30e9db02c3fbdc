import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeEnd, NO_ANSWER, type ReceiptVerdict, workloadAfter } from '../../functions/tasks/outcome.ts';
import { findOverdue, isWorthSending, type KeptTask, viewTask } from '../../functions/tasks/task-row.ts';
import { subjectOfTask } from '../../functions/tasks/task-rules.ts';
import { type Outcome, type Payload, TASK_KINDS, type TaskKind } from '../../functions/tasks/task.ts';
import type { Workload } from '../../functions/tasks/workload.ts';

const NOW = new Date('2026-01-01T01:00:00.000Z');
const AT = '2026-01-01T00:30:00.000Z';
const digest = (letter: string): string => `sha256:${letter.repeat(64)}`;
const image = (letter: string) => ({ repository: 'r', digest: digest(letter), publisher_project_id: 'p' });

const workload = (stated: Partial<Workload> = {}): Workload => ({
  workload_id: 'w',
  node_id: 'n',
  allocation_id: 'a',
  org_id: 'o',
  project_id: 'p',
  engine: 'oci',
  images: [image('b'), image('a')],
  desired: 'present',
  fence: 2,
  first_fence: 1,
  created_at: AT,
  updated_at: AT,
  version: 2,
  ...stated,
});

const task = (kind: TaskKind, stated: Partial<KeptTask> = {}): KeptTask => ({
  id: 't',
  node_id: 'n',
  schema_version: 1,
  kind,
  subject: 'workload:w',
  fence: 2,
  deadline_at: '2026-01-01T01:00:00.000Z',
  correlation_id: 'c',
  status: 'requested',
  workload_id: 'w',
  payload: { container: { repository: 'r', digest: digest('b') }, action: 'stop' },
  requested_by: 'u',
  created_at: '2026-01-01T00:00:00.000Z',
  expires_at: 0,
  ...stated,
});

const well: Outcome = { status: 'succeeded', fence: 2, at: AT, result: {} };
const badly = (status: 'failed' | 'refused'): Outcome => ({
  status,
  fence: 2,
  at: AT,
  code: 'exited',
  detail: 'It ended.',
});

describe('how a task ended', () => {
  const VERDICTS: ReceiptVerdict[] = ['valid', 'missing', 'forged', 'of_another_task', 'leftovers'];

  test.each(TASK_KINDS.flatMap((kind) => VERDICTS.map((verdict) => [kind, verdict] as const)))(
    '%s, with a receipt that is %s',
    (kind, verdict) => {
      const isRemoval = kind === 'oci.remove' || kind === 'compose.down';
      const end = judgeEnd(kind, well, verdict);
      expect(end.status).toBe(isRemoval && verdict !== 'valid' ? 'failed' : 'succeeded');
      expect(end.code).toBe(end.status === 'failed' ? 'left_behind' : undefined);
      expect(judgeEnd(kind, badly('failed'), verdict)).toEqual({
        status: 'failed',
        code: 'exited',
        detail: 'It ended.',
      });
    },
  );
});

describe('the workload afterwards', () => {
  const after = (
    kind: TaskKind,
    outcome: Outcome,
    stated: Partial<Workload> = {},
    about: Partial<KeptTask> = {},
  ) => workloadAfter(workload(stated), task(kind, about), judgeEnd(kind, outcome, 'valid'), outcome, NOW);

  test('of a launch that succeeded is ready, made of its images alone', () => {
    expect(after('oci.launch', well)).toMatchObject({
      images: [image('b')],
      status: { state: 'ready', fence: 2 },
    });
  });

  test('of a launch that failed keeps what may have to be removed', () => {
    expect(after('oci.launch', badly('failed'))).toMatchObject({
      images: [image('b'), image('a')],
      status: { state: 'failed', detail: 'It ended.' },
    });
  });

  test('of the first launch, refused, is gone; of a later one it is as before', () => {
    expect(after('oci.launch', badly('refused'), { first_fence: 2 })).toBe('gone');
    expect(after('oci.launch', badly('refused'))).toBe('unchanged');
  });

  test('is gone after a removal with proof, whatever was asked since', () => {
    expect(after('oci.remove', well, { fence: 5 })).toBe('gone');
    expect(after('oci.remove', badly('failed'))).toBe('unchanged');
    const unproved = judgeEnd('oci.remove', well, 'forged');
    expect(workloadAfter(workload(), task('oci.remove'), unproved, well, NOW)).toBe('unchanged');
  });

  test('is as it was where a later task was given out, or where it is gone already', () => {
    expect(after('oci.launch', well, { fence: 3 })).toBe('unchanged');
    expect(workloadAfter(undefined, task('oci.remove'), { status: 'succeeded' }, well, NOW)).toBe(
      'unchanged',
    );
  });

  test.each([
    ['stop', 'stopped'],
    ['start', 'ready'],
    ['restart', 'ready'],
  ])('is after %s %s', (action, state) => {
    const about = { payload: { workload_id: 'w', action } };
    expect(after('oci.control', well, {}, about)).toMatchObject({ status: { state } });
    expect(after('oci.control', badly('failed'), {}, about)).toBe('unchanged');
  });

  test('keeps what the host said later by itself', () => {
    const status = {
      fence: 2,
      at: '2026-01-01T00:31:00.000Z',
      state: 'failed' as const,
      containers: [],
    };
    expect(after('oci.launch', well, { status })).toMatchObject({ status });
  });

  test('is not there any more only with proof, or where nothing was begun', () => {
    const outcomes: Outcome[] = [well, badly('failed'), badly('refused')];
    fc.assert(
      fc.property(
        fc.constantFrom(...TASK_KINDS),
        fc.constantFrom(...outcomes),
        fc.constantFrom<ReceiptVerdict>('valid', 'missing', 'forged', 'leftovers'),
        fc.integer({ min: 1, max: 3 }),
        (kind, outcome, verdict, first_fence) => {
          const end = judgeEnd(kind, outcome, verdict);
          const left = workloadAfter(workload({ first_fence }), task(kind), end, outcome, NOW);
          if (left !== 'gone') return;
          const isProved = verdict === 'valid' && outcome.status === 'succeeded';
          expect(isProved || outcome.status === 'refused').toBe(true);
        },
      ),
    );
  });
});

describe('a task that nobody answers', () => {
  const at = (time: string) => new Date(`2026-01-01T${time}.000Z`);

  test.each([
    [undefined, '00:00:59', {}],
    ['unsent', '00:01:00', {}],
    [undefined, '00:01:00', { sent_at: AT }],
    [undefined, '01:00:59', {}],
    ['unanswered', '01:01:00', {}],
    ['unanswered', '01:01:00', { sent_at: AT, status: 'running' as const }],
    [undefined, '01:01:00', { status: 'failed' as const }],
  ])('is %s at %s', (verdict, time, stated) => {
    expect(findOverdue(task('oci.status', stated), at(time))).toBe(verdict);
  });

  test('is not sent any more after its deadline, or when it has ended', () => {
    expect(isWorthSending(task('oci.status'), at('00:59:59'))).toBe(true);
    expect(isWorthSending(task('oci.status'), at('01:00:00'))).toBe(false);
    expect(isWorthSending(task('oci.status', { status: 'refused' }), at('00:00:00'))).toBe(false);
  });

  test('ends with a code that says that nothing is known', () => {
    expect(NO_ANSWER).toMatchObject({ status: 'failed', code: 'deadline_passed' });
  });
});

test.each([
  ['volume.create', { volume: { id: 'v' } }, { kind: 'other', name: 'volume:v' }],
  ['volume.remove', { volume_id: 'v' }, { kind: 'other', name: 'volume:v' }],
  ['ssh_trust.reconcile', { user: 'gpu' }, { kind: 'other', name: 'ssh_trust:gpu' }],
  ['agent.update', {}, { kind: 'other', name: 'agent' }],
  ['logs.read', { workload_id: 'w' }, { kind: 'workload', id: 'w' }],
] as const)('%s acts on %o', (kind, payload, subject) => {
  expect(subjectOfTask(kind, payload as unknown as Payload)).toEqual(subject);
});

test('a task is shown without handles, wherever they stand', () => {
  const handle = 'h'.repeat(43);
  const payload = { containers: [{ secrets: [{ handle, path: '/run/secrets/a' }] }], handle };
  const shown = viewTask(task('compose.up', { payload }));
  expect(shown.payload).toEqual({ containers: [{ secrets: [{ path: '/run/secrets/a' }] }] });
});
