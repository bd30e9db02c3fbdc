import { readFileSync } from 'node:fs';
import type { Outcome, TaskFrame } from '../../../functions/nodes/task.ts';
import { until } from '../../until.ts';
import type { Host } from './host.ts';
import { type StepName, stepsOf } from './steps.ts';

const SECONDS_MAX = 90;

const workloadOf = ({ payload }: TaskFrame): string | undefined =>
  (payload as { workload_id?: string }).workload_id;

/** The steps a task takes when nothing goes wrong, the report of its outcome included. */
export async function learnSteps(host: Host, task: TaskFrame): Promise<StepName[]> {
  const [outcome] = await host.run([task]);
  if (outcome?.status !== 'succeeded') throw new Error(`${task.kind}: ${JSON.stringify(outcome)}`);
  await until(() => host.agent.steps().some(({ label, about }) => label === 'report.sent' && about.endsWith(task.id)));
  return stepsOf(host.agent.steps(), task.id, workloadOf(task));
}

export interface Crash {
  task: TaskFrame;
  /** Where the agent dies, once; without it the task is only in the way of others' crashes. */
  at: StepName | undefined;
}

/**
 * All tasks at once; whenever one has come to its step the agent dies, is started again, and everything that is not
 * answered is delivered again, as a queue does. Answers each task's outcome.
 */
export async function crashThrough(host: Host, crashes: Crash[]): Promise<Map<TaskFrame, Outcome>> {
  const { agent } = host;
  await agent.end('SIGKILL');
  const points = crashes.flatMap(({ task, at }) => {
    const workloadId = workloadOf(task);
    const about = [task.id, ...(workloadId === undefined ? [] : [workloadId])];
    return at ? [{ id: `${task.id} ${at.label} ${at.occurrence}`, about, ...at }] : [];
  });
  agent.killAt(points);
  const tasks = crashes.map(({ task }) => task);
  const isAnswered = (task: TaskFrame): boolean => host.outcomesOf(task).length > 0;
  const isDone = (): boolean => tasks.every(isAnswered) && points.every(({ id }) => agent.killed().includes(id));
  const endMs = Date.now() + SECONDS_MAX * 1000;
  while (!isDone()) {
    agent.start();
    // What was answered comes once more, too: its message may not have been deleted.
    await host.send(tasks);
    await until(() => agent.hasEnded || isDone(), 'the agent to die or to be done', SECONDS_MAX).catch((error: Error) => {
      throw new Error(`${error.message}\n${lastWords(host, crashes)}`);
    });
    if (agent.hasEnded && agent.killedBy !== 'SIGKILL') throw new Error(`The agent ended by itself.\n${lastWords(host, crashes)}`);
    if (Date.now() > endMs) throw new Error(`It does not come to an end.\n${lastWords(host, crashes)}`);
  }
  return new Map(tasks.map((task) => [task, host.outcomesOf(task)[0] as Outcome]));
}

function lastWords(host: Host, crashes: Crash[]): string {
  const killed = host.agent.killed();
  const open = crashes
    .filter(({ task, at }) => host.outcomesOf(task).length === 0 || (at && !killed.some((id) => id.startsWith(task.id))))
    .map(({ task, at }) => `${task.kind} ${task.id} at ${at?.label}: ${host.outcomesOf(task).length} answers`);
  const log = readFileSync(host.agent.logFile, 'utf8').trimEnd().split('\n').slice(-15);
  return [...open, ...log].join('\n');
}
