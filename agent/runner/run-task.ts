// One task from its delivery to its outcome. Whatever can be read is answered; what was answered before is answered the
// same again; what was begun and not ended is performed again from its start.

import type { Outcome, Task, TaskFailure, TaskFrame } from '../../functions/tasks/task.ts';
import { nodePath } from '../platform/paths.ts';
import type { Journal } from '../journal/journal.ts';
import { outcomeReport } from '../journal/task-journal.ts';
import {
  type Log,
  type Performer,
  type Performers,
  type TaskContext,
  TaskFailed,
} from '../tasks/performer.ts';
import { judgeTask, readDelivery } from './judge-task.ts';

export interface TaskRunner {
  nodeId: string;
  journal: Journal;
  performers: Performers;
  log: Log;
  now: () => Date;
  /** Tells the platform how far a task is; it may get lost. */
  tellProgress: (path: string, report: object) => void;
}

/** `interrupted`: it has no outcome yet, and must be delivered or resumed again. */
export type Ran = 'answered' | 'interrupted';

const PROGRESS_MS = 15_000;
const DETAIL_CHARACTERS_MAX = 2_000;
/** Timers hold no more; who waits so long is told by the platform's own deadline. */
const TIMER_MS_MAX = 2_147_483_647;

/** `stopping` is aborted with AgentStopping when the agent is to end. */
export async function runTask(runner: TaskRunner, text: string, stopping: AbortSignal): Promise<Ran> {
  const { journal, log, now } = runner;
  const delivery = readDelivery(text);
  if ('unreadable' in delivery) {
    log('error', 'A message is no task and is dropped.', { reason: delivery.unreadable });
    return 'answered';
  }
  const { id, fence } = 'frame' in delivery ? delivery.frame : delivery.answerable;
  const before = journal.tasks.find(id);
  if (before?.outcome) {
    log('info', 'A task was delivered again: its outcome is reported again.', { task_id: id });
    journal.reports.keep(outcomeReport(id), outcomePath(runner, id), before.outcome, now());
    return 'answered';
  }
  if (stopping.aborted) return 'interrupted';
  if (!('frame' in delivery)) {
    const detail = 'The frame of the task is not valid.';
    return end(runner, id, undefined, refusal('refused', fence, 'invalid_payload', detail, now));
  }
  const { frame } = delivery;
  const isInterrupted = before !== undefined;
  const highest = journal.tasks.fenceOf(frame.subject);
  const judged = judgeTask(frame, { nodeId: runner.nodeId, fence: highest, isInterrupted, now: now() });
  if ('refused' in judged) {
    const status = isInterrupted ? 'failed' : 'refused';
    // Seen is seen, also of a task that is refused: what comes later with a lower fence is older than this one. But what
    // is meant for another node says nothing about the subjects of this one.
    const seen = frame.node_id === runner.nodeId ? frame : undefined;
    return end(runner, id, seen, refusal(status, fence, judged.refused, judged.detail, now));
  }
  journal.tasks.begin(frame, text, now());
  const also: (() => void)[] = [];
  const outcome = await perform(runner, judged.task, stopping, also);
  if (outcome === 'interrupted') return outcome;
  return end(runner, id, frame, outcome, outcome.status === 'succeeded' ? also : []);
}

function refusal(
  status: 'failed' | 'refused',
  fence: number,
  code: TaskFailure,
  detail: string,
  now: () => Date,
): Outcome {
  return { status, fence, at: at(now), code, detail };
}

function end(
  runner: TaskRunner,
  id: string,
  frame: TaskFrame | undefined,
  outcome: Outcome,
  also: (() => void)[] = [],
): Ran {
  runner.journal.tasks.end(id, frame, outcome, outcomePath(runner, id), runner.now(), also);
  const { status } = outcome;
  const about = { task_id: id, kind: frame?.kind, correlation_id: frame?.correlation_id };
  if (status === 'succeeded') runner.log('info', 'A task succeeded.', about);
  else runner.log('warn', `A task ${status}.`, { ...about, code: outcome.code, detail: outcome.detail });
  return 'answered';
}

async function perform(
  runner: TaskRunner,
  task: Task,
  stopping: AbortSignal,
  also: (() => void)[],
): Promise<Outcome | 'interrupted'> {
  const { fence } = task;
  const { now } = runner;
  const deadline = new AbortController();
  const stopDeadline = abortAt(deadline, task.deadline_at, now);
  const signal = AbortSignal.any([stopping, deadline.signal]);
  const progress = tellingProgress(runner, task);
  try {
    const perform = runner.performers[task.kind] as Performer;
    const context = contextOf(runner, task, signal, (name) => progress.step(name));
    const result = await perform({ ...context, withOutcome: (write) => void also.push(write) });
    return { status: 'succeeded', fence, at: at(now), result };
  } catch (error) {
    if (stopping.aborted && !(error instanceof TaskFailed)) return 'interrupted';
    return failureOf(error, signal, fence, now);
  } finally {
    progress.stop();
    stopDeadline();
  }
}

function contextOf(
  runner: TaskRunner,
  task: Task,
  signal: AbortSignal,
  onStep: (name: string) => void,
): Omit<TaskContext, 'withOutcome'> {
  const about = { task_id: task.id, kind: task.kind, correlation_id: task.correlation_id };
  return {
    task,
    signal,
    step(name, more = {}) {
      runner.journal.tasks.step(task.id, name, more, runner.now());
      onStep(name);
    },
    now: () => runner.now(),
    log: (level, message, more) => runner.log(level, message, { ...about, ...more }),
  };
}

/** The performer's own word counts; of everything else the platform learns no more than that it happened. */
function failureOf(error: unknown, signal: AbortSignal, fence: number, now: () => Date): Outcome {
  const failed = error instanceof TaskFailed ? error : signal.aborted ? signal.reason : undefined;
  const { code, message, result } =
    failed instanceof TaskFailed
      ? failed
      : { code: 'internal' as const, message: textOf(error), result: undefined };
  const detail = message.slice(0, DETAIL_CHARACTERS_MAX);
  return { status: 'failed', fence, at: at(now), code, detail, ...(result && { result }) };
}

const textOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Long work is told by its last step, once for each step; a platform that does not hear it asks nobody. */
function tellingProgress(runner: TaskRunner, { id, fence }: Task) {
  let last: string | undefined;
  const timer = setInterval(() => {
    if (last === undefined) return;
    const report = { status: 'running', fence, step: last.slice(0, 64), at: at(runner.now) };
    runner.tellProgress(nodePath(runner.nodeId, `/tasks/${id}/progress`), report);
    last = undefined;
  }, PROGRESS_MS);
  timer.unref();
  return {
    step(name: string) {
      last = name;
    },
    stop: () => clearInterval(timer),
  };
}

function abortAt(controller: AbortController, deadlineAt: string, now: () => Date): () => void {
  const pass = () =>
    controller.abort(new TaskFailed('deadline_passed', 'The deadline passed while the task was performed.'));
  const ms = Date.parse(deadlineAt) - now().getTime();
  if (ms <= 0) pass();
  const timer = setTimeout(pass, Math.min(Math.max(ms, 0), TIMER_MS_MAX));
  return () => clearTimeout(timer);
}

const at = (now: () => Date): string => now().toISOString();

const outcomePath = ({ nodeId }: TaskRunner, id: string): string => nodePath(nodeId, `/tasks/${id}/outcome`);

/** Subjects are served one task at a time; what cannot be read has none and waits for nobody. */
export function subjectOf(text: string): string | undefined {
  const delivery = readDelivery(text);
  return 'frame' in delivery ? delivery.frame.subject : undefined;
}
