import { on, reactions } from '../platform/workflow/reactions.ts';
import { closeQueue } from './close-queue.ts';
import { NodeRemoved } from './node-events.ts';

export const handler = reactions(on(NodeRemoved, closeQueue));
