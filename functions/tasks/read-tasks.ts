// What other domains may read of what hosts were asked.

import * as v from 'valibot';
import { readItems } from '../platform/data/rows.ts';
import type { TaskId } from '../platform/ids.ts';
import { outcomeKey, taskKey } from './keys.ts';
import { isOpen, KeptOutcome, KeptTask } from './task-row.ts';
import type { TaskFailure } from './task.ts';

export interface TaskAnswer {
  /** Somebody still waits for the host. */
  isOpen: boolean;
  isDone: boolean;
  code?: TaskFailure;
}

/** Two rows each, and a request takes a hundred. */
const TOGETHER_MAX = 50;

/**
 * How hosts answered, by task. A host may answer after nobody waited any longer: then its word counts, not that it was
 * late. Tasks that were forgotten after their time are not there.
 */
export async function readAnswers(ids: TaskId[]): Promise<Map<TaskId, TaskAnswer>> {
  const found = new Map<TaskId, TaskAnswer>();
  for (let start = 0; start < ids.length; start += TOGETHER_MAX) {
    const some = ids.slice(start, start + TOGETHER_MAX);
    const rows = await readItems(some.flatMap((id) => [taskKey(id), outcomeKey(id)]));
    for (const [index, id] of some.entries()) {
      const task = v.parse(v.optional(KeptTask), rows[2 * index]);
      const outcome = v.parse(v.optional(KeptOutcome), rows[2 * index + 1]);
      if (task) found.set(id, answerOf(task, outcome));
    }
  }
  return found;
}

function answerOf(task: KeptTask, outcome: KeptOutcome | undefined): TaskAnswer {
  const { status, code } = isOpen(task) || !outcome ? task : outcome;
  return { isOpen: isOpen(task), isDone: status === 'succeeded', ...(code !== undefined && { code }) };
}
