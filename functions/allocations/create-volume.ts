import * as v from 'valibot';
import { freeDiskFor, keepVolume, VOLUMES_MAX } from '../nodes/capacity.ts';
import { findPlace, type Place, saveCapacity } from '../nodes/hold-capacity.ts';
import { nameActor } from '../platform/actor.ts';
import { projectOf } from '../platform/context.ts';
import { command } from '../platform/http/endpoint.ts';
import { ProjectId, type VolumeId } from '../platform/ids.ts';
import { planTask } from '../tasks/plan-task.ts';
import { type Allocation, requireActive } from './allocation.ts';
import { findAllocation, requireStillActive } from './allocation-store.ts';
import { refuse } from './problems.ts';
import { aboutVolume, CreateVolume, pathOfVolume, planVolume, subjectOfVolume, Volume } from './volume.ts';
import { insertVolume } from './volume-store.ts';

const DEADLINE_SECONDS = 600;

export const createVolume = command(
  {
    summary: 'Create a volume on the host of an allocation; it stays with the project',
    action: 'allocations.volume.create',
    params: v.object({ project_id: ProjectId }),
    body: CreateVolume,
    reply: Volume,
    status: 202,
    refusals: ['allocation.unknown', 'allocation.not_active', 'volume.no_space'],
  },
  async (ctx, { body }) => {
    const project = projectOf(ctx);
    const allocation = await findAllocation(project.id, body.allocation_id);
    requireActive(allocation);
    const place = await findPlace(allocation.node_id);
    requireSpace(place, allocation, body.size_gib);
    const id = ctx.newId<VolumeId>();
    const { task, writes, events } = await planTask(ctx, {
      node_id: allocation.node_id,
      kind: 'volume.create',
      payload: { project_id: project.id, volume: { id, kind: 'persistent', size_gib: body.size_gib } },
      deadline_seconds: DEADLINE_SECONDS,
    });
    const volume = planVolume({ id, task_id: task.id }, body, allocation, nameActor(ctx.actor), ctx.now());
    const kept = keepVolume(place.capacity, {
      volume_id: id,
      project_id: project.id,
      disk_gib: body.size_gib,
    });
    return {
      subject: subjectOfVolume(volume),
      after: aboutVolume(volume),
      writes: [
        ...insertVolume(volume),
        requireStillActive(allocation),
        saveCapacity(place.capacity, kept),
        ...writes,
      ],
      events,
      reply: { ...volume },
      location: pathOfVolume(volume),
    };
  },
);

/** No more than the host has, whoever asks: data that is promised room must find it. */
function requireSpace(
  place: Place | undefined,
  { capacity_shape }: Allocation,
  sizeGib: number,
): asserts place is Place {
  const inventory = place?.node.inventory;
  const free = place && inventory ? freeDiskFor(inventory, place.capacity, { kind: capacity_shape }) : 0;
  if (!place || free < sizeGib)
    throw refuse('volume.no_space', { detail: `The host has ${free} GiB left; ${sizeGib} are asked for.` });
  if (place.capacity.volumes.length >= VOLUMES_MAX)
    throw refuse('volume.no_space', { detail: 'The host has as many volumes as there may be.' });
}
