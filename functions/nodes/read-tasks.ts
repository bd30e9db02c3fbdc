// What other domains may read of what hosts were asked.

import * as v from 'valibot';
import { readItems } from '../platform/data/rows.ts';
import type { TaskId } from '../platform/ids.ts';
import { taskKey } from './keys.ts';
import { KeptTask } from './task-row.ts';

/** By id, as they are now. Those that were forgotten after their time are not there. */
export async function readTasks(ids: TaskId[]): Promise<Map<TaskId, KeptTask>> {
  const rows = await readItems(ids.map(taskKey));
  return new Map(ids.flatMap((id, index) => (rows[index] ? [[id, v.parse(KeptTask, rows[index])]] : [])));
}
