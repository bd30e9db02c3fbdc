// How every domain asks something of a host. What comes back is committed with whatever else the caller decides.

import * as v from 'valibot';
import { fenceKey, nodeKey, workloadKey } from '../nodes/keys.ts';
import { Node, requireEnrolled } from '../nodes/node.ts';
import { nameActor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import type { Write } from '../platform/data/commit.ts';
import { readItems } from '../platform/data/rows.ts';
import type { DomainEvent } from '../platform/events.ts';
import type { NodeId } from '../platform/ids.ts';
import { type AskedTask, type KeptTask, planKept, TaskRequested } from './task-row.ts';
import { nameSubject, subjectOfTask } from './task-rules.ts';
import { insertTask } from './task-store.ts';
import type { Payload, TaskKind } from './task.ts';
import { type AssignedImage, type Engine, planLaunch, planNext, type Workload } from './workload.ts';
import { fenceIn, parseWorkload, saveFence, saveWorkload } from './workload-store.ts';

export interface PlannedTask {
  task: KeptTask;
  /** Three rows; none of them may be written otherwise in the same change. */
  writes: Write[];
  events: DomainEvent[];
}

/** `images`: of a launch, as findImages tells them; a launch names no other. */
export async function planTask<K extends TaskKind>(
  ctx: Pick<Context, 'actor' | 'correlationId' | 'traceparent' | 'newId' | 'now'>,
  asked: AskedTask<K>,
  images: AssignedImage[] = [],
): Promise<PlannedTask> {
  const now = ctx.now();
  const { node_id } = asked;
  const subject = subjectOfTask(asked.kind, asked.payload);
  const counter =
    subject.kind === 'workload' ? workloadKey(node_id, subject.id) : fenceKey(node_id, subject.name);
  const [node, row] = await readItems([nodeKey(node_id), counter]);
  requireEnrolled(v.parse(v.optional(Node), node));
  const asking = {
    id: ctx.newId(),
    by: nameActor(ctx.actor),
    correlation_id: ctx.correlationId,
    traceparent: ctx.traceparent,
  };
  if (subject.kind === 'other') {
    const fence = fenceIn(row) + 1;
    const task = planKept(asked, asking, { fence }, now);
    return toCommit(task, saveFence(node_id, nameSubject(subject), fence));
  }
  const before = parseWorkload(row);
  const after = nextOf(before, asked, images, now);
  const { fence, workload_id, allocation_id } = after;
  const task = planKept(asked, asking, { fence, workload_id, allocation_id }, now);
  return toCommit(task, saveWorkload(before, after));
}

/** The task that takes a workload away, by whatever it was launched with. */
export const planRemoval = (
  ctx: Parameters<typeof planTask>[0],
  { node_id, workload_id, engine }: Workload,
  { deadline_seconds, stop_grace_seconds }: { deadline_seconds: number; stop_grace_seconds: number },
): Promise<PlannedTask> =>
  planTask(ctx, {
    node_id,
    kind: engine === 'oci' ? 'oci.remove' : 'compose.down',
    payload: { workload_id, stop_grace_seconds },
    deadline_seconds,
  });

function toCommit(task: KeptTask, fenced: Write): PlannedTask {
  // Hosts are the platform's, whichever project the request is about.
  return { task, writes: [...insertTask(task), fenced], events: [{ ...TaskRequested(task), place: {} }] };
}

const OTHERS: Partial<Record<TaskKind, [kind: 'remove' | 'control' | 'look', engine: Engine | 'any']>> = {
  'oci.status': ['look', 'oci'],
  'oci.control': ['control', 'any'],
  'oci.remove': ['remove', 'oci'],
  'compose.status': ['look', 'compose'],
  'compose.down': ['remove', 'compose'],
  'logs.read': ['look', 'any'],
};

function nextOf(
  before: Workload | undefined,
  { kind, node_id, payload }: { kind: TaskKind; node_id: NodeId; payload: Payload },
  images: AssignedImage[],
  now: Date,
): Workload {
  const other = OTHERS[kind];
  if (other) return planNext(before, ...other, now);
  return planLaunch(
    before,
    node_id,
    { payload: payload as Payload<'oci.launch' | 'compose.up'>, images },
    now,
  );
}
