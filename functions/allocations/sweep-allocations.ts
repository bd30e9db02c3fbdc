import { readNodes } from '../nodes/read-nodes.ts';
import type { Context } from '../platform/context.ts';
import type { AllocationId, NodeId, VolumeId } from '../platform/ids.ts';
import { type Sweep, sweeping } from '../platform/workflow/sweep.ts';
import { advanceRelease } from './advance-release.ts';
import { listOpenRows } from './allocation-store.ts';
import { isTornDown, markHost, releaseDrained } from './follow-node.ts';
import { removeAgain, settleVolume } from './settle-volume.ts';
import { listChangingVolumes } from './volume-store.ts';

type Unfinished = { node_id: NodeId } | { volume_id: VolumeId } | { allocation_id: AllocationId };

const PAGE = 100;

/** Goes on with releases and volumes that wait for a host: an event was missed, or the host failed and may do it now. */
export const allocationsSweep: Sweep<Unfinished> = {
  noun: 'release or volume',
  find: () => findUnfinished(),
  mend,
  label: (item) => item,
  atOnce: 4,
  secondsMax: 80,
};

export const handler = sweeping(allocationsSweep);

async function* findUnfinished(): AsyncGenerator<Unfinished> {
  const nodes = await readNodes();
  for (const node of nodes) if (isTornDown(node) || node.status === 'lost') yield { node_id: node.id };
  for (const volume_id of await listChangingVolumes()) yield { volume_id };
  let cursor: string | undefined;
  do {
    const page = await listOpenRows({ status: 'releasing' }, { limit: PAGE, cursor });
    for (const { allocation_id } of page.items) yield { allocation_id };
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

async function mend(ctx: Context, item: Unfinished): Promise<void> {
  if ('allocation_id' in item) return advanceRelease(ctx, item.allocation_id, { again: true });
  if ('node_id' in item) {
    await markHost(ctx, item.node_id);
    return releaseDrained(ctx, item.node_id);
  }
  await settleVolume(ctx, item.volume_id);
  await removeAgain(ctx, item.volume_id);
}
