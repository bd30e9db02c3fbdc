import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  chooseGpus,
  emptyCapacity,
  forgetVolume,
  freeDiskFor,
  freeOf,
  gpuModelOf,
  hold,
  keepVolume,
  release,
  schedulableGpus,
} from '../../functions/nodes/capacity.ts';
import { placeAllocation } from '../../functions/allocations/placement.ts';
import { gpu, gpus, mig, planHold, planInventory, plannedNode, wantedOf } from '../allocations/planned.ts';

const empty = () => emptyCapacity('a-node');
const uuids = (of: { uuid: string }[]) => of.map(({ uuid }) => uuid);

describe('what is free', () => {
  test('is everything, where nothing is held', () => {
    const inventory = planInventory({ gpus: gpus(2) });
    expect(freeOf(inventory, empty())).toEqual({
      gpus: inventory.gpus,
      vcpu: 64,
      memory_mib: 262_144,
      disk_gib: 1_000,
    });
  });

  test('is what the holds leave', () => {
    const inventory = planInventory({ gpus: gpus(3) });
    const taken = planHold({ gpu_uuids: [gpu('1').uuid], vcpu: 4, memory_mib: 144, disk_gib: 100 });
    expect(freeOf(inventory, hold(empty(), taken))).toEqual({
      gpus: [gpu('0'), gpu('2')],
      vcpu: 60,
      memory_mib: 262_000,
      disk_gib: 900,
    });
  });

  test('is nothing, where the whole node is held, also of what it got since', () => {
    const taken = planHold({ kind: 'baremetal', gpu_uuids: uuids(gpus(1)), vcpu: 1, memory_mib: 1 });
    expect(freeOf(planInventory({ gpus: gpus(2) }), hold(empty(), taken))).toEqual({
      gpus: [],
      vcpu: 0,
      memory_mib: 0,
      disk_gib: 0,
    });
  });

  test('is never less than nothing, when a host comes back with less', () => {
    const taken = planHold({ vcpu: 60, memory_mib: 1_000, disk_gib: 900 });
    const free = freeOf(planInventory({ vcpu: 8, memory_mib: 500, disk_gib: 100 }), hold(empty(), taken));
    expect(free).toMatchObject({ vcpu: 0, memory_mib: 0, disk_gib: 0 });
  });

  test('has no disk that a volume keeps', () => {
    const capacity = keepVolume(empty(), { volume_id: 'v', project_id: 'p', disk_gib: 300 });
    expect(freeOf(planInventory(), capacity).disk_gib).toBe(700);
    expect(freeOf(planInventory(), forgetVolume(capacity, 'v') ?? capacity).disk_gib).toBe(1_000);
    expect(forgetVolume(capacity, 'another')).toBeUndefined();
  });

  test('has room for a volume within a node that is held whole, but not twice', () => {
    const capacity = hold(empty(), planHold({ kind: 'baremetal', disk_gib: 1_000 }));
    expect(freeDiskFor(planInventory(), capacity, { kind: 'baremetal' })).toBe(1_000);
    const kept = keepVolume(capacity, { volume_id: 'v', project_id: 'p', disk_gib: 600 });
    expect(freeDiskFor(planInventory(), kept, { kind: 'baremetal' })).toBe(400);
    const slice = hold(empty(), planHold({ disk_gib: 900 }));
    expect(freeDiskFor(planInventory(), slice, { kind: 'gpu_slice' })).toBe(100);
  });
});

describe('parts of a GPU', () => {
  const cut = planInventory({ gpus: [gpu('0'), gpu('1'), mig('1', 'a'), mig('1', 'b')] });

  test('are given out one by one, and the GPU they are cut from is not', () => {
    expect(uuids(schedulableGpus(cut))).toEqual([gpu('0').uuid, mig('1', 'a').uuid, mig('1', 'b').uuid]);
  });

  test('are not the GPU that a SKU names', () => {
    expect(gpuModelOf(mig('1', 'a'))).toBe('NVIDIA H100 1g.10gb');
    expect(chooseGpus(schedulableGpus(cut), 1, 'NVIDIA H100')).toEqual([gpu('0').uuid]);
    expect(chooseGpus(schedulableGpus(cut), 2, 'NVIDIA H100')).toBeUndefined();
    expect(chooseGpus(schedulableGpus(cut), 2, 'NVIDIA H100 1g.10gb')).toHaveLength(2);
  });

  test('of a GPU that was whole when it was taken are held with it', () => {
    const capacity = hold(empty(), planHold({ gpu_uuids: [gpu('1').uuid] }));
    expect(freeOf(cut, capacity).gpus).toEqual([gpu('0')]);
  });
});

describe('the GPUs of an allocation', () => {
  test('are none where none are asked for', () => {
    expect(chooseGpus(gpus(2), 0)).toEqual([]);
  });

  test('are all of one model, that of which the fewest are free', () => {
    const mixed = [...gpus(4), gpu('8', { model: 'NVIDIA L4' }), gpu('9', { model: 'NVIDIA L4' })];
    expect(chooseGpus(mixed, 2)).toEqual([gpu('8').uuid, gpu('9').uuid]);
    expect(chooseGpus(mixed, 3)).toEqual(uuids(gpus(3)));
    expect(chooseGpus(mixed, 5)).toBeUndefined();
  });

  test('are parts whose neighbours are taken already, so that others stay whole', () => {
    const free = [mig('0', 'a'), mig('0', 'b'), mig('0', 'c'), mig('1', 'c')];
    expect(chooseGpus(free, 1)).toEqual([mig('1', 'c').uuid]);
  });

  test('are the same, whatever the order in which the host lists them', () => {
    const all = [...gpus(5), mig('7', 'a'), mig('7', 'b')];
    fc.assert(
      fc.property(
        fc.shuffledSubarray(all, { minLength: all.length }),
        fc.integer({ min: 0, max: 6 }),
        (shuffled, n) => {
          expect(chooseGpus(shuffled, n)).toEqual(chooseGpus(all, n));
        },
      ),
    );
  });
});

test('what an allocation holds is given back once', () => {
  const taken = planHold();
  const held = hold(empty(), taken);
  const free = release(held, taken.allocation_id);
  expect(free).toEqual({ ...empty(), version: 2 });
  expect(free && release(free, taken.allocation_id)).toBeUndefined();
});

// Everything that is placed goes through placement, so the rules of both hold together or not at all.
const step = fc.oneof(
  fc.record({
    ask: fc.record({
      gpu_count: fc.integer({ min: 1, max: 5 }),
      vcpu: fc.integer({ min: 1, max: 20 }),
      memory_mib: fc.integer({ min: 1, max: 900 }),
      disk_gib: fc.integer({ min: 0, max: 400 }),
      gpu_model: fc.option(fc.constantFrom('NVIDIA H100', 'NVIDIA H100 1g.10gb'), { nil: undefined }),
      capacity_shape: fc.constantFrom('gpu_slice' as const, 'gpu_slice' as const, 'baremetal' as const),
    }),
  }),
  fc.record({ give: fc.nat() }),
);

test('nothing is ever given away twice, in whatever order it is taken and given back', () => {
  const node = plannedNode({
    vcpu: 40,
    memory_mib: 1_000,
    disk_gib: 500,
    gpus: [gpu('0'), gpu('1'), gpu('2'), mig('2', 'a'), mig('2', 'b')],
  });
  const inventory = node.inventory ?? planInventory();
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let capacity = empty();
      for (const each of steps) {
        if ('give' in each) {
          const given = capacity.holds[each.give % Math.max(1, capacity.holds.length)];
          capacity = (given && release(capacity, given.allocation_id)) ?? capacity;
        } else {
          const wanted = wantedOf({ accelerator: 'nvidia', ...each.ask });
          const { chosen } = placeAllocation(wanted, [{ node, capacity }]);
          if (chosen) capacity = hold(capacity, chosen.hold);
        }
        const held = capacity.holds.flatMap(({ gpu_uuids }) => gpu_uuids);
        expect(new Set(held).size).toBe(held.length);
        expect(uuids(schedulableGpus(inventory))).toEqual(expect.arrayContaining(held));
        for (const of of ['vcpu', 'memory_mib', 'disk_gib'] as const)
          expect(capacity.holds.reduce((sum, one) => sum + one[of], 0)).toBeLessThanOrEqual(inventory[of]);
        if (capacity.holds.some(({ kind }) => kind === 'baremetal')) expect(capacity.holds).toHaveLength(1);
      }
    }),
    { numRuns: 300 },
  );
});
