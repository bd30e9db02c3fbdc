// Hosts of a test's own, with a SKU that fits no others, and what is held of them, by the domain's own writes.

import type { Allocation } from '../../functions/allocations/allocation.ts';
import { planAllocation } from '../../functions/allocations/allocation.ts';
import { insertAllocation } from '../../functions/allocations/allocation-store.ts';
import { judgePlace } from '../../functions/allocations/placement.ts';
import { planSku, type PutSku, type Sku } from '../../functions/allocations/sku.ts';
import { saveSku } from '../../functions/allocations/sku-store.ts';
import { planVolume, type Volume } from '../../functions/allocations/volume.ts';
import { insertVolume } from '../../functions/allocations/volume-store.ts';
import type { Project } from '../../functions/identity/project.ts';
import { hold, keepVolume } from '../../functions/nodes/capacity.ts';
import { findPlace, holdCapacity, saveCapacity } from '../../functions/nodes/hold-capacity.ts';
import type { Inventory } from '../../functions/nodes/inventory.ts';
import type { Node } from '../../functions/nodes/node.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Scene } from '../api/scene.ts';
import { GPU, gpus } from './planned.ts';

/** A SKU of one GPU of a model that no other test has. */
export async function skuOf(scene: Scene, more: Partial<PutSku> = {}): Promise<Sku> {
  const wanted = { ...GPU, gpu_count: 1, gpu_model: `Model ${scene.slug()}`, ...more };
  const sku = planSku(undefined, scene.slug(), wanted, 'user:somebody', new Date());
  await commit([saveSku(undefined, sku, undefined)]);
  return sku;
}

export interface Offered {
  sku: Sku;
  node: Node;
}

/** A host with so many of the SKU's GPUs. */
export const hostFor = (
  scene: Scene,
  { gpu_model }: Sku,
  count = 1,
  more: Partial<Node> = {},
  inventory: Partial<Inventory> = {},
) =>
  scene.host({ gpus: gpus(count, gpu_model === undefined ? {} : { model: gpu_model }), ...inventory }, more);

export async function offered(scene: Scene, count = 1, more: Partial<PutSku> = {}): Promise<Offered> {
  const sku = await skuOf(scene, more);
  return { sku, node: await hostFor(scene, sku, count) };
}

/** An active allocation of the project, on the host. */
export async function allocated(project: Project, { sku, node }: Offered): Promise<Allocation> {
  const id = newId();
  const place = await findPlace(node.id);
  const judged = place && judgePlace({ ...sku, allocation_id: id, project_id: project.id }, place);
  if (!judged || !('fit' in judged)) throw new Error('The host has no room for the allocation.');
  const taken = judged.fit.hold;
  const by = { project, actor: 'user:somebody' };
  const allocation = planAllocation({ id }, sku, { node_id: node.id, hold: taken }, by, new Date());
  await commit([...insertAllocation(allocation), ...holdCapacity(place, hold(place.capacity, taken))]);
  return allocation;
}

/** A volume of the project, which its host has made. */
export async function madeVolume(allocation: Allocation, more: Partial<Volume> = {}): Promise<Volume> {
  const ids = { id: newId(), task_id: newId() };
  const asked = { allocation_id: allocation.id, size_gib: 10 };
  const planned = planVolume(ids, asked, allocation, 'user:somebody', new Date());
  const volume: Volume = { ...planned, status: 'ready', ...more };
  const place = await findPlace(allocation.node_id);
  if (!place) throw new Error('The host is not there.');
  const kept = { volume_id: volume.id, project_id: volume.project_id, disk_gib: volume.size_gib };
  const [row, changing] = insertVolume(volume);
  await commit([
    ...(row ? [row] : []),
    ...(changing && volume.status !== 'ready' ? [changing] : []),
    saveCapacity(place.capacity, keepVolume(place.capacity, kept)),
  ]);
  return volume;
}
