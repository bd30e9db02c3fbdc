// A task as the platform keeps it: what was asked of which host, whether it was sent, and how it ended.

import * as v from 'valibot';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import { AllocationId, type CorrelationId, NodeId, TaskId, textOf, WorkloadId } from '../platform/ids.ts';
import { Time } from '../platform/name.ts';
import { PageQuery } from '../platform/page.ts';
import { refuse } from './problems.ts';
import { nameSubject, subjectOfTask } from './task-rules.ts';
import {
  type Outcome,
  type Payload,
  TASK_BYTES_MAX,
  TASK_FAILURES,
  TASK_KINDS,
  TASK_SCHEMA_VERSION,
  type TaskFrame,
  type TaskKind,
  TaskResult,
} from './task.ts';

/** requested: nobody has answered yet. running: the host has begun. The rest are ends. */
export const TASK_STATUSES = ['requested', 'running', 'succeeded', 'failed', 'refused'] as const;
export const ENDS = ['succeeded', 'failed', 'refused'] as const;

const DEADLINE_SECONDS = { least: 10, most: 24 * 3600, default: 600 };
/** Who asks later what a host has done still finds it. */
const KEPT_SECONDS = 90 * 24 * 3600;
/** A host may answer in the last moment, and the answer takes a while. */
const LATE_SECONDS = 60;
/** An event reaches its reaction within seconds; after this, nobody may have sent the task. */
const UNSENT_SECONDS = 60;

export const DeadlineSeconds = v.optional(
  v.pipe(v.number(), v.integer(), v.minValue(DEADLINE_SECONDS.least), v.maxValue(DEADLINE_SECONDS.most)),
  DEADLINE_SECONDS.default,
);

const KEPT = {
  id: textOf<TaskId>(),
  node_id: textOf<NodeId>(),
  schema_version: v.number(),
  kind: v.picklist(TASK_KINDS),
  subject: v.string(),
  fence: v.number(),
  deadline_at: v.string(),
  correlation_id: textOf<CorrelationId>(),
  payload: v.record(v.string(), v.unknown()),
  workload_id: v.optional(textOf<WorkloadId>()),
  allocation_id: v.optional(textOf<AllocationId>()),
  status: v.picklist(TASK_STATUSES),
  sent_at: v.optional(v.string()),
  /** What the host does now, in its own words. */
  step: v.optional(v.string()),
  step_at: v.optional(v.string()),
  code: v.optional(v.picklist(TASK_FAILURES)),
  detail: v.optional(v.string()),
  ended_at: v.optional(v.string()),
  requested_by: v.string(),
  created_at: v.string(),
};

export const KeptTask = v.object({
  ...KEPT,
  traceparent: v.optional(v.string()),
  /** Seconds since 1970: the table forgets it then by itself. */
  expires_at: v.number(),
});
export type KeptTask = v.InferOutput<typeof KeptTask>;

/** The host's own answer, as it gave it. It is kept apart, because it may be as large as the task, and only once. */
export const KeptOutcome = v.object({
  task_id: textOf<TaskId>(),
  status: v.picklist(ENDS),
  code: v.optional(v.picklist(TASK_FAILURES)),
  detail: v.optional(v.string()),
  result: v.optional(TaskResult),
  /** When it happened, and when we heard of it. */
  at: v.string(),
  reported_at: v.string(),
  expires_at: v.number(),
});
export type KeptOutcome = v.InferOutput<typeof KeptOutcome>;

export const TaskParams = v.object({ node_id: NodeId, task_id: TaskId });
export const TaskListQuery = v.strictObject(PageQuery);

export const TaskView = v.object({
  ...KEPT,
  /** What the host brought back. */
  result: v.optional(TaskResult),
  reported_at: v.optional(Time),
});
export type TaskView = v.InferOutput<typeof TaskView>;
export const TaskPage = v.object({ items: v.array(TaskView), next_cursor: v.nullable(v.string()) });

export interface AskedTask<K extends TaskKind = TaskKind> {
  node_id: NodeId;
  kind: K;
  payload: Payload<K>;
  deadline_seconds: number;
}

/** Who asks, and under which id everything that follows is found. */
export interface Asking {
  id: TaskId;
  by: string;
  correlation_id: CorrelationId;
  traceparent?: string;
}

export function planKept(
  { node_id, kind, payload, deadline_seconds }: AskedTask,
  { id, by, correlation_id, traceparent }: Asking,
  { fence, ...about }: { fence: number; workload_id?: WorkloadId; allocation_id?: AllocationId },
  now: Date,
): KeptTask {
  const task: KeptTask = {
    id,
    node_id,
    schema_version: TASK_SCHEMA_VERSION,
    kind,
    subject: nameSubject(subjectOfTask(kind, payload)),
    fence,
    deadline_at: secondsAfter(now, deadline_seconds).toISOString(),
    correlation_id,
    ...(traceparent !== undefined && { traceparent }),
    payload,
    ...about,
    status: 'requested',
    requested_by: by,
    created_at: now.toISOString(),
    expires_at: epochSeconds(secondsAfter(now, KEPT_SECONDS)),
  };
  if (JSON.stringify(frameOf(task, Number.MAX_SAFE_INTEGER)).length > TASK_BYTES_MAX)
    throw refuse('task.too_large');
  return task;
}

export const planOutcome = ({ id, expires_at }: KeptTask, outcome: Outcome, now: Date): KeptOutcome => ({
  task_id: id,
  status: outcome.status,
  ...(outcome.status !== 'succeeded' && { code: outcome.code, detail: outcome.detail }),
  ...(outcome.result && { result: outcome.result }),
  at: outcome.at,
  reported_at: now.toISOString(),
  expires_at,
});

/** What the host gets: nothing of what the platform alone keeps. */
export function frameOf(task: KeptTask, trustRevision: number): TaskFrame {
  const { id, node_id, schema_version, kind, subject, fence, deadline_at } = task;
  const { correlation_id, traceparent, payload } = task;
  return {
    id,
    node_id,
    schema_version,
    kind,
    subject,
    fence,
    deadline_at,
    trust_revision: trustRevision,
    correlation_id,
    ...(traceparent !== undefined && { traceparent }),
    payload,
  };
}

export const isOpen = ({ status }: Pick<KeptTask, 'status'>): boolean =>
  status === 'requested' || status === 'running';

/** After its deadline a host does not begin it any more. */
export const isWorthSending = (task: KeptTask, now: Date): boolean =>
  isOpen(task) && task.deadline_at > now.toISOString();

export type Overdue = 'unanswered' | 'unsent';

/** What a sweep has to do about a task: nobody answered it in time, or nobody sent it. */
export function findOverdue(task: KeptTask, now: Date): Overdue | undefined {
  if (!isOpen(task)) return undefined;
  if (secondsAfter(new Date(task.deadline_at), LATE_SECONDS) <= now) return 'unanswered';
  const isLate = secondsAfter(new Date(task.created_at), UNSENT_SECONDS) <= now;
  return task.sent_at === undefined && isLate && isWorthSending(task, now) ? 'unsent' : undefined;
}

/** A handle is for the host alone: who may see the task may not see by what its secrets are fetched. */
export function viewTask(
  { expires_at: _expires, traceparent: _trace, payload, ...task }: KeptTask,
  outcome?: KeptOutcome,
): TaskView {
  return {
    ...task,
    payload: withoutHandles(payload) as TaskView['payload'],
    ...(outcome && { reported_at: outcome.reported_at, ...(outcome.result && { result: outcome.result }) }),
  };
}

function withoutHandles(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutHandles);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([name]) => name !== 'handle');
  return Object.fromEntries(members.map(([name, inner]) => [name, withoutHandles(inner)]));
}

export const subjectOfKept = ({ id }: Pick<KeptTask, 'id'>): string => `task:${id}`;

export const pathOfTask = ({ node_id, id }: Pick<KeptTask, 'node_id' | 'id'>): string =>
  `/api/v1/admin/nodes/${node_id}/tasks/${id}`;

const Told = v.object({
  task_id: TaskId,
  node_id: NodeId,
  kind: v.picklist(TASK_KINDS),
  subject: v.string(),
  fence: v.number(),
  workload_id: v.optional(WorkloadId),
  allocation_id: v.optional(AllocationId),
});

const tell = ({ id, ...task }: KeptTask) => ({ task_id: id, ...task });

export const TaskRequested = event(
  'platform.node.task_requested',
  1,
  v.object({ ...Told.entries, deadline_at: Time }),
  tell,
);

/** `late`: after the platform had given up waiting, so that the task has ended before, as failed. */
export const TaskEnded = event(
  'platform.node.task_ended',
  1,
  v.object({
    ...Told.entries,
    status: v.picklist(ENDS),
    code: v.optional(v.picklist(TASK_FAILURES)),
    late: v.boolean(),
  }),
  (task: KeptTask, end: { status: (typeof ENDS)[number]; code?: KeptTask['code'] }, late: boolean) => ({
    ...tell(task),
    status: end.status,
    code: end.code,
    late,
  }),
);
