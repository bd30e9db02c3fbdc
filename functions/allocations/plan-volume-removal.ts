import type { Context } from '../platform/context.ts';
import type { Write } from '../platform/data/commit.ts';
import type { DomainEvent } from '../platform/events.ts';
import { planTask } from '../tasks/plan-task.ts';
import { askRemoval, type Volume } from './volume.ts';
import { saveVolume } from './volume-store.ts';

const DEADLINE_SECONDS = 600;

export interface PlannedRemoval {
  after: Volume;
  writes: Write[];
  events: DomainEvent[];
}

/** Asks the host to remove it, unless that is asked already. */
export async function planVolumeRemoval(ctx: Context, before: Volume): Promise<PlannedRemoval> {
  if (askRemoval(before, before.task_id) === undefined) return { after: before, writes: [], events: [] };
  const { task, writes, events } = await planTask(ctx, {
    node_id: before.node_id,
    kind: 'volume.remove',
    payload: { volume_id: before.id },
    deadline_seconds: DEADLINE_SECONDS,
  });
  const after = askRemoval(before, task.id) ?? before;
  return { after, writes: [...saveVolume(before, after), ...writes], events };
}
