import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { openRelayWorld, REACTED, type RelayWorld } from './relay-world.ts';

let world: RelayWorld;

beforeAll(async () => {
  process.stdout.write = () => true;
  world = await openRelayWorld();
});

afterAll(() => world.close());

const newPlace = () => ({ org_id: newId(), project_id: newId() });
const idsIn = (messages: Record<string, unknown>[]) => messages.map(({ event_id }) => String(event_id));

describe('the dispatcher', () => {
  test('points each domain to what it reacts to, and nobody to anything else', async () => {
    const place = newPlace();
    const [reacted, both, other] = await world.say(
      place,
      'a.b.reacted',
      'a.b.both',
      'a.b.other',
      'a.b.nobody',
    );
    await world.dispatch({ Records: await world.take() });
    expect(idsIn(await world.received('ones')).sort()).toEqual([reacted, both]);
    expect(idsIn(await world.received('others')).sort()).toEqual([both, other]);
  });

  test('says where an event lies and what it is, never what it says', async () => {
    const place = newPlace();
    const [event_id] = await world.say(place, {
      type: 'a.b.reacted',
      version: 1,
      data: { text: 'for the domain alone' },
    });
    await world.dispatch({ Records: await world.take() });
    const [message] = await world.received('ones');
    expect(message).toEqual({
      place: place.project_id,
      event_id,
      type: 'a.b.reacted',
      correlation_id: expect.any(String) as string,
      traceparent: expect.stringMatching(/^00-a{32}-/) as string,
    });
  });

  test('sends by ten and remembers by twenty-five, whatever the places', async () => {
    for (let change = 0; change < 3; change += 1)
      await world.say(newPlace(), ...Array.from({ length: 20 }, () => 'a.b.reacted'));
    const records = await world.take();
    const before = world.calls();
    await world.dispatch({ Records: records });
    expect(world.calls() - before).toBe(6 + 3);
    expect(await world.received('ones')).toHaveLength(60);
  });

  test.each(['before', 'after'] as const)(
    'that dies %s any of its calls has lost nothing when it comes again',
    async (moment) => {
      for (let call = 1; ; call += 1) {
        const place = newPlace();
        const types = Array.from({ length: 12 }, (_, index) => REACTED.ones[index % 2] ?? '');
        const ids = await world.say(place, ...types);
        const records = await world.take();
        world.dieAt(call, moment);
        const isWhole = await world.dispatch({ Records: records }).then(
          () => true,
          () => false,
        );
        world.live();
        await world.dispatch({ Records: records });
        expect([...new Set(idsIn(await world.received('ones')))].sort()).toEqual(ids);
        expect(new Set(idsIn(await world.received('others'))).size).toBe(6);
        if (isWhole) return expect(call).toBeGreaterThan(3);
      }
    },
  );

  test('passes over a row that is no event, and tells of the others', async () => {
    const place = newPlace();
    const [id] = await world.say(place, 'a.b.reacted');
    const [good] = await world.take();
    const bad = {
      dynamodb: {
        SequenceNumber: '1',
        Keys: { pk: { S: `OUTBOX#${place.project_id}` }, sk: { S: newId() } },
        NewImage: { kind: { S: 'event' }, event: { M: { type: { N: '7' } } } },
      },
    };
    if (!good) throw new Error('There is no record.');
    expect(await world.dispatch({ Records: [bad, good] })).toEqual({ batchItemFailures: [] });
    expect(idsIn(await world.received('ones'))).toEqual([id]);
  });
});
