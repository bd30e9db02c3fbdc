// Where tasks and secrets are kept. Pure, because the CDK app reads it too: a function's role reaches these partitions and
// no others. Workloads, fences and the list of a node's tasks stand beside the node: functions/nodes/keys.ts.

import type { Key } from '../platform/data/table.ts';
import type { TaskId } from '../platform/ids.ts';

export const TASK_PARTITIONS = 'TASK#*';
/** Tasks that were not answered yet, in gsi1, by deadline. */
export const OPEN_TASKS = 'TASKS#OPEN';
/** Values a host may fetch once, by the hash of their handle. */
export const SECRET_PARTITIONS = 'SECRET#*';

export const taskKey = (id: TaskId): Key => ({ pk: `TASK#${id}`, sk: 'TASK' });
/** How the host answered it. */
export const outcomeKey = (id: TaskId): Key => ({ pk: `TASK#${id}`, sk: 'OUTCOME' });
export const secretKey = (handleHash: string): Key => ({ pk: `SECRET#${handleHash}`, sk: 'SECRET' });
