import { DrainRequested, NodeLost, NodeRecovered, NodeRemoved } from '../nodes/node-events.ts';
import { on, reactions } from '../platform/workflow/reactions.ts';
import { TaskEnded } from '../tasks/task-row.ts';
import { advanceRelease, removeWrittenOff } from './advance-release.ts';
import { AllocationReleaseRequested, AllocationWrittenOff } from './allocation.ts';
import { forgetVolumes } from './forget-volumes.ts';
import { followTask } from './follow-task.ts';
import { markHost, releaseDrained } from './follow-node.ts';

export const handler = reactions(
  on(AllocationReleaseRequested, (ctx, { data }) =>
    advanceRelease(ctx, data.allocation_id, { again: false }),
  ),
  on(AllocationWrittenOff, (ctx, { data }) => removeWrittenOff(ctx, data.allocation_id)),
  on(TaskEnded, (ctx, { data }) => followTask(ctx, data)),
  on(DrainRequested, (ctx, { data }) => releaseDrained(ctx, data.node_id)),
  on(NodeLost, (ctx, { data }) => markHost(ctx, data.node_id)),
  on(NodeRecovered, (ctx, { data }) => markHost(ctx, data.node_id)),
  on(NodeRemoved, (ctx, { data }) => forgetVolumes(ctx, data.node_id)),
);
