import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Allocation } from '../../functions/allocations/allocation.ts';
import { allocationKey, openAllocationKey } from '../../functions/allocations/keys.ts';
import { handler } from '../../functions/allocations/react-to-events.ts';
import { allocationsSweep } from '../../functions/allocations/sweep-allocations.ts';
import type { Project } from '../../functions/identity/project.ts';
import { capacityKey, workloadKey } from '../../functions/nodes/keys.ts';
import { DrainRequested, NodeLost, NodeRecovered } from '../../functions/nodes/node-events.ts';
import type { Node } from '../../functions/nodes/node.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { runSweep } from '../../functions/platform/workflow/sweep.ts';
import type { Workload } from '../../functions/tasks/workload.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { allocated, offered } from './held.ts';
import { openHosts, type Hosts } from './hosts.ts';

const RELEASE = 'POST /api/v1/projects/{project_id}/allocations/{allocation_id}/release';
const WRITE_OFF = 'POST /api/v1/admin/allocations/{allocation_id}/write-off';

let world: World;
let scene: Scene;
let hosts: Hosts;
let project: Project;
let admin: Person;
let platformAdmin: Person;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  hosts = openHosts(world, handler);
  ({ project, admin } = await scene.place());
  platformAdmin = await scene.platformAdmin();
});

afterAll(() => world.close());

const release = ({ id, project_id }: Allocation) =>
  world.call(RELEASE, { params: { project_id, allocation_id: id }, token: admin.token });

const read = async ({ id }: Pick<Allocation, 'id'>) =>
  (await world.get(allocationKey(id))) as unknown as Allocation;

const heldOn = async (nodeId: string) => (await world.get(capacityKey(nodeId)))?.['holds'];

const sweep = async (): Promise<void> => {
  await world.indexed();
  await runSweep(createContext(newId()), allocationsSweep);
};

/** An active allocation with so many workloads on it. */
async function occupied(
  count: number,
): Promise<{ allocation: Allocation; node: Node; workloads: Workload[] }> {
  const offer = await offered(scene);
  const allocation = await allocated(project, offer);
  const workloads = [];
  for (let index = 0; index < count; index += 1) workloads.push(await hosts.launched(allocation));
  return { allocation, node: offer.node, workloads };
}

const removalsOf = async (workload: Workload) =>
  (await world.items('TASK#')).filter(
    ({ workload_id, kind }) => workload_id === workload.workload_id && kind === 'oci.remove',
  );

describe('a release', () => {
  test('of an allocation with nothing on it frees its capacity', async () => {
    const { allocation, node } = await occupied(0);
    expect(await release(allocation)).toMatchObject({
      status: 202,
      body: { status: 'releasing', release_requested_by: `user:${admin.id}` },
    });
    expect(await heldOn(node.id)).toHaveLength(1);
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'released', released_at: expect.any(String) });
    expect(await heldOn(node.id)).toEqual([]);
    expect(await world.get(openAllocationKey(allocation.id))).toBeUndefined();
    expect(await hosts.saidOf(allocation.id)).toEqual([
      'allocation.release_requested',
      'allocation.released',
    ]);
  });

  test('removes what runs there first, and holds the capacity until the host has proved it', async () => {
    const { allocation, node, workloads } = await occupied(2);
    await release(allocation);
    await hosts.deliver();
    const asked = await read(allocation);
    expect(asked).toMatchObject({ status: 'releasing' });
    expect(asked.leftovers.map(({ workload_id }) => workload_id).sort()).toEqual(
      workloads.map(({ workload_id }) => workload_id).sort(),
    );
    const [first, second] = asked.leftovers;
    await hosts.removed(first?.task_id);
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'releasing', leftovers: [second] });
    expect(await heldOn(node.id)).toHaveLength(1);
    await hosts.removed(second?.task_id);
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'released', leftovers: [] });
    expect(await heldOn(node.id)).toEqual([]);
  });

  test('twice is once, also while it goes on and after it ended', async () => {
    const { allocation, workloads } = await occupied(1);
    const answers = await Promise.all([release(allocation), release(allocation), release(allocation)]);
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202]);
    await hosts.deliver();
    expect(await release(allocation)).toMatchObject({ status: 202, body: { status: 'releasing' } });
    await hosts.deliver();
    const [workload] = workloads;
    if (!workload) throw new Error('Nothing was launched.');
    const removals = await removalsOf(workload);
    expect(removals).toHaveLength(1);
    await hosts.removed(removals[0]?.['id'] as string);
    await hosts.deliver();
    expect(await release(allocation)).toMatchObject({ status: 202, body: { status: 'released' } });
    await hosts.deliver();
    expect(await hosts.saidOf(allocation.id)).toEqual([
      'allocation.release_requested',
      'allocation.released',
    ]);
  });

  test('that the host does not carry out says what is left and why, and is asked for again', async () => {
    const { allocation, node, workloads } = await occupied(1);
    const [workload] = workloads;
    if (!workload) throw new Error('Nothing was launched.');
    await release(allocation);
    await hosts.deliver();
    const [left] = (await read(allocation)).leftovers;
    await hosts.failed(left?.task_id, 'left_behind');
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({
      status: 'releasing',
      leftovers: [{ workload_id: workload.workload_id, code: 'left_behind' }],
    });
    expect(await removalsOf(workload)).toHaveLength(1);
    await sweep();
    await sweep();
    expect(await removalsOf(workload)).toHaveLength(2);
    const [again] = (await read(allocation)).leftovers;
    expect(again).not.toHaveProperty('code');
    await hosts.removed(again?.task_id);
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'released' });
    expect(await heldOn(node.id)).toEqual([]);
  });

  test('whose events were missed is finished by the sweep', async () => {
    const { allocation, node, workloads } = await occupied(1);
    const [workload] = workloads;
    if (!workload) throw new Error('Nothing was launched.');
    await release(allocation);
    await sweep();
    const removals = await removalsOf(workload);
    expect(removals).toHaveLength(1);
    await hosts.removed(removals[0]?.['id'] as string);
    await sweep();
    expect(await read(allocation)).toMatchObject({ status: 'released' });
    expect(await heldOn(node.id)).toEqual([]);
    await hosts.deliver();
    expect(await hosts.saidOf(allocation.id)).toEqual([
      'allocation.release_requested',
      'allocation.released',
    ]);
  });

  test('of many workloads takes several rounds, and ends', async () => {
    const { allocation } = await occupied(25);
    await release(allocation);
    for (let round = 0; round < 4; round += 1) {
      await hosts.deliver();
      for (const { task_id } of (await read(allocation)).leftovers)
        if (task_id !== undefined) await hosts.removed(task_id);
    }
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'released' });
  });

  test('leaves what is on the same host for others', async () => {
    const offer = await offered(scene, 2);
    const one = await allocated(project, offer);
    const other = await allocated((await scene.place()).project, offer);
    const neighbour = await hosts.launched(other);
    await release(one);
    await hosts.deliver();
    expect(await read(one)).toMatchObject({ status: 'released' });
    expect(await heldOn(offer.node.id)).toMatchObject([{ allocation_id: other.id }]);
    expect(await world.get(workloadKey(offer.node.id, neighbour.workload_id))).toMatchObject({
      desired: 'present',
    });
  });
});

describe('a drain', () => {
  test('that tears down releases everything on the node; the last one out tells that it is drained', async () => {
    const offer = await offered(scene, 2);
    const both = [await allocated(project, offer), await allocated(project, offer)];
    const node = await hosts.change(offer.node, { placement: 'draining', drain_mode: 'teardown' });
    await hosts.tell(DrainRequested(node, 'teardown'));
    await hosts.deliver();
    for (const allocation of both) expect(await read(allocation)).toMatchObject({ status: 'released' });
    expect(await hosts.platformSaid('platform.node.drained', node.id)).toHaveLength(1);
  });

  test('that nobody reacted to is carried out by the sweep', async () => {
    const { allocation, node } = await occupied(0);
    await hosts.change(node, { placement: 'draining', drain_mode: 'teardown' });
    await sweep();
    await sweep();
    expect(await read(allocation)).toMatchObject({ status: 'released' });
  });

  test('that waits releases nothing', async () => {
    const { allocation, node } = await occupied(0);
    const draining = await hosts.change(node, { placement: 'draining', drain_mode: 'wait' });
    await hosts.tell(DrainRequested(draining, 'wait'));
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'active' });
    await release(allocation);
    await hosts.deliver();
    expect(await hosts.platformSaid('platform.node.drained', node.id)).toHaveLength(1);
  });

  test('that was taken back before anybody reacted releases nothing', async () => {
    const { allocation, node } = await occupied(0);
    await hosts.tell(DrainRequested({ ...node, placement: 'draining' }, 'teardown'));
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'active' });
  });
});

describe('a host that is lost', () => {
  test('is shown with its allocations until it is back', async () => {
    const { allocation, node } = await occupied(1);
    const lost = await hosts.change(node, { status: 'lost' });
    await hosts.tell(NodeLost(lost, new Date().toISOString()));
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'active', host_status: 'lost' });
    await hosts.tell(NodeRecovered(await hosts.change(lost, { status: 'ready' })));
    await hosts.deliver();
    expect(await read(allocation)).toMatchObject({ status: 'active', host_status: 'ready' });
    expect(await hosts.saidOf(allocation.id)).toEqual(['allocation.host_lost', 'allocation.host_recovered']);
  });

  const writeOff = (allocation: Allocation, key = newId()) =>
    world.call(WRITE_OFF, {
      params: { allocation_id: allocation.id },
      body: { reason: 'The rack burned.' },
      token: platformAdmin.token,
      headers: { 'x-idempotency-key': key },
    });

  test('is given up with a reason: the capacity is free, and should it come back, it removes what ran there', async () => {
    const { allocation, node, workloads } = await occupied(2);
    await hosts.tell(NodeLost(await hosts.change(node, { status: 'lost' }), new Date().toISOString()));
    await hosts.deliver();
    expect(await writeOff(allocation)).toMatchObject({
      status: 200,
      body: {
        status: 'released',
        written_off: { reason: 'The rack burned.', by: `user:${platformAdmin.id}` },
      },
    });
    expect(await heldOn(node.id)).toEqual([]);
    await hosts.deliver();
    for (const { workload_id } of workloads)
      expect(await world.get(workloadKey(node.id, workload_id))).toMatchObject({ desired: 'absent' });
    expect(await writeOff(allocation)).toMatchObject({ status: 200, body: { status: 'released' } });
    expect(await hosts.saidOf(allocation.id)).toEqual(['allocation.host_lost', 'allocation.written_off']);
    const audit = (await world.items(`AUDIT#${project.id}`)).find(
      ({ subject, action }) =>
        subject === `allocation:${allocation.id}` && action === 'allocations.allocation.write_off',
    );
    expect(audit).toMatchObject({ reason: 'The rack burned.', after: { status: 'released' } });
  });

  test('is the only one that is given up', async () => {
    const { allocation, node } = await occupied(0);
    expect(await writeOff(allocation)).toMatchObject({
      status: 409,
      body: { code: 'allocation.host_not_lost' },
    });
    expect(await heldOn(node.id)).toHaveLength(1);
  });
});
