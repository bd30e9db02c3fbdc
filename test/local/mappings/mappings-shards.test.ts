import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Roughness } from '../../../lib/local/wire/roughness.ts';
import { until } from '../../until.ts';
import type { Recorder } from '../lambda/lambda-world.ts';
import { batches, idsOf, PLACES, type StreamEvent, StreamWorld, THERE } from './stream-world.ts';

const world = new StreamWorld();

beforeAll(() => world.openStreams());
afterEach(() => world.restart());
afterAll(() => world.close());

const at = (place: string) => ({ place: { S: place } });
const placesOf = ({ Records }: StreamEvent) =>
  Records.map(({ dynamodb }) => (dynamodb.Keys['place'] as { S: string }).S);
const delivered = (target: Recorder) => batches(target).flat();

/** From now on the function fails at nothing. */
const mend = ({ spec }: Recorder) =>
  world.hosted.put({ ...spec, environment: { ...spec.environment, FAIL_ON: 'nothing' } });

/** It happens once. */
function once(): Roughness {
  let isDue = true;
  return (what) => {
    const happens = isDue && what === 'redelivered';
    if (happens) isDue = false;
    return happens;
  };
}

test('records of different shards are never in one batch, and those of one shard stay in order', async () => {
  const { target, spec } = await world.follow('spread', { enabled: false });
  for (const id of ['a', 'b', 'c']) for (const place of PLACES) await world.put('spread', id, at(place));
  world.current.put({ ...spec, enabled: true });
  await until(() => delivered(target).length === 3 * PLACES.length);
  const events = target.invocations<StreamEvent>().map(({ event }) => event);
  expect(events.map((event) => new Set(placesOf(event)).size)).toEqual(events.map(() => 1));
  for (const place of PLACES) {
    const ids = events.filter((event) => placesOf(event).includes(place)).flatMap(idsOf);
    expect(ids).toEqual(['a', 'b', 'c']);
  }
});

test('a batch that keeps failing holds up its own shard and no other: what was written later comes first', async () => {
  const { target } = await world.follow('held-up', {}, { environment: { FAIL_ON: 'poison' } });
  await world.put('held-up', 'poison');
  await world.put('held-up', 'behind');
  for (const place of PLACES.slice(1)) await world.put('held-up', `later-${place}`, at(place));
  await until(() => PLACES.slice(1).every((place) => delivered(target).includes(`later-${place}`)));
  const before = batches(target);
  expect(before.flat()).toContain('poison');
  expect(before.filter((ids) => ids.includes('behind')).every(([first]) => first === 'poison')).toBe(true);
  mend(target);
  await until(() => batches(target).length > before.length && delivered(target).includes('behind'));
});

test('what is given up is told by its shard', async () => {
  const { target, spec } = await world.follow(
    'told',
    { retriesMax: 0 },
    { environment: { FAIL_ON: 'poison' } },
  );
  const { next } = await world.destination('told-failures', target, spec);
  const shards = new Set<string>();
  for (const place of PLACES) {
    await world.put('told', 'poison', at(place));
    const { DDBStreamBatchInfo } = await next();
    shards.add(DDBStreamBatchInfo.shardId);
  }
  expect([...shards].map((shard) => shard.slice(-2))).toEqual(['-0', '-1', '-2', '-3']);
});

test('after a crash a shard gets what it had not dealt with, and the others nothing twice', async () => {
  const { target, spec } = await world.follow('crashed', {}, { environment: { FAIL_ON: 'poison' } });
  await world.put('crashed', 'poison');
  await world.put('crashed', 'done', at(THERE));
  await world.put('crashed', 'behind');
  await until(() => delivered(target).includes('done') && delivered(target).includes('poison'));
  await world.current.stop();
  mend(target);
  await world.put('crashed', 'after', at(THERE));
  const before = batches(target).length;
  await world.restart([spec]);
  await until(() => delivered(target).includes('after') && batches(target).length >= before + 2);
  expect(batches(target).slice(before).flat().toSorted()).toEqual(['after', 'behind', 'poison']);
  expect(delivered(target).filter((id) => id === 'done')).toEqual(['done']);
});

test('with a parallelization factor an item waits for its own records and for no others', async () => {
  const { target } = await world.follow(
    'parallel',
    { parallelizationFactor: 2, batchSize: 1 },
    { environment: { FAIL_ON: 'poison' } },
  );
  await world.put('parallel', 'a', { note: { S: 'poison' } });
  await world.put('parallel', 'a', { note: { S: 'second' } });
  for (const id of ['b', 'c', 'd']) await world.put('parallel', id);
  await until(() => ['a', 'b', 'c', 'd'].every((id) => delivered(target).includes(id)));
  const notes = () =>
    target
      .invocations<StreamEvent>()
      .flatMap(({ event }) => event.Records)
      .flatMap(({ dynamodb }) => (dynamodb.NewImage?.['note'] as { S: string } | undefined)?.S ?? []);
  expect(new Set(notes())).toEqual(new Set(['poison']));
  mend(target);
  await until(() => notes().includes('second'));
});

test('a crash amid parallel batches loses none of them', async () => {
  const { target, spec } = await world.follow(
    'parallel-crash',
    { parallelizationFactor: 2, batchSize: 1 },
    { environment: { FAIL_ON: 'poison' } },
  );
  await world.put('parallel-crash', 'poison');
  for (const id of ['b', 'c']) await world.put('parallel-crash', id);
  await until(() => ['b', 'c'].every((id) => delivered(target).includes(id)));
  await world.current.stop();
  mend(target);
  const before = batches(target).length;
  await world.restart([spec]);
  await until(() => batches(target).slice(before).flat().includes('poison'));
});

test('a batch whose answer was lost comes again, cut in another way, before what follows it', async () => {
  const { target, spec } = await world.follow('again', { enabled: false }, { before: ['a', 'b', 'c', 'd'] });
  await world.restart([{ ...spec, enabled: true, batchSize: 3 }], { roughness: once() });
  await until(() => delivered(target).includes('d'));
  expect(batches(target)).toEqual([['a', 'b', 'c'], ['a', 'b'], ['c'], ['d']]);
});
