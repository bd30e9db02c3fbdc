// What a node has, what of it is held, and what is free. Pure: who holds something and who frees it both go by this file.

import * as v from 'valibot';
import { type AllocationId, type NodeId, type ProjectId, textOf, type VolumeId } from '../platform/ids.ts';
import type { Gpu, Inventory } from './inventory.ts';

/** The manifest's words: a whole node, or a number of its GPUs, which may be none. */
export const CAPACITY_SHAPES = ['baremetal', 'gpu_slice'] as const;

/** What an allocation holds. A whole node lists what the node had then, and holds what it gets later too. */
export const Hold = v.object({
  allocation_id: textOf<AllocationId>(),
  project_id: textOf<ProjectId>(),
  kind: v.picklist(CAPACITY_SHAPES),
  gpu_uuids: v.array(v.string()),
  vcpu: v.number(),
  memory_mib: v.number(),
  disk_gib: v.number(),
});
export type Hold = v.InferOutput<typeof Hold>;

/** Disk that stays a project's own after its allocations have gone. */
export const KeptVolume = v.object({
  volume_id: textOf<VolumeId>(),
  project_id: textOf<ProjectId>(),
  disk_gib: v.number(),
});
export type KeptVolume = v.InferOutput<typeof KeptVolume>;

export const Capacity = v.object({
  node_id: textOf<NodeId>(),
  holds: v.array(Hold),
  volumes: v.array(KeptVolume),
  /** Counts its changes; 0 is a node that never held anything, and has no row. */
  version: v.number(),
});
export type Capacity = v.InferOutput<typeof Capacity>;

/** A row has room for 400 kB; a hold of eight GPUs takes half of one. */
export const HOLDS_MAX = 500;
export const VOLUMES_MAX = 1_000;

export const emptyCapacity = (node_id: NodeId): Capacity => ({ node_id, holds: [], volumes: [], version: 0 });

/** Whether no allocation is left: volumes wait for the next one and keep nothing running. */
export const isIdle = ({ holds }: Pick<Capacity, 'holds'>): boolean => holds.length === 0;

export interface Free {
  gpus: Gpu[];
  vcpu: number;
  memory_mib: number;
  disk_gib: number;
}

/** The parts of a GPU are given out one by one; then the GPU they are cut from is not, as that would be twice. */
export function schedulableGpus({ gpus }: Pick<Inventory, 'gpus'>): Gpu[] {
  const parents = new Set(gpus.flatMap(({ mig }) => (mig ? [mig.parent_uuid] : [])));
  return gpus.filter(({ uuid }) => !parents.has(uuid));
}

/** How a SKU names the kind of GPU: a part goes by its profile too, as it is not the GPU it is cut from. */
export const gpuModelOf = ({ model, mig }: Gpu): string => (mig ? `${model} ${mig.profile}` : model);

export const totalOf = (inventory: Inventory): Free => ({
  gpus: schedulableGpus(inventory),
  vcpu: inventory.vcpu,
  memory_mib: inventory.memory_mib,
  disk_gib: inventory.disk_gib,
});

/** What is left beside the holds. An inventory may have shrunk below them: then nothing is. */
export function freeOf(inventory: Inventory, { holds, volumes }: Capacity): Free {
  if (holds.some(({ kind }) => kind === 'baremetal'))
    return { gpus: [], vcpu: 0, memory_mib: 0, disk_gib: 0 };
  const total = totalOf(inventory);
  const held = heldGpus(inventory, holds);
  const left = (of: 'vcpu' | 'memory_mib' | 'disk_gib') =>
    Math.max(0, total[of] - sum(holds.map((hold) => hold[of])));
  return {
    gpus: total.gpus.filter(({ uuid }) => !held.has(uuid)),
    vcpu: left('vcpu'),
    memory_mib: left('memory_mib'),
    disk_gib: Math.max(0, left('disk_gib') - sum(volumes.map(({ disk_gib }) => disk_gib))),
  };
}

/** What is held, with the parts of it: whoever holds a GPU that was cut since still holds what it became. */
function heldGpus({ gpus }: Inventory, holds: Hold[]): Set<string> {
  const held = new Set(holds.flatMap(({ gpu_uuids }) => gpu_uuids));
  const shares = ({ uuid, mig }: Gpu) => held.has(uuid) || (mig !== undefined && held.has(mig.parent_uuid));
  return new Set([...held, ...gpus.filter(shares).map(({ uuid }) => uuid)]);
}

/** Disk for a volume: beside what allocations hold, or within the node of who holds it whole. */
export function freeDiskFor(inventory: Inventory, capacity: Capacity, { kind }: Pick<Hold, 'kind'>): number {
  const holds = kind === 'baremetal' ? [] : capacity.holds;
  return freeOf(inventory, { ...capacity, holds }).disk_gib;
}

/**
 * So many GPUs, all of one model. Of several models that would do, the one with the fewest free, and within it GPUs whose
 * neighbours are taken already: what is large and whole stays so for whoever needs it. Always the same choice.
 */
export function chooseGpus(free: Gpu[], count: number, model?: string): string[] | undefined {
  if (count === 0) return [];
  const groups = Map.groupBy(free, gpuModelOf);
  const [chosen] = [...groups]
    .filter(([name, gpus]) => gpus.length >= count && (model === undefined || name === model))
    .sort(([one, ones], [other, others]) => ones.length - others.length || compare(one, other));
  if (!chosen) return undefined;
  const siblings = Map.groupBy(chosen[1], parentOf);
  return chosen[1]
    .toSorted(
      (one, other) =>
        (siblings.get(parentOf(one))?.length ?? 0) - (siblings.get(parentOf(other))?.length ?? 0) ||
        compare(parentOf(one), parentOf(other)) ||
        compare(one.uuid, other.uuid),
    )
    .slice(0, count)
    .map(({ uuid }) => uuid);
}

const parentOf = ({ uuid, mig }: Gpu): string => mig?.parent_uuid ?? uuid;

/** Takes what a hold names. That it was free is for the caller to have seen in this very capacity. */
export const hold = (capacity: Capacity, taken: Hold): Capacity => ({
  ...capacity,
  holds: [...capacity.holds, taken],
  version: capacity.version + 1,
});

/** Gives back what an allocation holds; undefined where it holds nothing, as nothing is to be written then. */
export function release(capacity: Capacity, id: AllocationId): Capacity | undefined {
  const holds = capacity.holds.filter(({ allocation_id }) => allocation_id !== id);
  if (holds.length === capacity.holds.length) return undefined;
  return { ...capacity, holds, version: capacity.version + 1 };
}

export const keepVolume = (capacity: Capacity, volume: KeptVolume): Capacity => ({
  ...capacity,
  volumes: [...capacity.volumes, volume],
  version: capacity.version + 1,
});

export function forgetVolume(capacity: Capacity, id: VolumeId): Capacity | undefined {
  const volumes = capacity.volumes.filter(({ volume_id }) => volume_id !== id);
  if (volumes.length === capacity.volumes.length) return undefined;
  return { ...capacity, volumes, version: capacity.version + 1 };
}

const sum = (numbers: number[]): number => numbers.reduce((total, each) => total + each, 0);
const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);
