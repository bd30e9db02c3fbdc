// Nodes, SKUs and allocations as the rules' own plans make them, for tests.

import { type Capacity, emptyCapacity, type Hold } from '../../functions/nodes/capacity.ts';
import type { Gpu, Inventory } from '../../functions/nodes/inventory.ts';
import type { Node } from '../../functions/nodes/node.ts';
import { newId } from '../../functions/platform/ids.ts';
import { planAllocation } from '../../functions/allocations/allocation.ts';
import type { Wanted } from '../../functions/allocations/placement.ts';
import { planSku, type PutSku, type Sku } from '../../functions/allocations/sku.ts';

export const NOW = new Date('2026-11-02T12:00:00.000Z');
const ENGINE = { name: 'docker', version: '27.0.0', api_version: '1.46', userns_remap: true } as const;

export const gpu = (uuid: string, more: Partial<Gpu> = {}): Gpu => ({
  uuid: `GPU-${uuid.padStart(8, '0')}`,
  vendor: 'nvidia',
  model: 'NVIDIA H100',
  memory_mib: 81_559,
  ...more,
});

export const gpus = (count: number, more: Partial<Gpu> = {}): Gpu[] =>
  Array.from({ length: count }, (_, index) => gpu(String(index), more));

/** A part of the GPU with this number. */
export const mig = (parent: string, part: string, profile = '1g.10gb'): Gpu => ({
  ...gpu(parent),
  uuid: `MIG-${parent}-${part.padStart(8, '0')}`,
  memory_mib: 9_728,
  mig: { profile, parent_uuid: gpu(parent).uuid },
});

export const planInventory = (more: Partial<Inventory> = {}): Inventory => ({
  hostname: 'host',
  architecture: 'amd64',
  kernel: '6.1.0',
  os: 'Debian GNU/Linux 12',
  vcpu: 64,
  memory_mib: 262_144,
  disk_gib: 1_000,
  gpus: [],
  engine: { ...ENGINE, nvidia_runtime: (more.gpus ?? []).length > 0 },
  ...((more.gpus ?? []).length > 0 && { driver_version: '570.1', toolkit_version: '1.17.8' }),
  agent_version: '1.0.0',
  ...more,
});

export const plannedNode = (inventory: Partial<Inventory> = {}, more: Partial<Node> = {}): Node => ({
  id: newId(),
  name: 'host',
  labels: {},
  status: 'ready',
  placement: 'open',
  inventory: planInventory(inventory),
  port_range: { from: 20_000, to: 29_999 },
  status_at: NOW.toISOString(),
  created_by: 'user:somebody',
  created_at: NOW.toISOString(),
  version: 1,
  ...more,
});

export const placeOf = (node: Node, holds: Hold[] = [], volumes: Capacity['volumes'] = []) => ({
  node,
  capacity: { ...emptyCapacity(node.id), holds, volumes },
});

export const planHold = (more: Partial<Hold> = {}): Hold => ({
  allocation_id: newId(),
  project_id: newId(),
  kind: 'gpu_slice',
  gpu_uuids: [],
  vcpu: 1,
  memory_mib: 1_024,
  disk_gib: 10,
  ...more,
});

export const CPU: PutSku = {
  description: '',
  capacity_shape: 'gpu_slice',
  accelerator: 'cpu',
  gpu_count: 0,
  vcpu: 4,
  memory_mib: 16_384,
  disk_gib: 50,
  price_micros_per_hour: '120000',
  currency: 'USD',
  status: 'active',
};

export const GPU: PutSku = { ...CPU, accelerator: 'nvidia', gpu_count: 2, price_micros_per_hour: '5000000' };
export const WHOLE: PutSku = { ...GPU, capacity_shape: 'baremetal', gpu_count: 8 };

export const planned = (wanted: Partial<PutSku> = {}, name = 'a-sku'): Sku =>
  planSku(undefined, name, { ...CPU, ...wanted }, 'user:somebody', NOW);

export const wantedOf = (sku: Partial<PutSku> = {}, more: Partial<Wanted> = {}): Wanted => ({
  ...planned(sku),
  allocation_id: newId(),
  project_id: newId(),
  ...more,
});

/** An active allocation, as a request would have made it. */
export function plannedAllocation(more: { node_id?: string; project_id?: string; org_id?: string } = {}) {
  const { node_id = newId(), project_id = newId(), org_id = newId() } = more;
  const id = newId();
  const project = { id: project_id, org_id, slug: 'p', name: 'P', status: 'active' as const, version: 1 };
  const hold = planHold({ allocation_id: id, project_id });
  const by = { project, actor: 'user:somebody' };
  return planAllocation({ id }, planned(), { node_id, hold }, by, NOW);
}
