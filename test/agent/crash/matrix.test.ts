// The agent is killed at every step that its journal makes durable, of every kind of task, and started again.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compactVerify } from 'jose';
import type { Outcome, TaskFrame, TaskKind } from '../../../functions/nodes/task.ts';
import { crashThrough, learnSteps } from './crash-through.ts';
import type { Host } from './host.ts';
import { launchOf, projectOf } from './payloads.ts';
import type { StepName } from './steps.ts';
import { openWorld, type World } from './world.ts';

const SECONDS_MAX = 180;

let world: World;
let neighbour: () => Promise<object>;
let neighbourBefore: object;

beforeAll(async () => {
  world = await openWorld();
  neighbour = await world.openNeighbour();
  neighbourBefore = await neighbour();
});
afterAll(async () => {
  await world?.close();
});

interface Phase {
  kind: TaskKind;
  payload: (workloadId: string) => object;
  /** Of each component afterwards; nothing where nothing is to be left. */
  state: 'running' | 'exited' | undefined;
  check?: (outcome: Succeeded, workloadId: string, host: Host) => Promise<void> | void;
}

type Succeeded = Extract<Outcome, { status: 'succeeded' }>;

const byId = (workload_id: string) => ({ workload_id });
const control = (action: string) => (workload_id: string) => ({ workload_id, action });

async function checkReceipt({ result }: Succeeded, workload_id: string, host: Host): Promise<void> {
  const { receipt, receipt_signature = '' } = result;
  expect(receipt).toMatchObject({ workload_id, node_id: host.nodeId, remaining: [] });
  // Whenever it was interrupted, it names what it has removed.
  expect(receipt?.removed.containers.length).toBeGreaterThan(0);
  expect(receipt?.removed.networks).toEqual([`gpuaas-${workload_id}`]);
  const key = host.http.state.nodeKey;
  if (!key) throw new Error('The node has no key.');
  const { payload } = await compactVerify(receipt_signature, key);
  expect(JSON.parse(Buffer.from(payload).toString('utf8'))).toEqual(receipt);
}

const isReady = ({ result }: Succeeded): void => {
  const states = result.containers?.map(({ state }) => state) ?? [];
  expect([...new Set(states)]).toEqual(['ready']);
};

const ONE: Phase[] = [
  {
    kind: 'oci.launch',
    payload: (id) => {
      const volumeId = randomUUID();
      const secret = { handle: world.platform.keepSecret('secret'), path: '/run/secrets/token' };
      const more = {
        secrets: [secret],
        mounts: [{ volume_id: volumeId, path: '/workspace' }],
        bootstrap: { command: ['/bin/touch', '/workspace/prepared'] },
      };
      return { ...launchOf(id, world.web, more), volumes: [{ id: volumeId, kind: 'scratch' }] };
    },
    state: 'running',
    check: isReady,
  },
  { kind: 'oci.status', payload: byId, state: 'running' },
  { kind: 'logs.read', payload: byId, state: 'running' },
  { kind: 'oci.control', payload: control('stop'), state: 'exited' },
  { kind: 'oci.control', payload: control('start'), state: 'running', check: isReady },
  { kind: 'oci.control', payload: control('restart'), state: 'running', check: isReady },
  { kind: 'oci.remove', payload: byId, state: undefined, check: checkReceipt },
];

const SEVERAL: Phase[] = [
  {
    kind: 'compose.up',
    payload: (id) =>
      projectOf(id, world.web, {
        secrets: [{ handle: world.platform.keepSecret('secret'), path: '/run/secrets/token' }],
      }),
    state: 'running',
    check: isReady,
  },
  { kind: 'compose.status', payload: byId, state: 'running' },
  { kind: 'compose.down', payload: byId, state: undefined, check: checkReceipt },
];

describe.concurrent('an agent that is killed at each step of a task and started again', () => {
  test.each([
    { what: 'one container', phases: ONE, components: ['main'] },
    { what: 'a project of three', phases: SEVERAL, components: ['data', 'front', 'work'] },
  ])(
    'ends it as if nothing had happened: $what',
    async ({ phases, components }) => {
      const host = await world.openHost();
      host.agent.start();
      const first = randomUUID();
      const steps: StepName[][] = [];
      for (const { kind, payload } of phases)
        steps.push(await learnSteps(host, host.taskOf(kind, first, payload(first))));
      expect(await host.leftovers()).toEqual([]);

      const subjects = Array.from({ length: Math.max(...steps.map(({ length }) => length)) }, () => randomUUID());
      for (const [number, phase] of phases.entries()) {
        const tasks = subjects.map((id) => host.taskOf(phase.kind, id, phase.payload(id)));
        const crashes = tasks.map((task, index) => ({ task, at: steps[number]?.[index] }));
        const outcomes = await crashThrough(host, crashes);
        await expectAnsweredOnce(host, outcomes);
        await expectContainers(host, subjects, components, phase.state);
        for (const [task, outcome] of outcomes)
          await phase.check?.(outcome as Succeeded, (task.payload as { workload_id: string }).workload_id, host);
        expect(await neighbour()).toEqual(neighbourBefore);
      }
      expect(await host.leftovers()).toEqual([]);
      await host.agent.end('SIGTERM');
    },
    SECONDS_MAX * 1000,
  );
});

/** However often it was reported, it is the same that was reported. */
async function expectAnsweredOnce(host: Host, outcomes: Map<TaskFrame, Outcome>): Promise<void> {
  for (const [task, outcome] of outcomes) {
    expect(outcome, task.kind).toMatchObject({ status: 'succeeded', fence: task.fence });
    for (const again of host.outcomesOf(task)) expect(again).toEqual(outcome);
  }
}

async function expectContainers(
  host: Host,
  workloadIds: string[],
  components: string[],
  state: Phase['state'],
): Promise<void> {
  const found = (await host.containers()).map(({ Labels, State }) => [
    Labels['gpuaas.workload'],
    Labels['gpuaas.component'],
    State,
  ]);
  const wanted =
    state === undefined ? [] : workloadIds.flatMap((id) => components.map((name) => [id, name, state]));
  expect(found.toSorted()).toEqual(wanted.toSorted());
}
