// The agent is killed at every step that its journal makes durable, of every kind of task, and started again.

import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compactVerify } from 'jose';
import type { Outcome, TaskFrame, TaskKind } from '../../../functions/tasks/task.ts';
import { crashThrough, learnSteps } from './crash-through.ts';
import type { Host } from './host.ts';
import { launchOf, projectOf } from './payloads.ts';
import type { StepName } from './steps.ts';
import { openWorld, type World } from './world.ts';

/** Nobody on this machine. */
const UID = 12_345;
const SECONDS_MAX = 600;

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
      await crashThroughAll(host, phases, async ({ state, check }, outcomes) => {
        const workloads = [...outcomes.keys()].map(idOf);
        await expectContainers(host, workloads, components, state);
        for (const [task, outcome] of outcomes) await check?.(outcome, idOf(task), host);
        expect(await neighbour()).toEqual(neighbourBefore);
      });
      expect(await host.leftovers()).toEqual([]);
    },
    SECONDS_MAX * 1000,
  );

  test(
    'ends it as if nothing had happened: volumes',
    async () => {
      const host = await world.openHost();
      const projectId = randomUUID();
      const phases = [
        {
          kind: 'volume.create' as const,
          payload: (id: string) => ({ project_id: projectId, volume: { id, kind: 'persistent' } }),
          isThere: true,
        },
        { kind: 'volume.remove' as const, payload: (id: string) => ({ volume_id: id }), isThere: false },
      ];
      await crashThroughAll(host, phases, async ({ isThere }, outcomes) => {
        const names = [...outcomes.keys()].map((task) => `gpuaas-${idOf(task)}`);
        expect((await host.leftovers()).toSorted()).toEqual(isThere ? names.toSorted() : []);
      });
    },
    SECONDS_MAX * 1000,
  );

  test(
    'ends it as if nothing had happened: keys of people',
    async () => {
      const passwd = join(mkdtempSync(join(world.dataDir, 'etc-')), 'passwd');
      writeFileSync(passwd, 'root:x:0:0:root:/root:/bin/sh\n');
      const host = await world.openHost({ passwd });
      const keys = [`ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${'B'.repeat(43)}`];
      const folders = new Map<string, string>();
      const payload = (owner_id: string) => {
        const user = `user-${owner_id.slice(0, 8)}`;
        folders.set(owner_id, makeUser(passwd, user));
        return { user, owner_id, keys };
      };
      const phases = [{ kind: 'ssh_trust.reconcile' as const, payload }];
      await crashThroughAll(host, phases, async (_phase, outcomes) => {
        expect(outcomes.size).toBeGreaterThan(0);
        for (const [owner, folder] of folders) {
          const lines = readFileSync(join(folder, 'authorized_keys'), 'utf8').trimEnd().split('\n');
          expect(lines).toContain('ssh-ed25519 AAAA somebody else');
          expect(lines.filter((line) => line.includes(owner))).toHaveLength(1);
          expect(readdirSync(folder)).toEqual(['authorized_keys']);
        }
      });
    },
    SECONDS_MAX * 1000,
  );
});

type Asked = Pick<Phase, 'kind' | 'payload'>;

/** One subject goes through all phases first, to learn their steps; then for each step another one is there to crash. */
async function crashThroughAll<P extends Asked>(
  host: Host,
  phases: P[],
  check: (phase: P, outcomes: Map<TaskFrame, Succeeded>) => Promise<void>,
): Promise<void> {
  host.agent.start();
  const first = randomUUID();
  const steps: StepName[][] = [];
  for (const { kind, payload } of phases)
    steps.push(await learnSteps(host, host.taskOf(kind, first, payload(first))));
  const subjects = Array.from({ length: Math.max(...steps.map(({ length }) => length)) }, () => randomUUID());
  for (const [number, phase] of phases.entries()) {
    // The last one ends them all.
    const isLast = number === phases.length - 1;
    const meant = isLast ? subjects : subjects.slice(0, steps[number]?.length);
    const tasks = meant.map((id) => host.taskOf(phase.kind, id, phase.payload(id)));
    const crashes = tasks.map((task, index) => ({ task, at: steps[number]?.[index] }));
    const outcomes = await crashThrough(host, crashes);
    for (const [task, outcome] of outcomes) {
      expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: 'succeeded', fence: task.fence });
      // However often it was reported, it is the same that was reported.
      for (const again of host.outcomesOf(task)) expect(again).toEqual(outcome);
    }
    await check(phase, outcomes as Map<TaskFrame, Succeeded>);
  }
  await host.agent.end('SIGTERM');
}

async function expectContainers(
  host: Host,
  workloadIds: string[],
  components: string[],
  state: Phase['state'],
): Promise<void> {
  const found = (await host.containers())
    .filter(({ Labels }) => workloadIds.includes(Labels['gpuaas.workload'] ?? ''))
    .map(({ Labels, State }) => [Labels['gpuaas.workload'], Labels['gpuaas.component'], State].join(' '));
  const wanted =
    state === undefined
      ? []
      : workloadIds.flatMap((id) => components.map((name) => [id, name, state].join(' ')));
  expect(found.toSorted()).toEqual(wanted.toSorted());
}

/** Somebody whom others have let in already; answers where that is written. */
function makeUser(passwd: string, user: string): string {
  const home = mkdtempSync(join(world.dataDir, 'home-'));
  const folder = join(home, '.ssh');
  const authorized = join(folder, 'authorized_keys');
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(authorized, 'ssh-ed25519 AAAA somebody else\n', { mode: 0o600 });
  for (const path of [home, folder, authorized]) chownSync(path, UID, UID);
  appendFileSync(passwd, `${user}:x:${UID}:${UID}::${home}:/bin/sh\n`);
  return folder;
}

/** What a task of a workload or a volume is about. */
const idOf = ({ subject }: TaskFrame): string => subject.slice(subject.indexOf(':') + 1);
