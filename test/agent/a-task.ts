import { randomUUID } from 'node:crypto';
import type { Performers } from '../../agent/tasks/performer.ts';
import type { Payload, TaskFrame, TaskKind } from '../../functions/tasks/task.ts';
import { TASK_KINDS } from '../../functions/tasks/task.ts';

export const NODE = '0190a000-0000-7000-8000-000000000001';

/** A task as the platform sends it: status of a workload, unless said otherwise. */
export function aTask(more: Partial<TaskFrame> = {}): TaskFrame {
  const { subject = `workload:${randomUUID()}` } = more;
  return {
    id: randomUUID(),
    node_id: NODE,
    schema_version: 1,
    kind: 'oci.status',
    subject,
    fence: 1,
    deadline_at: new Date(Date.now() + 60_000).toISOString(),
    trust_revision: 0,
    correlation_id: 'a-test',
    payload: { workload_id: subject.replace('workload:', '') } satisfies Payload<'oci.status'>,
    ...more,
  };
}

/** Performers of which only these are expected to be asked. */
export const performersOf = (some: Partial<Performers>): Performers => ({
  ...(Object.fromEntries(
    TASK_KINDS.map((kind: TaskKind) => [kind, () => Promise.reject(new Error(`${kind} was not expected.`))]),
  ) as unknown as Performers),
  ...some,
});

export const silent = (): void => {};
