import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Allocation } from '../../functions/allocations/allocation.ts';
import type { Volume } from '../../functions/allocations/volume.ts';
import { gpuInventory } from '../nodes/inventories.ts';
import { until } from '../until.ts';
import { type JoinedNode, joinNode } from './joined-node.ts';
import { call, createPlace, done, type Place } from './people.ts';

// Through the gateway, with the functions' own roles: what a role lacks is denied here.

let place: Place;
let node: JoinedNode;
const sku = `e2e-${randomUUID().slice(0, 8)}`;
const model = `Model ${sku}`;
const as = 'admin';

beforeAll(async () => {
  [place, node] = await Promise.all([createPlace('allocations'), joinNode('e2e-allocations')]);
  const inventory = gpuInventory();
  await done('PUT', `/api/v1/nodes/${node.id}/inventory`, {
    token: node.token,
    body: { inventory: { ...inventory, gpus: inventory.gpus.map((gpu) => ({ ...gpu, model })) } },
  });
  const body = {
    capacity_shape: 'gpu_slice',
    accelerator: 'nvidia',
    gpu_count: 2,
    gpu_model: model,
    vcpu: 1,
    memory_mib: 1_024,
    disk_gib: 10,
    price_micros_per_hour: '2500000',
  };
  await done('PUT', `/api/v1/admin/skus/${sku}`, { as, body });
});

const project = (path: string): string => `/api/v1/projects/${place.project_id}${path}`;

/** What the host answers, as its agent would. */
async function answer(taskId: string): Promise<void> {
  const { fence } = await done<{ fence: number }>('GET', `/api/v1/admin/nodes/${node.id}/tasks/${taskId}`, {
    as,
  });
  await done('POST', `/api/v1/nodes/${node.id}/tasks/${taskId}/outcome`, {
    token: node.token,
    body: { status: 'succeeded', fence, at: new Date().toISOString(), result: {} },
  });
}

describe('an allocation', () => {
  test('is placed, keeps a volume, is released, and is there again for the next', async () => {
    const explained = () =>
      done<{ fits: boolean; chosen_node_id?: string }>('GET', project(`/placement/explain?sku=${sku}`), {
        as,
      });
    await until(async () => (await explained()).fits, 'the host to be listed');
    expect(await done('GET', `/api/v1/admin/placement/explain?sku=${sku}`, { as })).toMatchObject({
      chosen_node_id: node.id,
    });

    const held = await done<Allocation>('POST', project('/allocations'), { as, body: { sku } });
    expect(held).toMatchObject({ status: 'active', node_id: node.id });
    expect(await call('POST', project('/allocations'), { as, body: { sku } })).toMatchObject({
      status: 409,
      body: { code: 'allocation.no_capacity' },
    });

    const asked = await done<Volume>('POST', project('/volumes'), {
      as,
      body: { allocation_id: held.id, size_gib: 20 },
    });
    await answer(asked.task_id);
    const volume = () => call<Volume>('GET', project(`/volumes/${asked.id}`), { as });
    await until(async () => (await volume()).body.status === 'ready', 'the volume to be made');

    await done('POST', project(`/allocations/${held.id}/release`), { as });
    const read = () => done<Allocation>('GET', project(`/allocations/${held.id}`), { as });
    await until(async () => (await read()).status === 'released', 'the allocation to be released');

    const again = await done<Allocation>('POST', project('/allocations'), {
      as,
      body: { sku, volume_id: asked.id },
    });
    expect(again).toMatchObject({ node_id: node.id, gpu_uuids: held.gpu_uuids });
    const { items } = await until(async () => {
      const path = `/api/v1/admin/allocations?node_id=${node.id}`;
      const open = await done<{ items: Allocation[] }>('GET', path, { as });
      return open.items.some(({ id }) => id === again.id) && open;
    }, 'the allocation to be listed');
    expect(items.map(({ id }) => id)).toEqual([again.id]);

    const { task_id } = await done<Volume>('DELETE', project(`/volumes/${asked.id}`), { as });
    await answer(task_id);
    await until(async () => (await volume()).status === 404, 'the volume to be gone');
  });

  test('goes with the host that is torn down, and tells that the host is drained', async () => {
    const listed = await done<{ items: Allocation[] }>('GET', project('/allocations'), { as });
    const active = listed.items.filter(({ status }) => status === 'active');
    expect(active).toHaveLength(1);
    await done('POST', `/api/v1/admin/nodes/${node.id}/drain`, { as, body: { mode: 'teardown' } });
    const shown = () => done<{ placement: string }>('GET', `/api/v1/admin/nodes/${node.id}`, { as });
    await until(async () => (await shown()).placement === 'drained', 'the node to be drained');
    expect(await call('POST', project('/allocations'), { as, body: { sku } })).toMatchObject({
      status: 409,
      body: { code: 'allocation.no_capacity' },
    });
    await done('DELETE', `/api/v1/admin/nodes/${node.id}`, { as });
    await done('DELETE', `/api/v1/admin/skus/${sku}`, { as });
  });
});
