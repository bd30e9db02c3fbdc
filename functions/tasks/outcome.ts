// How a task ends: what is believed of a host's answer, and what becomes of the workload it was about.

import * as v from 'valibot';
import type { WorkloadStatus } from './agent-api.ts';
import { type ENDS, type KeptTask } from './task-row.ts';
import { type Outcome, type Payload, type TaskFailure, type TaskKind, TaskReport } from './task.ts';
import { containersOf, nameImage, type Workload } from './workload.ts';

/** What ends a task: any report but that it is running. */
export const EndReport = v.variant('status', [TaskReport.options[1], TaskReport.options[2]]);

/** valid: the host proved that nothing is left. The others say why it did not. */
export type ReceiptVerdict = 'valid' | 'missing' | 'forged' | 'of_another_task' | 'leftovers';

export interface End {
  status: (typeof ENDS)[number];
  code?: TaskFailure;
  detail?: string;
}

const REMOVALS = new Set<TaskKind>(['oci.remove', 'compose.down']);
const LAUNCHES = new Set<TaskKind>(['oci.launch', 'compose.up']);

const isRemoval = (kind: TaskKind): boolean => REMOVALS.has(kind);
const isLaunch = (kind: TaskKind): boolean => LAUNCHES.has(kind);

const WITHOUT_PROOF: Record<Exclude<ReceiptVerdict, 'valid'>, string> = {
  missing: 'The host sent no receipt for what it removed.',
  forged: 'The receipt is not signed with the key of the node, or says something else than what was signed.',
  of_another_task: 'The receipt is about another task, workload or node.',
  leftovers: 'The receipt names what is still there.',
};

/** Gone means gone: a removal counts only with proof. */
export function judgeEnd(kind: TaskKind, outcome: Outcome, receipt: ReceiptVerdict): End {
  if (outcome.status !== 'succeeded') {
    const { status, code, detail } = outcome;
    return { status, code, detail };
  }
  if (!isRemoval(kind) || receipt === 'valid') return { status: 'succeeded' };
  return { status: 'failed', code: 'left_behind', detail: WITHOUT_PROOF[receipt] };
}

/** What the sweep ends a task with: whether anything was done is not known. */
export const NO_ANSWER: End & { status: 'failed' } = {
  status: 'failed',
  code: 'deadline_passed',
  detail: 'The host did not answer in time.',
};

/**
 * The workload after a task about it has ended. `gone`: nothing is left of it, or nothing was ever begun. An answer to an
 * earlier task than the last one says nothing about what is to be there now, but a receipt always counts: after a
 * removal was asked for, nothing is launched any more.
 */
export function workloadAfter(
  before: Workload | undefined,
  task: KeptTask,
  end: End,
  outcome: Outcome,
  now: Date,
): Workload | 'gone' | 'unchanged' {
  if (!before) return 'unchanged';
  if (isRemoval(task.kind)) return end.status === 'succeeded' ? 'gone' : 'unchanged';
  if (task.fence !== before.fence) return 'unchanged';
  if (isLaunch(task.kind)) return afterLaunch(before, task, end, outcome, now);
  const state =
    task.kind === 'oci.control' ? stateAfterControl(task.payload as Payload<'oci.control'>) : undefined;
  if (state === undefined || end.status !== 'succeeded') return 'unchanged';
  return withStatus(before, outcome, state, now);
}

function afterLaunch(
  before: Workload,
  { fence, payload }: KeptTask,
  end: End,
  outcome: Outcome,
  now: Date,
): Workload | 'gone' | 'unchanged' {
  if (end.status === 'refused') return before.first_fence === fence ? 'gone' : 'unchanged';
  if (end.status === 'failed') return withStatus(before, outcome, 'failed', now, end.detail);
  const launched = new Set(containersOf(payload as Payload<'oci.launch' | 'compose.up'>).map(nameImage));
  const images = before.images.filter((image) => launched.has(nameImage(image)));
  return { ...withStatus(before, outcome, 'ready', now), images };
}

const stateAfterControl = ({ action }: Payload<'oci.control'>): WorkloadStatus['state'] =>
  action === 'stop' ? 'stopped' : 'ready';

function withStatus(
  before: Workload,
  { fence, at, result }: Outcome,
  state: WorkloadStatus['state'],
  now: Date,
  detail?: string,
): Workload {
  // The host may have said more since, by itself.
  const last = before.status;
  if (last && (last.fence > fence || (last.fence === fence && last.at > at))) return before;
  const containers = result?.containers ?? [];
  const status = { fence, at, state, containers, ...(detail !== undefined && { detail }) };
  return { ...before, status, updated_at: now.toISOString() };
}
