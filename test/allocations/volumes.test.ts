import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Allocation } from '../../functions/allocations/allocation.ts';
import { allocationKey, changingVolumeKey, volumeKey } from '../../functions/allocations/keys.ts';
import { handler } from '../../functions/allocations/react-to-events.ts';
import { allocationsSweep } from '../../functions/allocations/sweep-allocations.ts';
import type { Volume } from '../../functions/allocations/volume.ts';
import type { Project } from '../../functions/identity/project.ts';
import { capacityKey } from '../../functions/nodes/keys.ts';
import { NodeRemoved } from '../../functions/nodes/node-events.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { runSweep } from '../../functions/platform/workflow/sweep.ts';
import { taskKey } from '../../functions/tasks/keys.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { allocated, madeVolume, offered } from './held.ts';
import { type Hosts, openHosts } from './hosts.ts';

const VOLUMES = '/api/v1/projects/{project_id}/volumes';

let world: World;
let scene: Scene;
let hosts: Hosts;
let project: Project;
let admin: Person;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  hosts = openHosts(world, handler);
  ({ project, admin } = await scene.place());
});

afterAll(() => world.close());

const create = (allocation: Allocation, size_gib: number) =>
  world.call(`POST ${VOLUMES}`, {
    params: { project_id: project.id },
    body: { allocation_id: allocation.id, size_gib, name: 'Data' },
    token: admin.token,
    headers: { 'x-idempotency-key': newId() },
  });

const on = (method: 'GET' | 'DELETE', { id }: Pick<Volume, 'id'>) =>
  world.call(`${method} ${VOLUMES}/{volume_id}`, {
    params: { project_id: project.id, volume_id: id },
    token: admin.token,
  });

const keptOn = async (nodeId: string) => (await world.get(capacityKey(nodeId)))?.['volumes'] ?? [];

const sweep = async (): Promise<void> => {
  await world.indexed();
  await runSweep(createContext(newId()), allocationsSweep);
};

const task = (id: string) => world.get(taskKey(id));
const allocation = async (): Promise<Allocation> => allocated(project, await offered(scene));

describe('a volume', () => {
  test('is made by the host, and ready when the host says so', async () => {
    const held = await allocation();
    const { status, body } = await create(held, 100);
    const volume = body as Volume;
    expect(status).toBe(202);
    expect(volume).toMatchObject({ status: 'creating', node_id: held.node_id, size_gib: 100, name: 'Data' });
    expect(await task(volume.task_id)).toMatchObject({
      node_id: held.node_id,
      kind: 'volume.create',
      payload: { project_id: project.id, volume: { id: volume.id, kind: 'persistent', size_gib: 100 } },
    });
    expect(await keptOn(held.node_id)).toEqual([
      { volume_id: volume.id, project_id: project.id, disk_gib: 100 },
    ]);
    await hosts.removed(volume.task_id);
    await hosts.deliver();
    expect(await on('GET', volume)).toMatchObject({ status: 200, body: { status: 'ready' } });
    expect(await world.get(changingVolumeKey(volume.id))).toBeUndefined();
  });

  test('that the host did not make says why, and keeps its disk until it is deleted', async () => {
    const held = await allocation();
    const volume = (await create(held, 10)).body as Volume;
    await hosts.failed(volume.task_id, 'disk_full');
    await hosts.deliver();
    expect(await on('GET', volume)).toMatchObject({ body: { status: 'failed', failure_code: 'disk_full' } });
    expect(await keptOn(held.node_id)).toHaveLength(1);
    const { task_id } = (await on('DELETE', volume)).body as Volume;
    await hosts.failed(task_id, 'volume_unknown');
    await hosts.deliver();
    expect(await on('GET', volume)).toMatchObject({ status: 404, body: { code: 'volume.unknown' } });
    expect(await keptOn(held.node_id)).toEqual([]);
  });

  test('never finds less disk than it is promised', async () => {
    const held = await allocation();
    const answers = [];
    for (const size of [500, 400, 60, 50, 1]) answers.push((await create(held, size)).status);
    // The host has 1,000 GiB, of which the allocation holds 50.
    expect(answers).toEqual([202, 202, 409, 202, 409]);
  });

  test('is refused on an allocation that is being released, also in the same moment', async () => {
    const held = await allocation();
    await world.set(allocationKey(held.id), 'status', 'releasing');
    expect(await create(held, 1)).toMatchObject({ status: 409, body: { code: 'allocation.not_active' } });
  });

  test('stays when its allocation is released', async () => {
    const held = await allocation();
    const volume = await madeVolume(held);
    await world.call('POST /api/v1/projects/{project_id}/allocations/{allocation_id}/release', {
      params: { project_id: project.id, allocation_id: held.id },
      token: admin.token,
    });
    await hosts.deliver();
    expect(await world.get(allocationKey(held.id))).toMatchObject({ status: 'released' });
    expect(await on('GET', volume)).toMatchObject({ body: { status: 'ready' } });
    expect(await keptOn(held.node_id)).toHaveLength(1);
  });

  test('of another project does not exist', async () => {
    const volume = await madeVolume(await allocation());
    const stranger = await scene.place();
    for (const method of ['GET', 'DELETE'])
      expect(
        await world.call(`${method} ${VOLUMES}/{volume_id}`, {
          params: { project_id: stranger.project.id, volume_id: volume.id },
          token: stranger.admin.token,
        }),
      ).toMatchObject({ status: 404, body: { code: 'volume.unknown' } });
  });
});

describe('the deletion of a volume', () => {
  test('is refused while something uses it', async () => {
    const held = await allocation();
    const volume = await madeVolume(held);
    const workload = await hosts.launched(held, [volume.id]);
    expect(await on('DELETE', volume)).toMatchObject({ status: 409, body: { code: 'volume.in_use' } });
    expect(workload.volume_ids).toEqual([volume.id]);
  });

  test('is refused while it is made', async () => {
    const volume = await madeVolume(await allocation(), { status: 'creating' });
    expect(await on('DELETE', volume)).toMatchObject({ status: 409, body: { code: 'volume.not_ready' } });
  });

  test('twice is once, and frees its disk when the host has removed it', async () => {
    const held = await allocation();
    const volume = await madeVolume(held);
    const first = (await on('DELETE', volume)).body as Volume;
    const second = (await on('DELETE', volume)).body as Volume;
    expect(first).toMatchObject({ status: 'removing' });
    expect(second).toEqual(first);
    expect(await keptOn(held.node_id)).toHaveLength(1);
    await hosts.removed(first.task_id);
    await hosts.deliver();
    expect(await world.get(volumeKey(volume.id))).toBeUndefined();
    expect(await keptOn(held.node_id)).toEqual([]);
  });

  test('that the host refused because something uses it leaves it as it was', async () => {
    const volume = await madeVolume(await allocation());
    const { task_id } = (await on('DELETE', volume)).body as Volume;
    await hosts.failed(task_id, 'volume_in_use');
    await hosts.deliver();
    expect(await on('GET', volume)).toMatchObject({
      body: { status: 'ready', failure_code: 'volume_in_use' },
    });
  });

  test('that the host did not carry out is asked for again', async () => {
    const held = await allocation();
    const volume = await madeVolume(held);
    const { task_id } = (await on('DELETE', volume)).body as Volume;
    await hosts.failed(task_id, 'deadline_passed');
    await sweep();
    const again = (await on('GET', volume)).body as Volume;
    expect(again).toMatchObject({ status: 'removing' });
    expect(again.task_id).not.toBe(task_id);
    await hosts.removed(again.task_id);
    await sweep();
    expect(await world.get(volumeKey(volume.id))).toBeUndefined();
    expect(await keptOn(held.node_id)).toEqual([]);
  });
});

test('with a host that is removed its volumes are gone, and their projects hear of it', async () => {
  const { sku, node } = await offered(scene);
  const volume = await madeVolume(await allocated(project, { sku, node }));
  await hosts.tell(NodeRemoved(await hosts.change(node, { status: 'removed' })));
  await hosts.deliver();
  expect(await world.get(volumeKey(volume.id))).toBeUndefined();
  const said = (await world.items(`OUTBOX#${project.id}`)).map(
    ({ event }) => event as { type: string; data: object },
  );
  expect(said).toContainEqual(
    expect.objectContaining({
      type: 'volume.removed',
      data: expect.objectContaining({ volume_id: volume.id }),
    }),
  );
});
