import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { readWorkloads } from '../tasks/read-workloads.ts';
import { planVolumeRemoval } from './plan-volume-removal.ts';
import { refuse } from './problems.ts';
import { aboutVolume, subjectOfVolume, Volume, VolumeParams } from './volume.ts';
import { findVolume } from './volume-store.ts';

export const deleteVolume = command(
  {
    summary: 'Delete a volume with what is on it; refused while something uses it',
    action: 'allocations.volume.delete',
    params: VolumeParams,
    reply: Volume,
    status: 202,
    // A second one changes nothing.
    idempotency: 'optional',
    refusals: ['volume.unknown', 'volume.in_use', 'volume.not_ready', 'node.unknown'],
  },
  async (ctx, { params }) => {
    const before = await findVolume(projectOf(ctx).id, params.volume_id);
    await requireUnused(before);
    const { after, writes, events } = await planVolumeRemoval(ctx, before);
    return {
      subject: subjectOfVolume(before),
      before: aboutVolume(before),
      after: aboutVolume(after),
      writes,
      events,
      reply: { ...after },
    };
  },
);

/** What is launched at the same moment the host finds: it removes nothing that is in use. */
async function requireUnused({ id, node_id }: Volume): Promise<void> {
  const workloads = await readWorkloads(node_id);
  if (workloads.some(({ volume_ids }) => volume_ids?.includes(id))) throw refuse('volume.in_use');
}
