// What hosts do about what they are asked, as the platform sees it: rows and events, without an agent.

import type { Allocation } from '../../functions/allocations/allocation.ts';
import { nodeKey } from '../../functions/nodes/keys.ts';
import type { Node } from '../../functions/nodes/node.ts';
import { createContext } from '../../functions/platform/context.ts';
import { commitDecision } from '../../functions/platform/data/change.ts';
import { commit, type Write } from '../../functions/platform/data/commit.ts';
import type { DomainEvent, PlatformEvent } from '../../functions/platform/events.ts';
import { newId } from '../../functions/platform/ids.ts';
import * as v from 'valibot';
import { planOutcome, TaskEnded } from '../../functions/tasks/task-row.ts';
import { insertOutcome, readTask, saveEnd } from '../../functions/tasks/task-store.ts';
import { payloadSchema, type Outcome, type TaskFailure } from '../../functions/tasks/task.ts';
import { findWorkload, removeWorkload, saveWorkload } from '../../functions/tasks/workload-store.ts';
import { planLaunch, type Workload } from '../../functions/tasks/workload.ts';
import type { World } from '../api/world.ts';
import { react } from '../react.ts';

type Handler = Parameters<typeof react>[0] & { types: string[] };

const DIGEST = `sha256:${'0'.repeat(64)}`;
const IMAGE = { repository: 'gpuaas/apps/p/app', digest: DIGEST };

export function openHosts(world: World, handler: Handler) {
  const delivered = new Set<string>();

  const events = async (): Promise<PlatformEvent[]> =>
    (await world.items('OUTBOX#'))
      .map(({ event }) => event as PlatformEvent)
      .toSorted((one, other) => (one.event_id < other.event_id ? -1 : 1));

  const say = (writes: Write[], told: DomainEvent[]): Promise<void> =>
    commitDecision(createContext(newId()), 'nodes.test', async () => ({
      subject: 'node:test',
      actor: { kind: 'platform', id: 'test' },
      writes,
      events: told.map((event) => ({ ...event, place: {} })),
    }));

  async function end(id: string | undefined, outcome: Pick<Outcome, 'status'> & { code?: TaskFailure }) {
    const task = id === undefined ? undefined : await readTask(id);
    if (!task) throw new Error('The task is not there.');
    const now = new Date();
    const workload = task.workload_id && (await findWorkload(task.node_id, task.workload_id));
    const isGone = outcome.status === 'succeeded' && workload;
    const told = { fence: task.fence, at: now.toISOString(), detail: '', result: {}, ...outcome } as Outcome;
    await say(
      [
        insertOutcome(planOutcome(task, told, now)),
        saveEnd(task, outcome, now),
        ...(isGone ? [removeWorkload(workload)] : []),
      ],
      [TaskEnded(task, outcome, false)],
    );
  }

  return {
    /** Something that runs on the allocation, with these volumes of the project. */
    async launched(allocation: Allocation, volumes: string[] = []): Promise<Workload> {
      const payload = v.parse(payloadSchema('oci.launch'), {
        workload_id: newId(),
        allocation_id: allocation.id,
        org_id: allocation.org_id,
        project_id: allocation.project_id,
        container: { name: 'app', ...IMAGE },
        volumes: volumes.map((id) => ({ id, kind: 'persistent' })),
      });
      const images = [{ ...IMAGE, publisher_project_id: allocation.project_id }];
      const workload = planLaunch(undefined, allocation.node_id, { payload, images }, new Date());
      await commit([saveWorkload(undefined, workload)]);
      return workload;
    },
    /** The host has done what it was asked, and proved it. */
    removed: (taskId: string | undefined) => end(taskId, { status: 'succeeded' }),
    failed: (taskId: string | undefined, code: TaskFailure) => end(taskId, { status: 'failed', code }),
    /** The node as nodes would have changed it. */
    async change(node: Node, change: Partial<Node>): Promise<Node> {
      const after = { ...node, ...change, version: node.version + 1 };
      for (const [name, value] of Object.entries({ ...change, version: after.version }))
        await world.set(nodeKey(node.id), name, value);
      return after;
    },
    tell: (event: DomainEvent) => say([], [event]),
    /** Tells the domain everything it reacts to and was not told, each twice, and what that leads to. */
    async deliver(): Promise<void> {
      for (;;) {
        const news = (await events()).filter(
          ({ event_id, type }) => handler.types.includes(type) && !delivered.has(event_id),
        );
        if (news.length === 0) return;
        for (const event of news) {
          delivered.add(event.event_id);
          await react(handler, event, event);
        }
      }
    },
    /** What the project heard of an allocation since it is there, in order. */
    async saidOf(allocationId: string): Promise<string[]> {
      return (await events())
        .filter(({ type, data }) => type.startsWith('allocation.') && data['allocation_id'] === allocationId)
        .map(({ type }) => type);
    },
    async platformSaid(type: string, nodeId: string): Promise<PlatformEvent[]> {
      const said = await events();
      return said.filter(
        (event) => event.type === type && event.data['node_id'] === nodeId && event.project_id === undefined,
      );
    },
  };
}

export type Hosts = ReturnType<typeof openHosts>;
