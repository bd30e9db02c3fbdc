import * as v from 'valibot';
import { TASK_ROWS, taskOfNodeKey } from '../nodes/keys.ts';
import { putNew, update, type Write } from '../platform/data/commit.ts';
import { type PageAsked, queryAll, readItems, readRows } from '../platform/data/rows.ts';
import { readItem, updateItem } from '../platform/data/table.ts';
import { lowerCased, type NodeId, type TaskId, textOf } from '../platform/ids.ts';
import type { PageOf } from '../platform/page.ts';
import { OPEN_TASKS, outcomeKey, taskKey } from './keys.ts';
import type { End } from './outcome.ts';
import { KeptOutcome, KeptTask } from './task-row.ts';
import { refuse } from './problems.ts';

export interface AnsweredTask {
  task: KeptTask;
  outcome?: KeptOutcome;
}

/** A task of whatever node, and the host's answer, by one request. */
export async function findAnyTask(id: TaskId): Promise<AnsweredTask | undefined> {
  const [answered] = await findTasks([lowerCased(id)]);
  return answered;
}

/** Another node's is as unknown as one that never was. */
export async function findTask(nodeId: NodeId, id: TaskId): Promise<AnsweredTask> {
  const answered = await findAnyTask(id);
  if (answered?.task.node_id !== lowerCased(nodeId)) throw refuse('task.unknown');
  return answered;
}

/** Two rows each, and a request takes a hundred. */
const TOGETHER_MAX = 50;

async function findTasks(ids: TaskId[]): Promise<AnsweredTask[]> {
  const rows = await readItems(ids.flatMap((id) => [taskKey(id), outcomeKey(id)]));
  return ids.flatMap((_, index) => {
    const [task, outcome] = rows.slice(2 * index, 2 * index + 2);
    if (!task) return [];
    return { task: v.parse(KeptTask, task), ...(outcome && { outcome: v.parse(KeptOutcome, outcome) }) };
  });
}

const Listed = v.object({ task_id: textOf<TaskId>() });

/** Oldest first. */
export async function listTasksOf(nodeId: NodeId, page: PageAsked): Promise<PageOf<AnsweredTask>> {
  const { pk } = taskOfNodeKey(lowerCased(nodeId), '');
  const limit = Math.min(page.limit, TOGETHER_MAX);
  const { items, next_cursor } = await readRows(pk, TASK_ROWS, { ...page, limit });
  return { items: await findTasks(items.map((item) => v.parse(Listed, item).task_id)), next_cursor };
}

const OPEN_MAX = 2_000;

/** Those that nobody has answered, the first to be due first; from an index, so some may have ended since. */
export async function listOpenTasks(): Promise<KeptTask[]> {
  const { items } = await queryAll({
    index: 'gsi1',
    condition: 'gsi1pk = :open',
    values: { ':open': OPEN_TASKS },
    max: OPEN_MAX,
  });
  return items.map((item) => v.parse(KeptTask, item));
}

export function insertTask(task: KeptTask): Write[] {
  const { id, node_id, deadline_at, expires_at } = task;
  return [
    putNew({ ...taskKey(id), ...task, gsi1pk: OPEN_TASKS, gsi1sk: `${deadline_at}#${id}` }),
    putNew({ ...taskOfNodeKey(node_id, id), task_id: id, expires_at }),
  ];
}

const IS_OPEN = {
  condition: '#status IN (:requested, :running)',
  names: { '#status': 'status' },
  values: { ':requested': 'requested', ':running': 'running' },
};

/** Ends a task that nobody has ended; whoever comes second decides again. */
export function saveEnd({ id }: KeptTask, { status, code, detail }: End, now: Date): Write {
  const said = { ...(code !== undefined && { code }), ...(detail !== undefined && { detail }) };
  const names = Object.keys(said);
  return update(taskKey(id), {
    update: `SET #status = :status, ended_at = :at${names.map((name) => `, #${name} = :${name}`).join('')} REMOVE gsi1pk, gsi1sk`,
    condition: IS_OPEN.condition,
    names: { ...IS_OPEN.names, ...Object.fromEntries(names.map((name) => [`#${name}`, name])) },
    values: {
      ...IS_OPEN.values,
      ':status': status,
      ':at': now.toISOString(),
      ...Object.fromEntries(Object.entries(said).map(([name, value]) => [`:${name}`, value])),
    },
  });
}

/** The host's answer, once: of two at one moment the second is decided again and finds the first. */
export const insertOutcome = (outcome: KeptOutcome): Write =>
  putNew({ ...outcomeKey(outcome.task_id), ...outcome });

/** By one write. Whether it was: the task is another's, is numbered otherwise, or has ended. */
export function noteProgress(
  { node_id, task_id }: { node_id: NodeId; task_id: TaskId },
  { fence, step, at }: { fence: number; step: string; at: string },
): Promise<boolean> {
  return updateItem(taskKey(lowerCased(task_id)), {
    update: 'SET #status = :running, #step = :step, step_at = :at',
    condition: `node_id = :node AND fence = :fence AND ${IS_OPEN.condition}`,
    names: { ...IS_OPEN.names, '#step': 'step' },
    values: { ...IS_OPEN.values, ':node': lowerCased(node_id), ':fence': fence, ':step': step, ':at': at },
  });
}

/** The first time counts: whoever sends it again notes nothing. */
export async function noteSent({ id }: KeptTask, now: Date): Promise<void> {
  await updateItem(taskKey(id), {
    update: 'SET sent_at = :at',
    condition: 'attribute_exists(pk) AND attribute_not_exists(sent_at)',
    values: { ':at': now.toISOString() },
  });
}

export async function readTask(id: TaskId): Promise<KeptTask | undefined> {
  const item = await readItem(taskKey(id));
  return item && v.parse(KeptTask, item);
}
