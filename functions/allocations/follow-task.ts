import type { Context } from '../platform/context.ts';
import type { EventOf } from '../platform/events.ts';
import type { TaskEnded } from '../tasks/task-row.ts';
import { advanceRelease } from './advance-release.ts';
import { settleVolume } from './settle-volume.ts';

const VOLUME = 'volume:';

/** A host has done something, or nobody waits for it any longer: a release may go on, a volume be there or gone. */
export async function followTask(
  ctx: Context,
  { kind, subject, allocation_id }: EventOf<typeof TaskEnded>['data'],
): Promise<void> {
  if (kind === 'volume.create' || kind === 'volume.remove')
    return settleVolume(ctx, subject.slice(VOLUME.length));
  if (allocation_id !== undefined) await advanceRelease(ctx, allocation_id, { again: false });
}
