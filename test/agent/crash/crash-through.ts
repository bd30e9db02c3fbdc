import { readFileSync } from 'node:fs';
import type { Outcome, TaskFrame } from '../../../functions/tasks/task.ts';
import { until } from '../../until.ts';
import type { Host } from './host.ts';
import { type StepName, stepsOf } from './steps.ts';

const SECONDS_MAX = 60;

const workloadOf = ({ payload }: TaskFrame): string | undefined =>
  (payload as { workload_id?: string }).workload_id;

/** The steps a task takes when nothing goes wrong, the report of its outcome included. */
export async function learnSteps(host: Host, task: TaskFrame): Promise<StepName[]> {
  const [outcome] = await host.run([task]);
  if (outcome?.status !== 'succeeded') throw new Error(`${task.kind}: ${JSON.stringify(outcome)}`);
  await until(() =>
    host.agent.steps().some(({ label, about }) => label === 'report.sent' && about.endsWith(task.id)),
  );
  return stepsOf(host.agent.steps(), task.id, workloadOf(task));
}

export interface Crash {
  task: TaskFrame;
  /** Where the agent dies, once; without it the task is only in the way of others' crashes. */
  at: StepName | undefined;
}

/**
 * One life of the agent for each crash: the task is delivered, and when it has come to its step the agent dies. The next
 * life takes up what was left while it comes to the next crash, and everything is delivered once more, as queues do.
 * Answers each task's outcome.
 */
export async function crashThrough(host: Host, crashes: Crash[]): Promise<Map<TaskFrame, Outcome>> {
  const { agent } = host;
  await agent.end('SIGKILL');
  const tasks = crashes.map(({ task }) => task);
  for (const [index, crash] of crashes.entries()) {
    const point = pointOf(crash);
    if (!point) continue;
    const { task } = crash;
    agent.killAt([point]);
    agent.start();
    await host.send([...tasks.slice(Math.max(0, index - 1), index), task]);
    await until(() => agent.hasEnded, `${task.kind} to die at ${point.label}`, SECONDS_MAX).catch(
      telling(host),
    );
    if (!agent.killed().includes(point.id))
      throw new Error(`It died elsewhere than at ${point.label}.\n${lastWords(host)}`);
  }
  agent.killAt([]);
  agent.start();
  await host.send(tasks);
  const answered = () => tasks.every((task) => host.outcomesOf(task).length > 0);
  await until(() => agent.hasEnded || answered(), 'all to be answered', SECONDS_MAX).catch(telling(host));
  if (agent.hasEnded) throw new Error(`The agent ended by itself.\n${lastWords(host)}`);
  return new Map(tasks.map((task) => [task, host.outcomesOf(task)[0] as Outcome]));
}

function pointOf({ task, at }: Crash) {
  const workloadId = workloadOf(task);
  const about = [task.id, ...(workloadId === undefined ? [] : [workloadId])];
  return at && { id: `${task.id} ${at.label} ${at.occurrence}`, about, ...at };
}

const telling = (host: Host) => (error: Error) => {
  throw new Error(`${error.message}\n${lastWords(host)}`);
};

const lastWords = (host: Host): string =>
  readFileSync(host.agent.logFile, 'utf8').trimEnd().split('\n').slice(-15).join('\n');
