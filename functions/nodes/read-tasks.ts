// What other domains may read of what hosts were asked.

import * as v from 'valibot';
import { readItems } from '../platform/data/rows.ts';
import type { TaskId } from '../platform/ids.ts';
import { taskKey } from './keys.ts';
import { KeptTask } from './task-row.ts';

const TOGETHER_MAX = 100;

/** By id, as they are now. Those that were forgotten after their time are not there. */
export async function readTasks(ids: TaskId[]): Promise<Map<TaskId, KeptTask>> {
  const found = new Map<TaskId, KeptTask>();
  for (let start = 0; start < ids.length; start += TOGETHER_MAX) {
    const rows = await readItems(ids.slice(start, start + TOGETHER_MAX).map(taskKey));
    for (const task of rows.flatMap((row) => (row ? [v.parse(KeptTask, row)] : []))) found.set(task.id, task);
  }
  return found;
}
