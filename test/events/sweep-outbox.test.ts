import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { outboxShard } from '../../functions/platform/data/keys.ts';
import { isUndispatched, isUnrelayed, type Swept, sweepBefore } from '../../functions/events/outbox-sweep.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { openRelayWorld, type RelayWorld } from './relay-world.ts';

let world: RelayWorld;

beforeAll(async () => {
  process.stdout.write = () => true;
  // What is swept here was just written, as if long ago: its index has had the time to see it.
  world = await openRelayWorld({ roughness: SMOOTH });
});

beforeEach(async () => {
  await world.take();
  for (const queue of ['ones', 'others', 'again', 'failures'] as const) await world.received(queue);
});

afterAll(() => world.close());

const newPlace = () => ({ org_id: newId(), project_id: newId() });
const idsIn = (messages: Record<string, unknown>[]) => messages.map(({ event_id }) => String(event_id));
const onFeed = async (place: string) => (await world.feed(place)).map(({ event_id }) => event_id);
const onBus = (place: string) =>
  world
    .bus()
    .map(({ detail }) => detail as { event_id: string; project_id: string })
    .filter(({ project_id }) => project_id === place)
    .map(({ event_id }) => event_id);

describe('what the sweep finds', () => {
  const row: Swept = {
    place: 'p',
    event_id: 'e',
    isReactedTo: true,
    isDispatched: true,
    sequence: 5,
    relayed: 5,
  };

  test.each<[string, Partial<Swept>, boolean, boolean]>([
    ['finished', {}, false, false],
    ['that was never numbered', { sequence: undefined }, true, false],
    ['that the bus was not told of', { relayed: 4 }, true, false],
    ['that nobody was pointed to', { isDispatched: false }, false, true],
    ['that nobody reacts to', { isDispatched: false, isReactedTo: false }, false, false],
  ])('an event %s', (_, difference, unrelayed, undispatched) => {
    expect(isUnrelayed({ ...row, ...difference })).toBe(unrelayed);
    expect(isUndispatched({ ...row, ...difference })).toBe(undispatched);
  });

  test('is older than the time relay and dispatcher are given', () => {
    const now = new Date('2026-11-17T12:00:00.000Z');
    const bound = sweepBefore(now);
    const idAt = (minutes: number) => {
      const ms = (now.getTime() - minutes * 60_000).toString(16).padStart(12, '0');
      return `${ms.slice(0, 8)}-${ms.slice(8)}-7abc-8def-0123456789ab`;
    };
    expect(idAt(16) < bound).toBe(true);
    expect(idAt(14) < bound).toBe(false);
  });
});

describe('the sweep', () => {
  test('finishes what no stream told of, in order, as if it had', async () => {
    const place = newPlace();
    const ids = [
      ...(await world.sayBefore(62, place, 'a.b.first', 'a.b.reacted')),
      ...(await world.sayBefore(61, place, 'a.b.both')),
    ];
    await world.sweep();
    expect(await onFeed(place.project_id)).toEqual(ids);
    expect(onBus(place.project_id)).toEqual(ids);
    expect(idsIn(await world.received('ones')).sort()).toEqual(ids.slice(1));
    expect(idsIn(await world.received('others'))).toEqual(ids.slice(2));
  });

  test('leaves alone what is new, and what was done', async () => {
    const [old, fresh] = [newPlace(), newPlace()];
    await world.sayBefore(60, old, 'a.b.reacted');
    const records = await world.take();
    await world.handler({ Records: records });
    await world.dispatch({ Records: records });
    await world.received('ones');
    await world.say(fresh, 'a.b.reacted');
    await world.sweep();
    expect(onBus(old.project_id)).toHaveLength(1);
    expect(await onFeed(fresh.project_id)).toEqual([]);
    expect(await world.received('ones')).toEqual([]);
  });

  test('run twice does nothing the second time, and looks at nothing again', async () => {
    const place = newPlace();
    await world.sayBefore(60, place, ...Array.from({ length: 80 }, () => 'a.b.reacted'));
    await world.sweep();
    expect(await world.received('ones')).toHaveLength(80);
    const before = world.calls();
    await world.sweep();
    // How far it had come, and that nothing came since, in each of four shards.
    expect(world.calls() - before).toBe(4 * 2);
    expect(await world.received('ones')).toEqual([]);
    expect(onBus(place.project_id)).toHaveLength(80);
  });

  test('tells a bus that was away what it missed, and comes back until it could', async () => {
    const place = newPlace();
    const ids = await world.sayBefore(60, place, 'a.b.first', 'a.b.second');
    world.takeBusAway(true);
    await world.handler({ Records: await world.take() });
    await world.sweep();
    expect(await onFeed(place.project_id)).toEqual(ids);
    expect(onBus(place.project_id)).toEqual([]);
    world.takeBusAway(false);
    await world.sweep();
    expect(onBus(place.project_id)).toEqual(ids);
  });

  test('sets aside what it cannot finish, once, and goes on', async () => {
    const place = newPlace();
    const [bad = '', good] = await world.sayBefore(60, place, 'a.b.bad', 'a.b.good');
    await world.put({
      pk: `OUTBOX#${place.project_id}`,
      sk: bad,
      kind: 'event',
      event: { type: 7 },
      gsi1pk: outboxShard(place.project_id),
      gsi1sk: bad,
    });
    await world.sweep();
    await world.sweep();
    expect(await onFeed(place.project_id)).toEqual([good]);
    expect(idsIn(await world.received('again'))).toEqual([bad]);
  });

  test('that dies at any of its calls is finished by the next', async () => {
    for (let call = 1; ; call += 3) {
      const place = newPlace();
      const ids = await world.sayBefore(60, place, 'a.b.first', 'a.b.reacted', 'a.b.third');
      world.dieAt(call, call % 2 === 0 ? 'before' : 'after');
      await Promise.resolve(world.sweep()).catch(() => undefined);
      world.live();
      await world.sweep();
      expect(await onFeed(place.project_id)).toEqual(ids);
      expect([...new Set(onBus(place.project_id))]).toEqual(ids);
      expect([...new Set(idsIn(await world.received('ones')))]).toEqual([ids[1]]);
      if (call > 24) return;
    }
  });
});
