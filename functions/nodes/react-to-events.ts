import { on, reactions } from '../platform/workflow/reactions.ts';
import { closeQueue } from './close-queue.ts';
import { NodeRemoved } from './node-events.ts';
import { sendRequested } from './send-task.ts';
import { TaskRequested } from './task-row.ts';

export const handler = reactions(on(NodeRemoved, closeQueue), on(TaskRequested, sendRequested));
