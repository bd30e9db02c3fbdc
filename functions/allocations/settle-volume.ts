import { forgetVolume } from '../nodes/capacity.ts';
import { findPlace, saveCapacity } from '../nodes/hold-capacity.ts';
import type { Actor } from '../platform/actor.ts';
import type { Context } from '../platform/context.ts';
import { commitDecision } from '../platform/data/change.ts';
import type { Write } from '../platform/data/commit.ts';
import type { VolumeId } from '../platform/ids.ts';
import { readAnswers } from '../tasks/read-tasks.ts';
import { planVolumeRemoval } from './plan-volume-removal.ts';
import {
  aboutVolume,
  settleVolume as settle,
  subjectOfVolume,
  type Volume,
  VolumeCreated,
  VolumeFailed,
  VolumeRemoved,
} from './volume.ts';
import { findAnyVolume, removeVolume, saveVolume } from './volume-store.ts';

const KEEPER: Actor = { kind: 'platform', id: 'volume-keeper' };

/** What the host has made of the volume, by its own answer. */
export async function settleVolume(ctx: Context, id: VolumeId): Promise<void> {
  await commitDecision(ctx, 'allocations.volume.settle', async () => {
    const before = await findAnyVolume(id);
    const answer = before && (await readAnswers([before.task_id])).get(before.task_id);
    if (!answer || answer.isOpen) return undefined;
    const settled = settle(before, { task_id: before.task_id, ...answer });
    if (settled === undefined) return undefined;
    const after = settled === 'gone' ? before : settled;
    return {
      ...about(before),
      ...(settled !== 'gone' && { after: aboutVolume(after) }),
      writes: settled === 'gone' ? await forget(before) : saveVolume(before, after),
      events: [tellSettled(settled, before)],
    };
  });
}

/** Asks again for the removal of one that the host did not remove. */
export async function removeAgain(ctx: Context, id: VolumeId): Promise<void> {
  await commitDecision(ctx, 'allocations.volume.remove_again', async () => {
    const before = await findAnyVolume(id);
    if (before?.status !== 'removing' || before.failure_code === undefined) return undefined;
    const { after, writes, events } = await planVolumeRemoval({ ...ctx, actor: KEEPER }, before);
    return { ...about(before), after: aboutVolume(after), writes, events };
  });
}

const tellSettled = (settled: Volume | 'gone', before: Volume) => {
  if (settled === 'gone') return VolumeRemoved(before);
  return settled.failure_code === undefined ? VolumeCreated(settled) : VolumeFailed(settled);
};

async function forget(volume: Volume): Promise<Write[]> {
  const place = await findPlace(volume.node_id);
  const after = place && forgetVolume(place.capacity, volume.id);
  return [...removeVolume(volume), ...(after ? [saveCapacity(place.capacity, after)] : [])];
}

const about = (before: Volume) => ({
  subject: subjectOfVolume(before),
  before: aboutVolume(before),
  actor: KEEPER,
  place: { org_id: before.org_id, project_id: before.project_id },
});
