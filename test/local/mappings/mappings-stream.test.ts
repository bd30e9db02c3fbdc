import {
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { DynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import type { Mappings, MappingSpec } from '../../../lib/local/mappings/mappings.ts';
import type { StreamRecord } from '../../../lib/local/mappings/stream-event.ts';
import { createDynamoDbService } from '../../../lib/local/services/dynamodb.ts';
import { startTestDynamoDb } from '../../dynamodb.ts';
import { until } from '../../until.ts';
import { allow, HostedWorld } from '../lambda/hosted-world.ts';
import { type Recorder } from '../lambda/lambda-world.ts';

interface StreamEvent {
  Records: StreamRecord[];
}

let database: DynamoDb;
let client: DynamoDBClient;
let mappings: Mappings;
const world = new HostedWorld();

beforeAll(async () => {
  database = await startTestDynamoDb({ dataDir: world.dataDir });
  const onWrite = (tableNames: string[]) => mappings.wake(tableNames);
  mappings = world.mappings;
  await world.open([createDynamoDbService({ engine: () => database, onWrite })]);
  mappings.start();
  client = new DynamoDBClient(world.operator());
});
afterEach(async () => {
  vi.restoreAllMocks();
  await mappings.stop();
  mappings = world.newMappings();
  mappings.start();
});
afterAll(async () => {
  await mappings.stop();
  await database.stop();
  await world.close();
});

async function createTable(name: string): Promise<string> {
  const { TableDescription } = await client.send(
    new CreateTableCommand({
      TableName: name,
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  return TableDescription?.LatestStreamArn ?? '';
}

const put = (table: string, id: string, more: Record<string, AttributeValue> = {}) =>
  client.send(new PutItemCommand({ TableName: table, Item: { id: { S: id }, ...more } }));

const readStream = (streamArn: string) =>
  allow(['dynamodb:DescribeStream', 'dynamodb:GetShardIterator', 'dynamodb:GetRecords'], streamArn);

function mappingSpec(target: Recorder, streamArn: string, more: Partial<MappingSpec> = {}): MappingSpec {
  return {
    id: `${target.spec.name}-mapping`,
    functionArn: target.spec.arn,
    sourceArn: streamArn,
    enabled: true,
    batchSize: 100,
    batchWindowSeconds: 0,
    filters: [],
    reportBatchItemFailures: false,
    startingPosition: 'TRIM_HORIZON',
    ...more,
  };
}

/** A table whose stream feeds a recorder, all named alike. `before` is written before the mapping exists. */
async function follow(
  name: string,
  more: Partial<MappingSpec> = {},
  options: { environment?: Record<string, string>; before?: string[]; function?: object } = {},
): Promise<{ target: Recorder; spec: MappingSpec }> {
  const streamArn = await createTable(name);
  for (const id of options.before ?? []) await put(name, id);
  const target = world.recorder(name, options.environment, options.function);
  world.grant(name, readStream(streamArn));
  const spec = mappingSpec(target, streamArn, more);
  mappings.put(spec);
  return { target, spec };
}

const idsOf = ({ Records }: StreamEvent) =>
  Records.map(({ dynamodb }) => (dynamodb.Keys['id'] as { S: string }).S);
const batches = (target: Recorder) => target.invocations<StreamEvent>().map(({ event }) => idsOf(event));

function checkpoint(mappingId: string): string | undefined {
  const query = 'SELECT sequence_number FROM stream_checkpoint WHERE mapping_id = ?';
  const row = world.journal.prepare(query).get(mappingId) as { sequence_number: string } | undefined;
  return row?.sequence_number;
}

async function destination(name: string, target: Recorder, spec: MappingSpec) {
  const queue = await world.createQueue(name);
  world.grant(target.spec.name, readStream(spec.sourceArn), allow(['sqs:SendMessage'], queue.arn));
  mappings.put({ ...spec, onFailureArn: queue.arn });
  return {
    queue,
    next: async () => {
      const [message] = await until(async () => {
        const messages = await queue.receive();
        return messages.length > 0 && messages;
      });
      return JSON.parse(message?.body ?? '') as {
        DDBStreamBatchInfo: { batchSize: number; startSequenceNumber: string };
      };
    },
  };
}

test('changes reach the function as AWS would hand them over', async () => {
  const { target, spec } = await follow('shape');
  const item = {
    id: { S: 'a' },
    number: { N: '12.50' },
    bytes: { B: Buffer.from([1, 2]) },
    byteSet: { BS: [Buffer.from([3])] },
    nested: { M: { list: { L: [{ BOOL: true }, { NULL: true }, { B: Buffer.from([4]) }] } } },
  };
  const wire = {
    id: { S: 'a' },
    number: { N: '12.5' },
    bytes: { B: 'AQI=' },
    byteSet: { BS: ['Aw=='] },
    nested: { M: { list: { L: [{ BOOL: true }, { NULL: true }, { B: 'BA==' }] } } },
  };
  await client.send(new PutItemCommand({ TableName: 'shape', Item: item }));
  await put('shape', 'a');
  await client.send(new DeleteItemCommand({ TableName: 'shape', Key: { id: { S: 'a' } } }));
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
    Keys: { id: { S: 'a' } },
    SequenceNumber: expect.stringMatching(/^\d+$/),
    SizeBytes: expect.any(Number),
    StreamViewType: 'NEW_AND_OLD_IMAGES',
  };
  expect(target.invocations<StreamEvent>().flatMap(({ event }) => event.Records)).toEqual([
    { ...common, eventName: 'INSERT', dynamodb: { ...change, NewImage: wire } },
    { ...common, eventName: 'MODIFY', dynamodb: { ...change, OldImage: wire, NewImage: { id: { S: 'a' } } } },
    { ...common, eventName: 'REMOVE', dynamodb: { ...change, OldImage: { id: { S: 'a' } } } },
  ]);
});

test('a write is seen at once, without waiting for the next idle poll', async () => {
  await mappings.stop();
  mappings = world.newMappings({ idleMs: 3_600_000 });
  mappings.start();
  const { target } = await follow('woken', {}, { before: ['warm'] });
  await until(() => batches(target).length === 1);
  for (const id of ['a', 'b', 'c']) {
    await put('woken', id);
    await until(() => batches(target).flat().includes(id));
  }
});

test('a backlog is cut into batches of the size asked for, in order', async () => {
  const { target } = await follow('sized', { batchSize: 2 }, { before: ['a', 'b', 'c', 'd', 'e'] });
  await until(() => batches(target).flat().length === 5);
  expect(batches(target)).toEqual([['a', 'b'], ['c', 'd'], ['e']]);
});

test('a window gathers changes until it closes', async () => {
  const { target } = await follow('windowed', { batchWindowSeconds: 3 });
  for (const id of ['a', 'b', 'c']) await put('windowed', id);
  await until(() => batches(target).length > 0);
  expect(batches(target)).toEqual([['a', 'b', 'c']]);
});

test('a mapping that starts at the latest record leaves alone what came in before it was made', async () => {
  const { target } = await follow('latest', { startingPosition: 'LATEST' });
  await put('latest', 'a');
  await until(() => batches(target).length === 1);
  const later = world.recorder('later');
  const streamArn = target.invocations<StreamEvent>()[0]?.event.Records[0]?.eventSourceARN ?? '';
  const spec = mappingSpec(later, streamArn, { startingPosition: 'LATEST' });
  world.grant('later', readStream(streamArn));
  // DynamoDB Local dates changes to the minute: only a mapping made a minute later is sure to be the younger one.
  world.journal
    .prepare('INSERT INTO stream_mapping VALUES (?, ?, ?)')
    .run(spec.id, streamArn, Date.now() + 90_000);
  mappings.put(spec);
  await until(() => checkpoint(spec.id) !== undefined);
  expect(batches(later)).toEqual([]);
});

test('only what a filter lets through is sent, and the rest is done with', async () => {
  const filters = [
    { eventName: ['INSERT'], dynamodb: { NewImage: { kind: { S: ['wanted'] } } } },
    { eventName: ['REMOVE'] },
  ];
  const { target, spec } = await follow('filtered', { filters });
  await put('filtered', 'a', { kind: { S: 'wanted' } });
  await put('filtered', 'a', { kind: { S: 'wanted' }, changed: { BOOL: true } });
  await put('filtered', 'b', { kind: { S: 'other' } });
  await client.send(new DeleteItemCommand({ TableName: 'filtered', Key: { id: { S: 'b' } } }));
  await put('filtered', 'c');
  await until(() => batches(target).flat().length === 2);
  const names = target
    .invocations<StreamEvent>()
    .flatMap(({ event }) => event.Records.map((record) => record.eventName));
  expect(names).toEqual(['INSERT', 'REMOVE']);
  await put('filtered', 'd');
  const lastSent =
    target.invocations<StreamEvent>().at(-1)?.event.Records.at(-1)?.dynamodb.SequenceNumber ?? '';
  await until(() => (checkpoint(spec.id) ?? '') > lastSent);
});

test('a failing batch is tried again, and nothing overtakes it', async () => {
  const { target } = await follow(
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
  const { target, spec } = await follow(
    'exhausted',
    { batchSize: 2, retriesMax: 1 },
    { environment: { FAIL_ON: 'poison' } },
  );
  const { next } = await destination('exhausted-failures', target, spec);
  mappings.put({ ...spec, onFailureArn: 'arn:aws:sqs:us-east-1:000000000000:exhausted-failures' });
  await put('exhausted', 'poison');
  const message = await next();
  await put('exhausted', 'after');
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
      shardId: expect.stringMatching(/^shardId-/),
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
  const streamArn = await createTable('bisected');
  for (const id of ['a', 'b', 'poison', 'c', 'd']) await put('bisected', id);
  const target = world.recorder('bisected', { FAIL_ON: 'poison' });
  const spec = mappingSpec(target, streamArn, { bisectOnError: true, retriesMax: 1 });
  const { next } = await destination('bisected-failures', target, spec);
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
  const { target } = await follow(
    'partial',
    { reportBatchItemFailures: true, retriesMax: 1 },
    { before: ['a', 'poison', 'b'], environment: { FAIL_ON: 'poison', REPORT_FAILURES: '1' } },
  );
  await until(() => batches(target).length === 2);
  await put('partial', 'after');
  await until(() => batches(target).at(-1)?.includes('after'));
  expect(batches(target)).toEqual([['a', 'poison', 'b'], ['poison', 'b'], ['after']]);
});

test('an answer that names no record of the batch fails all of it', async () => {
  const { target } = await follow(
    'malformed',
    { reportBatchItemFailures: true, retriesMax: 1 },
    { before: ['a'], environment: { ANSWER: '{"batchItemFailures":[{"itemIdentifier":"stranger"}]}' } },
  );
  await until(() => batches(target).length === 2);
  expect(batches(target)).toEqual([['a'], ['a']]);
});

test('records that grow too old are given up', async () => {
  const { target, spec } = await follow(
    'aged',
    { recordAgeSecondsMax: 2 },
    { environment: { FAIL_ON: 'poison' } },
  );
  const { next } = await destination('aged-failures', target, spec);
  await put('aged', 'poison');
  expect(await next()).toMatchObject({
    requestContext: { condition: 'RecordAgeExceeded' },
    DDBStreamBatchInfo: { batchSize: 1 },
  });
  await put('aged', 'after');
  await until(() => batches(target).at(-1)?.includes('after'));
});

test('a throttled function gets its records later, and no retry is used up', async () => {
  const { target } = await follow(
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
  const { target, spec } = await follow('resumed', {}, { before: ['a', 'b'] });
  await until(() => batches(target).flat().length === 2);
  await mappings.stop();
  await put('resumed', 'c');
  mappings = world.newMappings();
  mappings.put(spec);
  mappings.start();
  await until(() => batches(target).flat().length === 3);
  expect(batches(target).flat()).toEqual(['a', 'b', 'c']);
});

test('a batch that was under way when everything stopped is delivered again', async () => {
  const { target, spec } = await follow('redelivered', {}, { before: ['a'], environment: { HANG: '1500' } });
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
  const { target } = await follow('killed', {}, { before: ['a'] });
  await until(() => batches(target).flat().length === 1);
  process.kill(database.pid() ?? 0, 'SIGKILL');
  await until(() => said.mock.calls.flat().join('').includes('is running again'));
  await until(() =>
    put('killed', 'b').then(
      () => true,
      () => false,
    ),
  );
  await until(() => batches(target).flat().length === 2);
  expect(batches(target).flat()).toEqual(['a', 'b']);
});

test('a table made anew is followed from its beginning', async () => {
  const { target, spec } = await follow('first-life', {}, { before: ['a'] });
  await until(() => batches(target).length === 1);
  const reborn = await createTable('second-life');
  await put('second-life', 'b');
  world.grant('first-life', readStream(reborn));
  mappings.put({ ...spec, sourceArn: reborn });
  await until(() => batches(target).length === 2);
  expect(batches(target)).toEqual([['a'], ['b']]);
});

test.each(['dynamodb:DescribeStream', 'dynamodb:GetRecords'])(
  'without %s nothing is read, which is said',
  async (missing) => {
    const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    const name = `forbidden-${missing.slice(9)}`;
    const streamArn = await createTable(name);
    await put(name, 'a');
    const target = world.recorder(name);
    const granted = readStream(streamArn) as { Action: string[] };
    world.grant(name, { ...granted, Action: granted.Action.filter((action) => action !== missing) });
    mappings.put(mappingSpec(target, streamArn));
    const refusal = `not authorized to perform: ${missing} on resource: ${streamArn}`;
    await until(() => said.mock.calls.flat().join('').includes(refusal));
    world.grant(name, granted);
    await until(() => batches(target).length === 1);
  },
);

test('a destination the role may not write to holds nothing up', async () => {
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const queue = await world.createQueue('unreachable');
  const { target } = await follow(
    'unreachable',
    { retriesMax: 0, onFailureArn: queue.arn },
    { before: ['poison'], environment: { FAIL_ON: 'poison' } },
  );
  await until(() => batches(target).length === 1);
  await put('unreachable', 'after');
  await until(() => batches(target).at(-1)?.includes('after'));
  expect(said.mock.calls.flat().join('')).toMatch(
    /could not report them to .*unreachable: .*sqs:SendMessage/,
  );
  expect(await queue.count()).toEqual({ visible: 0, inFlight: 0 });
});
