// A queue delivers a task once or more, in any order, and again when the host was silent for too long.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TaskFrame } from '../../../functions/tasks/task.ts';
import { until } from '../../until.ts';
import { AgentProcess } from './agent-process.ts';
import type { Host } from './host.ts';
import { launchOf } from './payloads.ts';
import { openWorld, type World } from './world.ts';

const SECONDS_MAX = 240;

let world: World;
let host: Host;
let neighbour: () => Promise<object>;
let neighbourBefore: object;

beforeAll(async () => {
  world = await openWorld();
  neighbour = await world.openNeighbour();
  neighbourBefore = await neighbour();
  host = await world.openHost();
  host.agent.start();
});
afterAll(async () => {
  if (neighbourBefore) expect(await neighbour()).toEqual(neighbourBefore);
  await world?.close();
});

const launch = (id: string, change: Partial<TaskFrame> = {}) =>
  host.taskOf('oci.launch', id, launchOf(id, world.web), change);
const remove = (id: string) => host.taskOf('oci.remove', id, { workload_id: id, stop_grace_seconds: 2 });
const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
const hasBegun = ({ id }: TaskFrame): boolean =>
  host.agent.steps().some(({ label, about }) => label === 'task.begun' && about === id);
const isAt = ({ id }: TaskFrame, step: string): boolean =>
  host.agent.steps().some(({ label, about }) => label === `step ${step}` && about === id);

/** All answered, and each with one answer however often it was told. */
async function answersOf(tasks: TaskFrame[]) {
  await until(() => tasks.every((task) => host.outcomesOf(task).length > 0), 'the answers', SECONDS_MAX);
  return tasks.map((task) => {
    const [outcome, ...again] = host.outcomesOf(task);
    for (const each of again) expect(each).toEqual(outcome);
    return outcome?.status === 'succeeded' ? 'succeeded' : `${outcome?.status} ${outcome?.code}`;
  });
}

async function running(): Promise<string[]> {
  const found = await host.containers();
  return found.map(({ Labels, State }) => `${Labels['gpuaas.workload']} ${State}`).toSorted();
}

test(
  'delivered one to three times and out of order, each launch is one container and each removal ends it',
  async () => {
    const subjects = ids(6);
    const launches = subjects.map((id) => launch(id));
    const often = launches.flatMap((task, index) => Array.from({ length: 1 + (index % 3) }, () => task));
    await host.send(often.toReversed());
    expect(new Set(await answersOf(launches))).toEqual(new Set(['succeeded']));
    await host.send(often);
    expect(await running()).toEqual(subjects.map((id) => `${id} running`).toSorted());

    const removals = subjects.map((id) => remove(id));
    await host.send([...removals, ...launches, ...removals.toReversed()]);
    expect(new Set(await answersOf(removals))).toEqual(new Set(['succeeded']));
    expect(await host.leftovers()).toEqual([]);
  },
  SECONDS_MAX * 1000,
);

test(
  'a launch that comes after its removal is refused, and starts nothing',
  async () => {
    const subjects = ids(3);
    const launches = subjects.map((id) => launch(id));
    const removals = subjects.map((id) => remove(id));
    await host.send(removals);
    await answersOf(removals);
    await host.send([...launches, ...removals]);
    expect(await answersOf(launches)).toEqual(subjects.map(() => 'refused fenced'));
    expect(await host.leftovers()).toEqual([]);
  },
  SECONDS_MAX * 1000,
);

test(
  'an agent that sleeps beyond its lease goes on where it was: delivered again it is still one container',
  async () => {
    const [id = ''] = ids(1);
    const task = launch(id);
    await host.send([task]);
    await until(() => isAt(task, 'create_containers'), 'the launch to be in its middle', SECONDS_MAX);
    host.agent.signal('SIGSTOP');
    // The queue shows the message again, and who started the agent takes it for dead and starts a second one.
    await host.send([task, task]);
    const second = new AgentProcess({ stateDir: host.stateDir });
    second.start();
    await second.ended();
    expect(second.exitCode).not.toBe(0);
    host.agent.signal('SIGCONT');
    expect(await answersOf([task])).toEqual(['succeeded']);
    expect(await running()).toEqual([`${id} running`]);

    const removal = remove(id);
    host.agent.signal('SIGSTOP');
    await host.send([removal, task, removal]);
    host.agent.signal('SIGCONT');
    expect(await answersOf([removal])).toEqual(['succeeded']);
    await until(async () => (await host.leftovers()).length === 0, 'nothing to be left', SECONDS_MAX);
  },
  SECONDS_MAX * 1000,
);

test(
  'a launch whose deadline passes while the agent sleeps is undone',
  async () => {
    const [id = ''] = ids(1);
    const deadlineMs = Date.now() + 5_000;
    const task = launch(id, { deadline_at: new Date(deadlineMs).toISOString() });
    await host.send([task]);
    await until(() => hasBegun(task) || host.outcomesOf(task).length > 0, 'it to begin', SECONDS_MAX);
    host.agent.signal('SIGSTOP');
    await until(() => Date.now() > deadlineMs, 'the deadline');
    host.agent.signal('SIGCONT');
    const [answer] = await answersOf([task]);
    // It may have been quicker than we were.
    expect(['failed deadline_passed', 'refused deadline_passed', 'succeeded']).toContain(answer);
    if (answer === 'succeeded') await host.run([remove(id)], SECONDS_MAX);
    expect(await host.leftovers()).toEqual([]);
  },
  SECONDS_MAX * 1000,
);
