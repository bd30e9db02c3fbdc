import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { until } from '../../until.ts';
import { batches, HERE, mappingSpec, readStream, type StreamEvent, StreamWorld } from './stream-world.ts';

const world = new StreamWorld();

beforeAll(() => world.openStreams());
afterEach(async () => {
  vi.restoreAllMocks();
  await world.restart();
});
afterAll(() => world.close());

test('changes reach the function as AWS would hand them over', async () => {
  const { target, spec } = await world.follow('shape');
  const key = { place: { S: HERE }, id: { S: 'a' } };
  const item = {
    ...key,
    number: { N: '12.50' },
    bytes: { B: Buffer.from([1, 2]) },
    byteSet: { BS: [Buffer.from([3])] },
    nested: { M: { list: { L: [{ BOOL: true }, { NULL: true }, { B: Buffer.from([4]) }] } } },
  };
  const wire = {
    ...key,
    number: { N: '12.5' },
    bytes: { B: 'AQI=' },
    byteSet: { BS: ['Aw=='] },
    nested: { M: { list: { L: [{ BOOL: true }, { NULL: true }, { B: 'BA==' }] } } },
  };
  await world.put('shape', 'a', item);
  await world.put('shape', 'a');
  await world.remove('shape', 'a');
  await until(() => batches(target).flat().length === 3);
  const common = {
    eventID: expect.stringMatching(/^[0-9a-f-]+$/),
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'us-east-1',
    eventSourceARN: spec.sourceArn,
  };
  const change = {
    ApproximateCreationDateTime: expect.toSatisfy(
      (seconds: number) => Math.abs(seconds - Date.now() / 1000) < 60,
    ),
    Keys: key,
    SequenceNumber: expect.stringMatching(/^\d+$/),
    SizeBytes: expect.any(Number),
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  };
  expect(target.invocations<StreamEvent>().flatMap(({ event }) => event.Records)).toEqual([
    { ...common, eventName: 'INSERT', dynamodb: { ...change, NewImage: wire } },
    { ...common, eventName: 'MODIFY', dynamodb: { ...change, OldImage: wire, NewImage: key } },
    { ...common, eventName: 'REMOVE', dynamodb: { ...change, OldImage: key } },
  ]);
});

test('a write is seen at once, without waiting for the next idle poll', async () => {
  await world.restart([], { idleMs: 3_600_000 });
  const { target } = await world.follow('woken', {}, { before: ['warm'] });
  await until(() => batches(target).length === 1);
  for (const id of ['a', 'b', 'c']) {
    await world.put('woken', id);
    await until(() => batches(target).flat().includes(id));
  }
});

test('a backlog is cut into batches of the size asked for, in order', async () => {
  const { target } = await world.follow('sized', { batchSize: 2 }, { before: ['a', 'b', 'c', 'd', 'e'] });
  await until(() => batches(target).flat().length === 5);
  expect(batches(target)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('a window gathers changes until it closes', async () => {
  const { target } = await world.follow('windowed', { batchWindowSeconds: 3 });
  for (const id of ['a', 'b', 'c']) await world.put('windowed', id);
  await until(() => batches(target).length > 0);
  expect(batches(target)).toEqual([['a', 'b', 'c']]);
});

test('a mapping that starts at the latest record leaves alone what came in before it was made', async () => {
  const { target } = await world.follow('latest', { startingPosition: 'LATEST' });
  await world.put('latest', 'a');
  await until(() => batches(target).length === 1);
  const later = world.recorder('later');
  const streamArn = target.invocations<StreamEvent>()[0]?.event.Records[0]?.eventSourceARN ?? '';
  const spec = mappingSpec(later, streamArn, { startingPosition: 'LATEST' });
  world.grant('later', readStream(streamArn));
  // DynamoDB Local dates changes to the minute: only a mapping made a minute later is sure to be the younger one.
  world.journal
    .prepare('INSERT INTO stream_mapping VALUES (?, ?, ?)')
    .run(spec.id, streamArn, Date.now() + 90_000);
  world.current.put(spec);
  await until(() => world.checkpoint(spec.id) !== undefined);
  expect(batches(later)).toEqual([]);
});

test('only what a filter lets through is sent, and the rest is done with', async () => {
  const filters = [
    { eventName: ['INSERT'], dynamodb: { NewImage: { kind: { S: ['wanted'] } } } },
    { eventName: ['REMOVE'] },
  ];
  const { target, spec } = await world.follow('filtered', { filters });
  await world.put('filtered', 'a', { kind: { S: 'wanted' } });
  await world.put('filtered', 'a', { kind: { S: 'wanted' }, changed: { BOOL: true } });
  await world.put('filtered', 'b', { kind: { S: 'other' } });
  await world.remove('filtered', 'b');
  await world.put('filtered', 'c');
  await until(() => batches(target).flat().length === 2);
  const names = target
    .invocations<StreamEvent>()
    .flatMap(({ event }) => event.Records.map((record) => record.eventName));
  expect(names).toEqual(['INSERT', 'REMOVE']);
  await world.put('filtered', 'd');
  const lastSent =
    target.invocations<StreamEvent>().at(-1)?.event.Records.at(-1)?.dynamodb.SequenceNumber ?? '';
  await until(() => (world.checkpoint(spec.id) ?? 0) > Number(lastSent));
});

test('a failing batch is tried again, and nothing overtakes it', async () => {
  const { target } = await world.follow(
    'retried',
    { batchSize: 2 },
    { before: ['a', 'b', 'c'], environment: { FAIL_TIMES: '3' } },
  );
  await until(() => batches(target).flat().includes('c'));
  expect(batches(target)).toEqual([['a', 'b'], ['a', 'b'], ['a', 'b'], ['a', 'b'], ['c']]);
  const [first = 0, second = 0, third = 0] = target.invocations().map(({ atMs }) => atMs);
  expect(second - first).toBeGreaterThanOrEqual(50);
  expect(third - second).toBeGreaterThanOrEqual(100);
});

test('when retries are used up the batch goes to its destination and the next one follows', async () => {
  const { target, spec } = await world.follow(
    'exhausted',
    { batchSize: 2, retriesMax: 1 },
    { environment: { FAIL_ON: 'poison' } },
  );
  const { next } = await world.destination('exhausted-failures', target, spec);
  world.current.put({ ...spec, onFailureArn: 'arn:aws:sqs:us-east-1:000000000000:exhausted-failures' });
  await world.put('exhausted', 'poison');
  const message = await next();
  await world.put('exhausted', 'after');
  await until(() => batches(target).at(-1)?.includes('after'));
  expect(batches(target)).toEqual([['poison'], ['poison'], ['after']]);
  const [first, second] = target.invocations<StreamEvent>();
  const SequenceNumber = first?.event.Records[0]?.dynamodb.SequenceNumber;
  const arrival = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/) as unknown;
  expect(message).toEqual({
    version: '1.0',
    timestamp: expect.stringMatching(/Z$/),
    requestContext: {
      requestId: second?.requestId,
      functionArn: target.spec.arn,
      condition: 'RetryAttemptsExhausted',
      approximateInvokeCount: 2,
    },
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    DDBStreamBatchInfo: {
      shardId: expect.stringMatching(/^shardId-.+-[0-3]$/),
      startSequenceNumber: SequenceNumber,
      endSequenceNumber: SequenceNumber,
      approximateArrivalOfFirstRecord: arrival,
      approximateArrivalOfLastRecord: arrival,
      batchSize: 1,
      streamArn: spec.sourceArn,
    },
  });
});

test('bisecting finds the one bad record, at no cost to the others and to the retries', async () => {
  const streamArn = await world.createTable('bisected');
  for (const id of ['a', 'b', 'poison', 'c', 'd']) await world.put('bisected', id);
  const target = world.recorder('bisected', { FAIL_ON: 'poison' });
  const spec = mappingSpec(target, streamArn, { bisectOnError: true, retriesMax: 1 });
  const { next } = await world.destination('bisected-failures', target, spec);
  const { DDBStreamBatchInfo } = await next();
  await until(() => batches(target).length === 6);
  expect(batches(target)).toEqual([
    ['a', 'b', 'poison', 'c', 'd'],
    ['a', 'b', 'poison'],
    ['a', 'b'],
    ['poison'],
    ['poison'],
    ['c', 'd'],
  ]);
  expect(DDBStreamBatchInfo.batchSize).toBe(1);
});

test('after a partial failure the batch goes on from the first record that failed', async () => {
  const { target } = await world.follow(
    'partial',
    { reportBatchItemFailures: true, retriesMax: 1 },
    { before: ['a', 'poison', 'b'], environment: { FAIL_ON: 'poison', REPORT_FAILURES: '1' } },
  );
  await until(() => batches(target).length === 2);
  await world.put('partial', 'after');
  await until(() => batches(target).at(-1)?.includes('after'));
  expect(batches(target)).toEqual([['a', 'poison', 'b'], ['poison', 'b'], ['after']]);
});

test('an answer that names no record of the batch fails all of it', async () => {
  const { target } = await world.follow(
    'malformed',
    { reportBatchItemFailures: true, retriesMax: 1 },
    { before: ['a'], environment: { ANSWER: '{"batchItemFailures":[{"itemIdentifier":"stranger"}]}' } },
  );
  await until(() => batches(target).length === 2);
  expect(batches(target)).toEqual([['a'], ['a']]);
});

test('records that grow too old are given up', async () => {
  const { target, spec } = await world.follow(
    'aged',
    { recordAgeSecondsMax: 2 },
    { environment: { FAIL_ON: 'poison' } },
  );
  const { next } = await world.destination('aged-failures', target, spec);
  await world.put('aged', 'poison');
  expect(await next()).toMatchObject({
    requestContext: { condition: 'RecordAgeExceeded' },
    DDBStreamBatchInfo: { batchSize: 1 },
  });
  await world.put('aged', 'after');
  await until(() => batches(target).at(-1)?.includes('after'));
});

test('a throttled function gets its records later, and no retry is used up', async () => {
  const { target } = await world.follow(
    'throttled',
    { retriesMax: 0 },
    { before: ['a'], function: { reservedConcurrency: 0 } },
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(batches(target)).toEqual([]);
  world.hosted.put({ ...target.spec, reservedConcurrency: 1 });
  await until(() => batches(target).length === 1);
});

test('a new start goes on after the last record that was dealt with', async () => {
  const { target, spec } = await world.follow('resumed', {}, { before: ['a', 'b'] });
  await until(() => batches(target).flat().length === 2);
  await world.current.stop();
  await world.put('resumed', 'c');
  await world.restart([spec]);
  await until(() => batches(target).flat().length === 3);
  expect(batches(target).flat()).toEqual(['a', 'b', 'c']);
});

test('a batch that was under way when everything stopped is delivered again', async () => {
  const { target, spec } = await world.follow(
    'redelivered',
    {},
    { before: ['a'], environment: { HANG: '1500' } },
  );
  await until(() => batches(target).length === 1);
  // As after a crash: another reader over the same journal, and nobody ever settled the batch.
  const successor = world.newMappings();
  world.hosted.put({ ...target.spec, environment: { ...target.spec.environment, HANG: '' } });
  successor.put(spec);
  successor.start();
  await until(() => batches(target).length === 2);
  expect(batches(target)).toEqual([['a'], ['a']]);
  await successor.stop();
  world.hosted.keepOnly(new Set());
});

test('a database that is killed and comes back is followed on, and nothing is lost', async () => {
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const { target } = await world.follow('killed', {}, { before: ['a'] });
  await until(() => batches(target).flat().length === 1);
  process.kill(world.databasePid(), 'SIGKILL');
  await until(() => said.mock.calls.flat().join('').includes('is running again'));
  await until(() =>
    world.put('killed', 'b').then(
      () => true,
      () => false,
    ),
  );
  await until(() => batches(target).flat().length === 2);
  expect(batches(target).flat()).toEqual(['a', 'b']);
});

test('a table made anew is followed from its beginning', async () => {
  const { target, spec } = await world.follow('first-life', {}, { before: ['a'] });
  await until(() => batches(target).length === 1);
  const reborn = await world.createTable('second-life');
  await world.put('second-life', 'b');
  world.grant('first-life', readStream(reborn));
  world.current.put({ ...spec, sourceArn: reborn });
  await until(() => batches(target).length === 2);
  expect(batches(target)).toEqual([['a'], ['b']]);
});

test.each(['dynamodb:DescribeStream', 'dynamodb:GetRecords'])(
  'without %s nothing is read, which is said',
  async (missing) => {
    const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const name = `forbidden-${missing.slice(9)}`;
    const streamArn = await world.createTable(name);
    await world.put(name, 'a');
    const target = world.recorder(name);
    const granted = readStream(streamArn) as { Action: string[] };
    world.grant(name, { ...granted, Action: granted.Action.filter((action) => action !== missing) });
    world.current.put(mappingSpec(target, streamArn));
    const refusal = `not authorized to perform: ${missing} on resource: ${streamArn}`;
    await until(() => said.mock.calls.flat().join('').includes(refusal));
    world.grant(name, granted);
    await until(() => batches(target).length === 1);
  },
);

test('a destination the role may not write to holds nothing up', async () => {
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const queue = await world.createQueue('unreachable');
  const { target } = await world.follow(
    'unreachable',
    { retriesMax: 0, onFailureArn: queue.arn },
    { before: ['poison'], environment: { FAIL_ON: 'poison' } },
  );
  await until(() => batches(target).length === 1);
  await world.put('unreachable', 'after');
  await until(() => batches(target).at(-1)?.includes('after'));
  expect(said.mock.calls.flat().join('')).toMatch(
    /could not report them to .*unreachable: .*sqs:SendMessage/,
  );
  expect(await queue.count()).toEqual({ visible: 0, inFlight: 0 });
});
