import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { HOLDS_MAX } from '../../functions/nodes/capacity.ts';
import type { Place } from '../../functions/nodes/hold-capacity.ts';
import { judgePlace, placeAllocation, type Wanted } from '../../functions/allocations/placement.ts';
import { countReasons } from '../../functions/allocations/placement-explanation.ts';
import { CPU, GPU, gpu, gpus, placeOf, planHold, plannedNode, wantedOf, WHOLE } from './planned.ts';

const codes = (wanted: Wanted, place: Place) => judgePlace(wanted, place).reasons.map(({ code }) => code);
const eight = () => plannedNode({ gpus: gpus(8) });
const taken = (count: number) => planHold({ gpu_uuids: gpus(count).map(({ uuid }) => uuid) });
const volume = (project_id: string) => ({ volume_id: 'v', project_id, disk_gib: 10 });

describe('why not this node', () => {
  const OWN = '01900000-0000-7000-8000-000000000001';
  const refusals: [string, Wanted, Place, string[]][] = [
    ['it has no GPU', wantedOf(GPU), placeOf(plannedNode()), ['accelerator.other']],
    ['its GPUs are for those who need them', wantedOf(CPU), placeOf(eight()), ['accelerator.other']],
    [
      'its GPUs are of another maker',
      wantedOf({ ...GPU, accelerator: 'amd' }),
      placeOf(eight()),
      ['accelerator.other'],
    ],
    [
      'its GPUs are of another model',
      wantedOf({ ...GPU, gpu_model: 'NVIDIA L4' }),
      placeOf(eight()),
      ['gpu.other_model'],
    ],
    [
      'it is too small, in every way',
      wantedOf({ ...GPU, gpu_count: 9, vcpu: 65, memory_mib: 300_000, disk_gib: 2_000 }),
      placeOf(eight()),
      Array<string>(4).fill('node.too_small'),
    ],
    [
      'a whole node with more GPUs is another SKU',
      wantedOf({ ...WHOLE, gpu_count: 4 }),
      placeOf(eight()),
      ['gpu.other_count'],
    ],
    [
      'a whole node with other GPUs too is another SKU',
      wantedOf({ ...WHOLE, gpu_count: 4, gpu_model: 'NVIDIA H100' }),
      placeOf(plannedNode({ gpus: [...gpus(4), gpu('9', { model: 'NVIDIA L4' })] })),
      ['gpu.other_count'],
    ],
    ['something is on it', wantedOf(WHOLE), placeOf(eight(), [taken(1)]), ['node.not_empty']],
    [
      'another project left a volume on it',
      wantedOf(WHOLE),
      placeOf(eight(), [], [volume('another')]),
      ['node.foreign_volumes'],
    ],
    [
      'it is held whole',
      wantedOf(GPU),
      placeOf(eight(), [planHold({ kind: 'baremetal' })]),
      ['node.taken_whole'],
    ],
    ['too few GPUs are free', wantedOf(GPU), placeOf(eight(), [taken(7)]), ['gpu.exhausted']],
    [
      'too little of anything is free',
      wantedOf(CPU),
      placeOf(plannedNode(), [planHold({ vcpu: 61, memory_mib: 250_000, disk_gib: 960 })]),
      ['vcpu.exhausted', 'memory.exhausted', 'disk.exhausted'],
    ],
    [
      'volumes keep its disk',
      wantedOf(CPU),
      placeOf(plannedNode(), [], [{ ...volume('another'), disk_gib: 960 }]),
      ['disk.exhausted'],
    ],
    [
      'it has as many allocations as a row has room for',
      wantedOf({ ...CPU, vcpu: 1 }),
      placeOf(
        plannedNode({ vcpu: 4_000 }),
        Array<ReturnType<typeof planHold>>(HOLDS_MAX).fill(planHold({ disk_gib: 0, memory_mib: 1 })),
      ),
      ['node.full'],
    ],
    [
      'the volume is elsewhere',
      wantedOf(CPU, { node_id: OWN }),
      placeOf(plannedNode()),
      ['volume.elsewhere'],
    ],
    [
      'it told nothing of itself',
      wantedOf(CPU),
      placeOf({ ...plannedNode(), inventory: undefined }),
      ['node.no_inventory'],
    ],
  ];

  test.each(refusals)('%s', (_, wanted, place, expected) => {
    expect(codes(wanted, place)).toEqual(expected);
    expect(placeAllocation(wanted, [place]).chosen).toBeUndefined();
  });

  test.each(['pending', 'suspect', 'lost', 'removed'] as const)('it is %s', (status) => {
    expect(codes(wantedOf(CPU), placeOf(plannedNode({}, { status })))).not.toEqual([]);
  });

  test.each(['cordoned', 'draining', 'drained'] as const)('it is %s', (placement) => {
    expect(codes(wantedOf(CPU), placeOf(plannedNode({}, { placement })))).not.toEqual([]);
  });

  test('every detail says what is asked for, and what there is', () => {
    const { reasons } = judgePlace(wantedOf(GPU), placeOf(eight(), [taken(7)]));
    expect(reasons).toEqual([
      { code: 'gpu.exhausted', detail: 'The host has 1 GPUs that would do free; 2 are asked for.' },
    ]);
  });
});

describe('an allocation goes', () => {
  const chosen = (wanted: Wanted, places: Place[]) => placeAllocation(wanted, places).chosen?.place.node.id;

  test('where the fewest GPUs are left, so that large requests still find room', () => {
    const places = [placeOf(eight()), placeOf(eight(), [taken(5)]), placeOf(eight(), [taken(2)])];
    expect(chosen(wantedOf(GPU), places)).toBe(places[1]?.node.id);
  });

  test('where the fewest processors are left, where GPUs decide nothing', () => {
    const places = [
      placeOf(plannedNode()),
      placeOf(plannedNode(), [planHold()]),
      placeOf(plannedNode({ vcpu: 80 })),
    ];
    expect(chosen(wantedOf(CPU), places)).toBe(places[1]?.node.id);
  });

  test('to the first by id, where nothing else decides, in whatever order they are read', () => {
    const places = Array.from({ length: 6 }, () => placeOf(plannedNode()));
    const first = places.map(({ node }) => node.id).sort()[0];
    fc.assert(
      fc.property(fc.shuffledSubarray(places, { minLength: 6 }), (shuffled) => {
        expect(chosen(wantedOf(CPU), shuffled)).toBe(first);
      }),
    );
  });

  test('with a whole node to the smallest that will do, and takes all of it', () => {
    const small = placeOf(plannedNode({ gpus: gpus(8), vcpu: 32 }));
    const { chosen: found } = placeAllocation(wantedOf(WHOLE), [placeOf(eight()), small]);
    expect(found?.place).toBe(small);
    expect(found?.hold).toMatchObject({ kind: 'baremetal', vcpu: 32, memory_mib: 262_144, disk_gib: 1_000 });
    expect(found?.hold.gpu_uuids).toHaveLength(8);
  });

  test('with a whole node also where the project left a volume itself', () => {
    const wanted = wantedOf(WHOLE);
    const place = placeOf(eight(), [], [volume(wanted.project_id)]);
    expect(chosen(wanted, [place])).toBe(place.node.id);
  });

  test('only to the host of the volume it is asked for with', () => {
    const places = Array.from({ length: 4 }, () => placeOf(plannedNode()));
    const node_id = places[2]?.node.id;
    expect(chosen(wantedOf(CPU, { node_id }), places)).toBe(node_id);
  });

  test('without GPUs to a host without GPUs', () => {
    const { chosen: found } = placeAllocation(wantedOf(CPU), [placeOf(eight()), placeOf(plannedNode())]);
    expect(found?.hold.gpu_uuids).toEqual([]);
  });
});

test('reasons are counted by host, the most frequent first', () => {
  const reasons = (...all: string[]) => ({ reasons: all.map((code) => ({ code, detail: '' })) });
  expect(countReasons([reasons('a', 'b', 'b'), reasons('b'), reasons()])).toEqual([
    { code: 'b', host_count: 2 },
    { code: 'a', host_count: 1 },
  ]);
});
