// On which node an allocation goes, and of every other node why not. Pure: a request, the explanation and the tests all
// go by this file.

import {
  chooseGpus,
  type Free,
  freeOf,
  gpuModelOf,
  type Hold,
  HOLDS_MAX,
  schedulableGpus,
  totalOf,
} from '../nodes/capacity.ts';
import type { Place } from '../nodes/hold-capacity.ts';
import { acceleratorOf, type Inventory } from '../nodes/inventory.ts';
import type { Node } from '../nodes/node.ts';
import { placementFaults } from '../nodes/placeable.ts';
import type { AllocationId, NodeId, ProjectId } from '../platform/ids.ts';
import type { Shape } from './sku.ts';

/** What is asked for, and by whom. */
export interface Wanted extends Shape {
  allocation_id: AllocationId;
  project_id: ProjectId;
  /** Only there: where a volume of the project is. */
  node_id?: NodeId;
}

/** What the request and what is held give as reasons, besides what is wrong with the node itself. */
export const PLACEMENT_REASONS = [
  'node.no_inventory',
  'volume.elsewhere',
  'accelerator.other',
  'gpu.other_model',
  'gpu.other_count',
  'node.too_small',
  'node.not_empty',
  'node.foreign_volumes',
  'node.taken_whole',
  'gpu.exhausted',
  'vcpu.exhausted',
  'memory.exhausted',
  'disk.exhausted',
  'node.full',
] as const;
type PlacementReason = (typeof PLACEMENT_REASONS)[number];

/** Why not this node. The code is for counting and comparing, the detail for whoever runs the node. */
export interface Reason {
  code: string;
  detail: string;
}

export type Judged = { node: Node } & ({ reasons: [Reason, ...Reason[]] } | { reasons: []; fit: Fit });

interface Fit {
  hold: Hold;
  /** What would be left, the least first: of two nodes the one with less is taken, so that large ones stay whole. */
  left: readonly number[];
}

/** Judges every node, and takes the one that is left with least. The same nodes always give the same answer. */
export function placeAllocation(wanted: Wanted, places: Place[]): { chosen?: Chosen; judged: Judged[] } {
  const judged = places.map((place) => judgePlace(wanted, place));
  const fitting = places.flatMap((place, index) => {
    const verdict = judged[index];
    return verdict && 'fit' in verdict ? [{ place, ...verdict.fit }] : [];
  });
  const [chosen] = fitting.toSorted(
    (one, other) => compareAll(one.left, other.left) || (one.place.node.id < other.place.node.id ? -1 : 1),
  );
  return { ...(chosen && { chosen: { place: chosen.place, hold: chosen.hold } }), judged };
}

export interface Chosen {
  place: Place;
  hold: Hold;
}

/** Every reason at once: whoever repairs the first should not have to ask again for the second. */
export function judgePlace(wanted: Wanted, { node, capacity }: Place): Judged {
  const reasons = judgeNode(wanted, node);
  if (reasons.length > 0 || !node.inventory) return refused(node, reasons);
  const total = totalOf(node.inventory);
  const free = freeOf(node.inventory, capacity);
  if (wanted.capacity_shape === 'baremetal') {
    const occupied = occupants(wanted, capacity);
    if (occupied.length > 0) return refused(node, occupied);
    const hold = holdOf(wanted, {
      gpu_uuids: total.gpus.map(({ uuid }) => uuid),
      vcpu: total.vcpu,
      memory_mib: total.memory_mib,
      disk_gib: total.disk_gib,
    });
    return { node, reasons: [], fit: { hold, left: leftOf(total, { ...wanted, gpu_count: 0 }) } };
  }
  const lacking = shortages(wanted, free, capacity.holds);
  const gpu_uuids = chooseGpus(free.gpus, wanted.gpu_count, wanted.gpu_model);
  if (lacking.length > 0 || !gpu_uuids) return refused(node, lacking);
  return {
    node,
    reasons: [],
    fit: { hold: holdOf(wanted, { ...wanted, gpu_uuids }), left: leftOf(free, wanted) },
  };
}

const refused = (node: Node, reasons: Reason[]): Judged => {
  const [first = reason('node.no_inventory', 'The host has not told what it is made of.'), ...more] = reasons;
  return { node, reasons: [first, ...more] };
};

/** What would be wrong with the node if nothing were held of it: known without reading what is. */
export function judgeNode(wanted: Wanted, node: Node): Reason[] {
  const reasons: Reason[] = [...placementFaults(node)];
  if (wanted.node_id !== undefined && wanted.node_id !== node.id)
    reasons.push(reason('volume.elsewhere', 'The volume is on another host.'));
  if (node.inventory) reasons.push(...misfits(wanted, node.inventory));
  return reasons;
}

function misfits(wanted: Wanted, inventory: Inventory): Reason[] {
  const accelerator = acceleratorOf(inventory);
  // GPU hosts take no allocations without GPUs: those would use up the processors that the GPUs need.
  if (accelerator !== wanted.accelerator)
    return [reason('accelerator.other', `The host has ${accelerator}, not ${wanted.accelerator}.`)];
  const { gpu_model, gpu_count } = wanted;
  const gpus = schedulableGpus(inventory);
  const ofModel = gpus.filter((gpu) => gpu_model === undefined || gpuModelOf(gpu) === gpu_model);
  const reasons: Reason[] = [];
  if (ofModel.length === 0 && gpu_count > 0)
    reasons.push(reason('gpu.other_model', `The host has no ${gpu_model}.`));
  // A whole node is priced by its GPUs: one with more is another SKU.
  else if (
    wanted.capacity_shape === 'baremetal' &&
    (gpus.length !== gpu_count || ofModel.length !== gpu_count)
  )
    reasons.push(
      reason(
        'gpu.other_count',
        `The host has ${gpus.length} GPUs, of which ${ofModel.length} would do; ${gpu_count} are asked for.`,
      ),
    );
  else if (ofModel.length < gpu_count) reasons.push(tooSmall('GPUs', ofModel.length, gpu_count));
  if (inventory.vcpu < wanted.vcpu) reasons.push(tooSmall('vCPUs', inventory.vcpu, wanted.vcpu));
  if (inventory.memory_mib < wanted.memory_mib)
    reasons.push(tooSmall('MiB of memory', inventory.memory_mib, wanted.memory_mib));
  if (inventory.disk_gib < wanted.disk_gib)
    reasons.push(tooSmall('GiB of disk', inventory.disk_gib, wanted.disk_gib));
  return reasons;
}

/** A whole node is for one project alone, with what it left there itself. */
function occupants({ project_id }: Wanted, { holds, volumes }: Place['capacity']): Reason[] {
  const foreign = volumes.filter((volume) => volume.project_id !== project_id);
  const reasons: Reason[] = [];
  if (holds.length > 0) reasons.push(reason('node.not_empty', `Allocations on the host: ${holds.length}.`));
  if (foreign.length > 0)
    reasons.push(reason('node.foreign_volumes', `Volumes of other projects on the host: ${foreign.length}.`));
  return reasons;
}

function shortages(wanted: Wanted, free: Free, holds: Hold[]): Reason[] {
  if (holds.some(({ kind }) => kind === 'baremetal'))
    return [reason('node.taken_whole', 'One allocation holds the whole host.')];
  const { gpu_count, gpu_model } = wanted;
  const reasons: Reason[] = [];
  if (!chooseGpus(free.gpus, gpu_count, gpu_model))
    reasons.push(lacks('gpu.exhausted', 'GPUs that would do', freeOfModel(free, gpu_model), gpu_count));
  if (free.vcpu < wanted.vcpu) reasons.push(lacks('vcpu.exhausted', 'vCPUs', free.vcpu, wanted.vcpu));
  if (free.memory_mib < wanted.memory_mib)
    reasons.push(lacks('memory.exhausted', 'MiB of memory', free.memory_mib, wanted.memory_mib));
  if (free.disk_gib < wanted.disk_gib)
    reasons.push(lacks('disk.exhausted', 'GiB of disk', free.disk_gib, wanted.disk_gib));
  if (holds.length >= HOLDS_MAX)
    reasons.push(reason('node.full', `The host has ${holds.length} allocations, the most there may be.`));
  return reasons;
}

const freeOfModel = ({ gpus }: Free, model: string | undefined): number =>
  gpus.filter((gpu) => model === undefined || gpuModelOf(gpu) === model).length;

function holdOf(
  { allocation_id, project_id, capacity_shape }: Wanted,
  { gpu_uuids, vcpu, memory_mib, disk_gib }: Omit<Hold, 'allocation_id' | 'project_id' | 'kind'>,
): Hold {
  return { allocation_id, project_id, kind: capacity_shape, gpu_uuids, vcpu, memory_mib, disk_gib };
}

const leftOf = (of: Free, { gpu_count, vcpu, memory_mib, disk_gib }: Shape): readonly number[] => [
  of.gpus.length - gpu_count,
  of.vcpu - vcpu,
  of.memory_mib - memory_mib,
  of.disk_gib - disk_gib,
];

function compareAll(one: readonly number[], other: readonly number[]): number {
  const index = one.findIndex((each, at) => each !== other[at]);
  return (one[index] ?? 0) - (other[index] ?? 0);
}

const reason = (code: PlacementReason, detail: string): Reason => ({ code, detail });
const tooSmall = (what: string, has: number, wanted: number): Reason =>
  reason('node.too_small', `The host has ${has} ${what}; ${wanted} are asked for.`);
const lacks = (code: PlacementReason, what: string, free: number, wanted: number): Reason =>
  reason(code, `The host has ${free} ${what} free; ${wanted} are asked for.`);
