import { on, reactions } from '../platform/workflow/reactions.ts';
import { sendRequested } from './send-task.ts';
import { TaskRequested } from './task-row.ts';

export const handler = reactions(on(TaskRequested, sendRequested));
