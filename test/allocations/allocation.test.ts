import { describe, expect, test } from 'vitest';
import {
  ALLOCATION_STATUSES,
  askRelease,
  canBecome,
  finishRelease,
  requireActive,
  tellHost,
  tellLeftovers,
  writeOff,
} from '../../functions/allocations/allocation.ts';
import { planSku, requireOffered } from '../../functions/allocations/sku.ts';
import { askRemoval, isMountableOn, planVolume, settleVolume } from '../../functions/allocations/volume.ts';
import { CPU, GPU, NOW, planned, plannedAllocation } from './planned.ts';

const active = plannedAllocation();
const releasing = { ...active, status: 'releasing' as const };
const released = { ...active, status: 'released' as const };
const lost = { ...active, host_status: 'lost' as const };
const REASON = { by: 'user:somebody', reason: 'The rack burned.' };

test('what may follow what', () => {
  const table = Object.fromEntries(
    ALLOCATION_STATUSES.map((from) => [from, ALLOCATION_STATUSES.filter((to) => canBecome(from, to))]),
  );
  expect(table).toEqual({ active: ['releasing', 'released'], releasing: ['released'], released: [] });
});

describe('a release', () => {
  test('is asked for once', () => {
    expect(askRelease(active, 'user:a', NOW)).toMatchObject({
      status: 'releasing',
      release_requested_by: 'user:a',
      version: 2,
    });
    expect(askRelease(releasing, 'user:b', NOW)).toBeUndefined();
    expect(askRelease(released, 'user:b', NOW)).toBeUndefined();
  });

  test('ends when nothing is left, and not before it was asked for', () => {
    expect(finishRelease(active, NOW)).toBeUndefined();
    expect(finishRelease({ ...releasing, leftovers: [{ workload_id: 'w' }] }, NOW)).toBeUndefined();
    expect(finishRelease(releasing, NOW)).toMatchObject({
      status: 'released',
      released_at: NOW.toISOString(),
    });
    expect(finishRelease(released, NOW)).toBeUndefined();
  });

  test('tells what is left, when that changes', () => {
    const leftovers = [{ workload_id: 'w', code: 'left_behind' }];
    const told = tellLeftovers(releasing, leftovers);
    expect(told).toMatchObject({ leftovers });
    expect(told && tellLeftovers(told, leftovers)).toBeUndefined();
  });
});

describe('a write-off', () => {
  test('is for hosts that are lost', () => {
    expect(() => writeOff(active, REASON, NOW)).toThrow(
      expect.objectContaining({ code: 'allocation.host_not_lost' }),
    );
    expect(writeOff(lost, REASON, NOW)).toMatchObject({ status: 'released', written_off: REASON });
    expect(writeOff({ ...lost, status: 'releasing' }, REASON, NOW)).toMatchObject({ status: 'released' });
  });

  test('changes nothing of what was released', () => {
    expect(writeOff(released, REASON, NOW)).toBeUndefined();
  });
});

test('an allocation tells that its host is lost until it is back or the allocation is over', () => {
  expect(tellHost(active, 'lost')).toMatchObject({ host_status: 'lost' });
  expect(tellHost(active, 'ready')).toBeUndefined();
  expect(tellHost(lost, 'ready')).toMatchObject({ host_status: 'ready' });
  expect(tellHost(released, 'lost')).toBeUndefined();
});

test('something new goes only on what is active', () => {
  expect(() => requireActive(active)).not.toThrow();
  for (const other of [releasing, released])
    expect(() => requireActive(other)).toThrow(expect.objectContaining({ code: 'allocation.not_active' }));
});

describe('a SKU', () => {
  test.each([
    ['GPUs without a maker', { ...CPU, gpu_count: 1 }, ['/gpu_count']],
    ['a model without a maker', { ...CPU, gpu_model: 'NVIDIA H100' }, ['/gpu_model']],
    ['a maker without GPUs', { ...GPU, gpu_count: 0 }, ['/gpu_count']],
  ])('does not name %s', (_, wanted, pointers) => {
    const plan = () => planSku(undefined, 'a-sku', wanted, 'user:somebody', NOW);
    expect(plan).toThrow(
      expect.objectContaining({ faults: pointers.map((pointer) => expect.objectContaining({ pointer })) }),
    );
  });

  test('is asked for while it is offered', () => {
    expect(requireOffered(planned())).toEqual(planned());
    expect(() => requireOffered(planned({ status: 'retired' }))).toThrow(
      expect.objectContaining({ code: 'sku.retired' }),
    );
    expect(() => requireOffered(undefined)).toThrow(expect.objectContaining({ code: 'sku.unknown' }));
  });
});

describe('a volume', () => {
  const asked = { allocation_id: active.id, size_gib: 10 };
  const creating = planVolume({ id: 'v', task_id: 't-1' }, asked, active, 'user:somebody', NOW);
  const ready = { ...creating, status: 'ready' as const };
  const removing = { ...ready, status: 'removing' as const, task_id: 't-2' };

  test('can be mounted on an allocation of its project on its host, and on no other', () => {
    expect(isMountableOn(ready, active)).toBe(true);
    expect(isMountableOn(ready, plannedAllocation({ ...active, org_id: active.org_id }))).toBe(true);
    expect(isMountableOn(creating, active)).toBe(false);
    expect(isMountableOn(ready, releasing)).toBe(false);
    expect(isMountableOn(ready, { ...active, project_id: 'another' })).toBe(false);
    expect(isMountableOn(ready, { ...active, node_id: 'another' })).toBe(false);
  });

  const failed = { ...creating, status: 'failed' as const, failure_code: 'disk_full' };
  const stuck = { ...removing, failure_code: 'deadline_passed' };

  test.each([
    ['is ready when the host has made it', creating, { isDone: true }, { status: 'ready' }],
    [
      'has failed when the host did not make it',
      creating,
      { isDone: false, code: 'disk_full' },
      { status: 'failed', failure_code: 'disk_full' },
    ],
    ['is ready when the host made it after all', failed, { isDone: true }, { status: 'ready' }],
    ['is gone when the host has removed it', removing, { isDone: true }, 'gone'],
    ['is gone when the host has removed it after all', stuck, { isDone: true }, 'gone'],
    ['is gone when the host never knew it', removing, { isDone: false, code: 'volume_unknown' }, 'gone'],
    [
      'stays when something uses it',
      removing,
      { isDone: false, code: 'volume_in_use' },
      { status: 'ready', failure_code: 'volume_in_use' },
    ],
    [
      'is not mounted any more when nobody knows what is left of it',
      removing,
      { isDone: false, code: 'deadline_passed' },
      { status: 'removing', failure_code: 'deadline_passed' },
    ],
  ])('%s', (_, volume, answer, expected) => {
    const settled = settleVolume(volume, { task_id: volume.task_id, ...answer });
    if (typeof expected === 'string') expect(settled).toBe(expected);
    else expect(settled).toMatchObject(expected);
    expect(settled).not.toMatchObject({ status: 'ready', failure_code: 'disk_full' });
  });

  test.each([
    ['to what was asked before', removing, { task_id: 't-1', isDone: true }],
    ['that was given before', ready, { task_id: 't-1', isDone: true }],
    ['that was given before, of a failure', failed, { task_id: 't-1', isDone: false, code: 'disk_full' }],
    ['of a removal that failed before', stuck, { task_id: 't-2', isDone: false, code: 'internal' }],
  ])('takes no notice of an answer %s', (_, volume, answer) => {
    expect(settleVolume(volume, answer)).toBeUndefined();
  });

  test('is asked away once, again where that failed, and not while it is made', () => {
    expect(askRemoval(ready, 't-2')).toMatchObject({ status: 'removing', task_id: 't-2' });
    expect(askRemoval(failed, 't-2')).not.toHaveProperty('failure_code');
    expect(askRemoval(removing, 't-3')).toBeUndefined();
    expect(askRemoval(stuck, 't-3')).toMatchObject({ status: 'removing', task_id: 't-3' });
    expect(() => askRemoval(creating, 't-2')).toThrow(expect.objectContaining({ code: 'volume.not_ready' }));
  });
});
