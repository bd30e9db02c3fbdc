import type { DynamoDBRecord } from 'aws-lambda';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { DEEP } from '../deep.ts';
import { testRoughness } from '../rough.ts';
import { openRelayWorld, type RelayWorld } from './relay-world.ts';

let world: RelayWorld;
/** Where calls are counted, none is made twice by chance. */
let isCounting = false;
const rough = testRoughness();

beforeAll(async () => {
  // What fails below is logged, as it should be; this run need not show it.
  process.stdout.write = () => true;
  world = await openRelayWorld({ roughness: (what) => !isCounting && rough(what) });
});

afterAll(() => world.close());

const newPlace = () => ({ org_id: newId(), project_id: newId() });

/** What is on the feed of a project: each event's id by its number. */
const onFeed = async (place: string) =>
  (await world.feed(place)).map(({ sequence, event_id }) => [sequence, event_id]);
const numbered = (ids: string[]) => ids.map((id, index) => [index + 1, id]);

const onBus = (project_id: string) =>
  world
    .bus()
    .map(({ detail }) => detail as { event_id: string; sequence: number; project_id: string })
    .filter((event) => event.project_id === project_id);

const correlationOf = ({ dynamodb }: DynamoDBRecord) =>
  dynamodb?.NewImage?.['event']?.M?.['correlation_id']?.S;

/** The first time each was there: what comes again is known by its id. */
const firsts = (ids: string[]) => [...new Set(ids)];

describe('the relay', () => {
  test('puts what happened on the feed of its place and on the bus, numbered in order', async () => {
    const place = newPlace();
    const ids = [
      ...(await world.say(place, 'a.b.first', 'a.b.second')),
      ...(await world.say(place, 'a.b.third')),
    ];
    const records = await world.take();
    expect(await world.handler({ Records: records })).toEqual({ batchItemFailures: [] });

    expect(await onFeed(place.project_id)).toEqual(numbered(ids));
    const [first] = await world.feed(place.project_id);
    expect(first).toMatchObject({ type: 'a.b.first', actor: 'user:u1', ...place });
    expect(Number(first?.['expires_at']) - Date.now() / 1000).toBeCloseTo(90 * 24 * 3600, -2);

    expect(onBus(place.project_id).map(({ event_id, sequence }) => [sequence, event_id])).toEqual(
      numbered(ids),
    );
    expect(world.bus().at(-1)).toMatchObject({
      name: 'arn:aws:events:us-east-1:000000000000:event-bus/events',
      source: 'gpuaas',
      'detail-type': 'a.b.third',
    });
  });

  test('keeps one feed for each project, one for each organisation and one for the platform', async () => {
    const { org_id, project_id } = newPlace();
    const [inProject] = await world.say({ org_id, project_id }, 'a.b.c');
    const [inOrg] = await world.say({ org_id }, 'a.b.c');
    const [onPlatform] = await world.say({}, 'a.b.c');
    await world.handler({ Records: await world.take() });
    expect(await onFeed(project_id)).toEqual([[1, inProject]]);
    expect(await onFeed(org_id)).toEqual([[1, inOrg]]);
    expect((await onFeed('platform')).map(([, id]) => id)).toContain(onPlatform);
  });

  test('costs three requests of the table a place, however many events came at once, one for who follows, and the bus by ten', async () => {
    const place = newPlace();
    await world.say(place, ...Array.from({ length: 25 }, (_, index) => `a.b.n${index}`));
    const records = await world.take();
    const before = world.calls();
    world.busRequests.length = 0;
    isCounting = true;
    await world.handler({ Records: records });
    isCounting = false;
    expect(world.calls() - before).toBe(3 + 1 + 3);
    expect(world.busRequests).toEqual([10, 10, 5]);
  });

  test('sends large events to the bus in requests it takes', async () => {
    const place = newPlace();
    const large = (type: string) => ({ type, version: 1, data: { text: 'x'.repeat(60_000) } });
    const ids = await world.say(
      place,
      large('a.b.one'),
      large('a.b.two'),
      large('a.b.three'),
      large('a.b.four'),
    );
    world.busRequests.length = 0;
    await world.handler({ Records: await world.take() });
    expect(onBus(place.project_id).map(({ event_id }) => event_id)).toEqual(ids);
    expect(world.busRequests).toEqual([3, 1]);
  });

  test('gives an event that comes again the number it has', async () => {
    const place = newPlace();
    const ids = await world.say(place, 'a.b.first', 'a.b.second');
    const records = await world.take();
    await world.handler({ Records: records });
    await world.handler({ Records: [...records, ...records] });
    await world.handler({ Records: records.slice(1) });
    const later = await world.say(place, 'a.b.third');
    await world.handler({ Records: [...records, ...(await world.take())] });
    expect(await onFeed(place.project_id)).toEqual(numbered([...ids, ...later]));
    for (const { event_id, sequence } of onBus(place.project_id)) {
      expect(sequence).toBe([...ids, ...later].indexOf(event_id) + 1);
    }
  });

  test('keeps the order in which one change said things, in whatever order the stream has them', async () => {
    const place = newPlace();
    const ids = await world.say(place, 'a.b.first', 'a.b.second', 'a.b.third');
    const records = await world.take();
    await world.handler({ Records: [records[2], records[0], records[1]] as DynamoDBRecord[] });
    expect(await onFeed(place.project_id)).toEqual(numbered(ids));
    expect(onBus(place.project_id).map(({ event_id }) => event_id)).toEqual(ids);
  });

  test('keeps that order, too, where a batch ends within the change', async () => {
    const place = newPlace();
    const ids = await world.say(place, 'a.b.before');
    ids.push(...(await world.say(place, 'a.b.first', 'a.b.second', 'a.b.third')));
    const [before, first, second, third] = (await world.take()) as [
      DynamoDBRecord,
      DynamoDBRecord,
      DynamoDBRecord,
      DynamoDBRecord,
    ];
    for (const batch of [[before, third], [first], [second]])
      expect(await world.handler({ Records: batch })).toEqual({ batchItemFailures: [] });
    expect(await onFeed(place.project_id)).toEqual(numbered(ids));
    expect(firsts(onBus(place.project_id).map(({ event_id }) => event_id))).toEqual(ids);
  });

  test('finds the rest of a change that alone is more than a transaction takes', async () => {
    const place = newPlace();
    const ids = await world.say(place, ...Array.from({ length: 60 }, (_, index) => `a.b.n${index}`));
    const records = await world.take();
    expect(await world.handler({ Records: records.slice(-1) })).toEqual({ batchItemFailures: [] });
    expect(await onFeed(place.project_id)).toEqual(numbered(ids));
  });

  test('raced by others with the same records leaves each event once and tells all the same number', async () => {
    const places = [newPlace(), newPlace()];
    const ids = new Map<string, string[]>();
    for (let round = 0; round < 5; round += 1) {
      for (const place of places) {
        const said = await world.say(place, `a.b.r${round}`, 'a.b.also');
        ids.set(place.project_id, [...(ids.get(place.project_id) ?? []), ...said]);
      }
    }
    const records = await world.take();
    const answers = await Promise.all(
      [records, records, records.slice(0, 7), records].map((some) => world.deliver(some)),
    );
    expect(answers.flat()).toEqual([]);
    for (const { project_id } of places) {
      const said = ids.get(project_id) ?? [];
      expect(await onFeed(project_id)).toEqual(numbered(said));
      for (const { event_id, sequence } of onBus(project_id))
        expect(sequence).toBe(said.indexOf(event_id) + 1);
    }
  });

  test('goes on while the bus is away, and tells it what it missed before anything newer', async () => {
    const place = newPlace();
    world.takeBusAway(true);
    const missed = Array.from({ length: 130 }, (_, index) => `a.b.n${index}`);
    const ids: string[] = [];
    for (let start = 0; start < missed.length; start += 26) {
      ids.push(...(await world.say(place, ...missed.slice(start, start + 26))));
      expect(await world.deliver(await world.take())).toEqual([]);
    }
    world.takeBusAway(false);
    expect(await onFeed(place.project_id)).toEqual(numbered(ids));
    expect(onBus(place.project_id)).toEqual([]);
    expect(await world.head(place.project_id)).toMatchObject({ sequence: 130, relayed: 0 });

    ids.push(...(await world.say(place, 'a.b.after')));
    expect(await world.deliver(await world.take())).toEqual([]);
    expect(onBus(place.project_id).map(({ event_id }) => event_id)).toEqual(ids);
    expect(await world.head(place.project_id)).toMatchObject({ sequence: 131, relayed: 131 });
  });

  test('leaves a bus that is away alone for a moment, instead of waiting for it with every batch', async () => {
    const place = newPlace();
    world.refuseOnBus(1);
    world.busRequests.length = 0;
    for (const type of ['a.b.one', 'a.b.two', 'a.b.three']) {
      await world.say(place, type);
      expect(await world.deliver(await world.take())).toEqual([]);
    }
    expect(world.busRequests).toEqual([1]);
    expect(await world.head(place.project_id)).toMatchObject({ sequence: 3, relayed: 0 });
    world.askBusAgain();
  });

  test('tells the bus again what it did not take for now', async () => {
    const [calm, troubled] = [newPlace(), newPlace()];
    const first = await world.say(troubled, 'a.b.first', 'a.b.second');
    world.refuseOnBus(1);
    expect(await world.deliver(await world.take())).toEqual([]);
    world.askBusAgain();
    const [calmId] = await world.say(calm, 'a.b.c');
    const last = await world.say(troubled, 'a.b.third');
    expect(await world.deliver(await world.take())).toEqual([]);
    expect(firsts(onBus(troubled.project_id).map(({ event_id }) => event_id))).toEqual([...first, ...last]);
    expect(onBus(calm.project_id).map(({ event_id }) => event_id)).toContain(calmId);
  });

  test('comes again to what DynamoDB was too busy to read, and does not take it for gone', async () => {
    const place = newPlace();
    const ids = await world.say(place, 'a.b.first', 'a.b.second');
    const records = await world.take();
    world.beTooBusyToRead(1);
    expect(await world.deliver(records)).toEqual([]);
    expect(await onFeed(place.project_id)).toEqual(numbered(ids));
    expect(firsts(onBus(place.project_id).map(({ event_id }) => event_id))).toEqual(ids);
  });

  test('sets aside an event nobody can read, and that one alone', async () => {
    const [place, other] = [newPlace(), newPlace()];
    const [first = '', bad = '', last = ''] = [
      ...(await world.say(place, 'a.b.first')),
      ...(await world.say(place, 'a.b.bad')),
      ...(await world.say(place, 'a.b.last')),
    ];
    const elsewhere = await world.say(other, 'a.b.c');
    const records = await world.take();
    await world.put({ pk: `OUTBOX#${place.project_id}`, sk: bad, kind: 'event', event: { type: 7 } });
    expect(await world.deliver(records, 1)).toEqual([]);
    expect(await onFeed(place.project_id)).toEqual(numbered([first, last]));
    expect(onBus(place.project_id).map(({ event_id }) => event_id)).toEqual([first, last]);
    expect(await onFeed(other.project_id)).toEqual(numbered(elsewhere));

    const setAside = await world.received('again');
    expect(setAside).toMatchObject([{ place: place.project_id, event_id: bad }]);
    expect(await world.relayAgain(setAside)).toHaveLength(1);
    expect(await world.received('failures')).toEqual([]);
    expect(await world.relayAgain(setAside, 5)).toEqual([]);
    expect(await world.received('failures')).toMatchObject([{ place: place.project_id, event_id: bad }]);
  });

  test('sets aside what the bus never takes, and puts it there when it comes again and does', async () => {
    const place = newPlace();
    const ids = await world.say(place, 'a.b.first', 'a.b.unwelcome', 'a.b.last');
    const records = await world.take();
    world.unwelcome.add('a.b.unwelcome');
    expect(await world.deliver(records, 1)).toEqual([]);
    const setAside = await world.received('again');
    expect(setAside).toMatchObject([{ place: place.project_id, event_id: ids[1] }]);
    expect(await world.relayAgain(setAside)).toHaveLength(1);
    expect(onBus(place.project_id).map(({ sequence }) => sequence)).toEqual([1, 3]);
    world.unwelcome.clear();
    expect(await world.relayAgain(setAside)).toEqual([]);
    expect(onBus(place.project_id).map(({ sequence }) => sequence)).toEqual([1, 3, 2]);
    expect(await onFeed(place.project_id)).toEqual(numbered(ids));
  });

  test('sets aside the events of a place whose feed cannot be read, and nobody else’s', async () => {
    const [place, other] = [newPlace(), newPlace()];
    await world.put({ pk: `FEED#${place.project_id}`, sk: 'HEAD', sequence: 'many' });
    const [id] = await world.say(place, 'a.b.c');
    const elsewhere = await world.say(other, 'a.b.c');
    expect(await world.deliver(await world.take(), 1)).toEqual([]);
    expect(await onFeed(other.project_id)).toEqual(numbered(elsewhere));
    expect(await world.received('again')).toMatchObject([{ place: place.project_id, event_id: id }]);
  });

  test('passes over rows that are gone', async () => {
    const record = { dynamodb: { SequenceNumber: '1', Keys: { pk: { S: 'OUTBOX#x' }, sk: { S: newId() } } } };
    expect(await world.handler({ Records: [record] })).toEqual({ batchItemFailures: [] });
  });
});

test('a relay in an outage names what it has not relayed, by which the stream knows where to go on', async () => {
  await world.say(newPlace(), 'a.b.first', 'a.b.second');
  const records = await world.take();
  world.dieAt(1, 'before');
  const outcome = await world.handler({ Records: records });
  world.live();
  expect(outcome).toEqual({
    batchItemFailures: records.map(({ dynamodb }) => ({ itemIdentifier: dynamodb?.SequenceNumber })),
  });
  expect(records[0]?.dynamodb?.SequenceNumber).toMatch(/\d/);
  expect(await world.deliver(records)).toEqual([]);
});

describe('a relay that dies', () => {
  const moments = ['before', 'after'] as const;

  test.each(moments)(
    '%s any of its calls has lost nothing and doubled nothing when it comes again',
    async (moment) => {
      for (let call = 1; ; call += 1) {
        const [place, other] = [newPlace(), newPlace()];
        const ids = [
          ...(await world.say(place, 'a.b.first', 'a.b.second')),
          ...(await world.say(place, 'a.b.third')),
        ];
        const others = await world.say(other, 'a.b.c');
        const records = await world.take();
        world.dieAt(call, moment);
        const outcome = await world.handler({ Records: records }).catch(() => 'died');
        world.live();
        const isWhole = typeof outcome !== 'string' && outcome.batchItemFailures.length === 0;

        expect(await world.deliver(records)).toEqual([]);
        expect(await onFeed(place.project_id)).toEqual(numbered(ids));
        expect(await onFeed(other.project_id)).toEqual(numbered(others));
        expect(firsts(onBus(place.project_id).map(({ event_id }) => event_id))).toEqual(ids);
        expect(firsts(onBus(other.project_id).map(({ event_id }) => event_id))).toEqual(others);
        if (isWhole) return expect(call).toBeGreaterThan(6);
      }
    },
  );
});

describe('order', () => {
  test('holds in every place, whatever comes again, together or in pieces, and whenever the relay dies', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ place: fc.nat(4), size: fc.integer({ min: 2, max: 3 }) }), {
          minLength: 60,
          maxLength: 90,
        }),
        fc.array(
          fc.record({
            batch: fc.integer({ min: 1, max: 25 }),
            again: fc.nat(10),
            racing: fc.boolean(),
            deadAt: fc.option(fc.integer({ min: 1, max: 40 })),
          }),
          { minLength: 1, maxLength: 20 },
        ),
        async (changes, deliveries) => {
          const places = Array.from({ length: 5 }, newPlace);
          const said = places.map((): string[] => []);
          for (const { place, size } of changes) {
            const types = Array.from({ length: size }, (_, index) => `a.b.n${index}`);
            said[place]?.push(...(await world.say(places[place] ?? {}, ...types)));
          }
          // AWS keeps the order of changes in a place, but not that of the events of one change.
          const streamed = Map.groupBy(await world.take(), correlationOf);
          const records = [...streamed.values()].flatMap((ofChange) => ofChange.toReversed());
          let done = 0;
          for (let turn = 0; done < records.length; turn += 1) {
            const { batch, again, racing, deadAt } = deliveries[turn % deliveries.length] ?? {
              batch: 25,
              again: 0,
              racing: false,
              deadAt: null,
            };
            const end = Math.min(done + batch, records.length);
            // What was delivered before may come again before what is new.
            const batchRecords = records.slice(Math.max(0, done - again), end);
            if (deadAt !== null && turn < deliveries.length) {
              world.dieAt(deadAt, turn % 2 === 0 ? 'before' : 'after');
              await world.handler({ Records: batchRecords }).catch(() => undefined);
              world.live();
            }
            const runs = racing ? [batchRecords, batchRecords] : [batchRecords];
            await Promise.all(runs.map((each) => world.deliver(each)));
            done = end;
          }
          for (const [index, { project_id }] of places.entries()) {
            const ids = said[index] ?? [];
            expect(await onFeed(project_id)).toEqual(numbered(ids));
            expect(firsts(onBus(project_id).map(({ event_id }) => event_id))).toEqual(ids);
          }
        },
      ),
      { numRuns: DEEP ? 20 : 1 },
    );
  }, 120_000);
});
