import { createHash } from 'node:crypto';
import type { SQSEvent } from 'aws-lambda';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { MappingSpec } from '../../../lib/local/mappings/mappings.ts';
import { until } from '../../until.ts';
import { consume, HostedWorld, queueArn } from '../lambda/hosted-world.ts';
import { type Recorder } from '../lambda/lambda-world.ts';

let world: HostedWorld;
beforeEach(async () => {
  world = await new HostedWorld().open();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await world.close();
});

function map(
  target: Recorder,
  queue: string,
  more: Partial<MappingSpec> = {},
  mappings = world.mappings,
): void {
  mappings.put({
    id: `${queue}-mapping`,
    functionArn: target.spec.arn,
    sourceArn: queueArn(queue),
    enabled: true,
    batchSize: 10,
    batchWindowSeconds: 0,
    filters: [],
    reportBatchItemFailures: false,
    ...more,
  });
  mappings.start();
}

const bodies = (target: Recorder) =>
  target.invocations<SQSEvent>().map(({ event }) => event.Records.map(({ body }) => body));
const isEmpty = async (queue: { count(): Promise<{ visible: number; inFlight: number }> }) => {
  const { visible, inFlight } = await queue.count();
  return visible + inFlight === 0;
};

test('a message reaches the function as AWS would hand it over, and is gone afterwards', async () => {
  const queue = await world.createQueue('orders');
  const target = world.recorder('worker');
  world.grant('worker', consume('orders'));
  map(target, 'orders');
  await queue.send('{"n":1}', {
    colour: { DataType: 'String', StringValue: 'red' },
    bytes: { DataType: 'Binary', BinaryValue: Buffer.from([1, 2]) },
  });
  await until(() => isEmpty(queue));
  expect(target.invocations<SQSEvent>().map(({ event }) => event)).toEqual([
    {
      Records: [
        {
          messageId: expect.stringMatching(/^[0-9a-f-]{36}$/),
          receiptHandle: expect.any(String),
          body: '{"n":1}',
          attributes: {
            ApproximateReceiveCount: '1',
            SentTimestamp: expect.stringMatching(/^\d{13}$/),
            SenderId: expect.any(String),
            ApproximateFirstReceiveTimestamp: expect.stringMatching(/^\d{13}$/),
          },
          messageAttributes: {
            colour: { stringValue: 'red', stringListValues: [], binaryListValues: [], dataType: 'String' },
            bytes: { binaryValue: 'AQI=', stringListValues: [], binaryListValues: [], dataType: 'Binary' },
          },
          md5OfMessageAttributes: expect.stringMatching(/^[0-9a-f]{32}$/),
          md5OfBody: createHash('md5').update('{"n":1}').digest('hex'),
          eventSource: 'aws:sqs',
          eventSourceARN: queueArn('orders'),
          awsRegion: 'us-east-1',
        },
      ],
    },
  ]);
});

test('a batch that fails comes again after its visibility timeout, then goes where the queue sends it', async () => {
  const dead = await world.createQueue('dead');
  const redrive = JSON.stringify({ deadLetterTargetArn: dead.arn, maxReceiveCount: 2 });
  const queue = await world.createQueue('fragile', { VisibilityTimeout: '1', RedrivePolicy: redrive });
  const target = world.recorder('worker', { FAIL_ON: 'poison' }, { timeoutSeconds: 1 });
  world.grant('worker', consume('fragile'));
  map(target, 'fragile');
  await queue.send('poison');
  await until(async () => (await dead.count()).visible === 1);
  expect(bodies(target)).toEqual([['poison'], ['poison']]);
});

test('messages whose answer was lost come again, and are gone afterwards', async () => {
  const queue = await world.createQueue('twice');
  const target = world.recorder('repeated');
  world.grant('repeated', consume('twice'));
  let isLost = true;
  const mappings = world.newMappings({ roughness: () => isLost && !(isLost = false) });
  map(target, 'twice', {}, mappings);
  await queue.send('a');
  await until(() => bodies(target).length === 2);
  await until(() => isEmpty(queue));
  expect(bodies(target)).toEqual([['a'], ['a']]);
  await mappings.stop();
});

test('only the messages reported as failed come again', async () => {
  const queue = await world.createQueue('mixed', { VisibilityTimeout: '1' });
  const target = world.recorder('worker', { FAIL_ON: 'poison', REPORT_FAILURES: '1' }, { timeoutSeconds: 1 });
  world.grant('worker', consume('mixed'));
  for (const body of ['a', 'poison', 'b']) await queue.send(body);
  map(target, 'mixed', { reportBatchItemFailures: true });
  await until(() => bodies(target).length >= 2);
  expect(bodies(target)[0]?.toSorted()).toEqual(['a', 'b', 'poison']);
  expect(bodies(target)[1]).toEqual(['poison']);
});

test.each([
  ['names nobody', '{"batchItemFailures":[{"itemIdentifier":"stranger"}]}'],
  ['is misspelt', '{"batchItemFailures":[{"id":"x"}]}'],
  ['is empty', '{"batchItemFailures":[{"itemIdentifier":""}]}'],
])('a partial answer that %s fails the whole batch', async (_, answer) => {
  const queue = await world.createQueue('malformed', { VisibilityTimeout: '1' });
  const target = world.recorder('worker', { ANSWER: answer }, { timeoutSeconds: 1 });
  world.grant('worker', consume('malformed'));
  map(target, 'malformed', { reportBatchItemFailures: true });
  await queue.send('a');
  await until(() => bodies(target).length >= 2);
  expect(bodies(target).slice(0, 2)).toEqual([['a'], ['a']]);
});

test('messages that match no filter are deleted unseen', async () => {
  const queue = await world.createQueue('filtered');
  const target = world.recorder('worker');
  world.grant('worker', consume('filtered'));
  map(target, 'filtered', { filters: [{ body: { kind: ['wanted'] } }, { body: ['plain'] }] });
  for (const body of ['{"kind":"wanted"}', '{"kind":"other"}', 'no json', 'plain', '"wanted"'])
    await queue.send(body);
  await until(() => isEmpty(queue));
  expect(bodies(target).flat().toSorted()).toEqual(['plain', '{"kind":"wanted"}']);
});

test('a window gathers what comes in until it closes or the batch is full', async () => {
  const queue = await world.createQueue('windowed');
  const target = world.recorder('worker');
  world.grant('worker', consume('windowed'));
  map(target, 'windowed', { batchWindowSeconds: 2, batchSize: 12 });
  for (let n = 0; n < 13; n++) await queue.send(String(n));
  await until(() => isEmpty(queue));
  expect(bodies(target).map((batch) => batch.length)).toEqual([12, 1]);
});

test.each([
  [undefined, 4],
  [2, 2],
])('with a maximum concurrency of %s, %i batches run at once', async (maximumConcurrency, most) => {
  const queue = await world.createQueue('parallel');
  const target = world.recorder('worker', { HANG: '400' });
  world.grant('worker', consume('parallel'));
  for (let n = 0; n < 8; n++) await queue.send(String(n));
  map(target, 'parallel', { batchSize: 1, maximumConcurrency });
  await until(() => isEmpty(queue));
  const starts = target.invocations().map(({ atMs }) => atMs);
  const overlapping = starts.map(
    (start) => starts.filter((other) => other >= start && other < start + 350).length,
  );
  expect(starts).toHaveLength(8);
  expect(Math.max(...overlapping)).toBe(most);
});

test('a throttled function gets its messages later, at the cost of one receive', async () => {
  const queue = await world.createQueue('throttled', { VisibilityTimeout: '30' });
  const target = world.recorder('worker', {}, { reservedConcurrency: 0 });
  world.grant('worker', consume('throttled'));
  map(target, 'throttled');
  await queue.send('a');
  await until(async () => (await queue.count()).inFlight === 1);
  world.hosted.put({ ...target.spec, reservedConcurrency: 1 });
  await until(() => isEmpty(queue));
  const [only, ...more] = target.invocations<SQSEvent>();
  expect(more).toEqual([]);
  expect(only?.event.Records[0]?.attributes.ApproximateReceiveCount).toBe('1');
});

test('a function throttled for too long gives its messages back before their time', async () => {
  const queue = await world.createQueue('returned', { VisibilityTimeout: '600' });
  const target = world.recorder('worker', {}, { reservedConcurrency: 0, timeoutSeconds: 1 });
  world.grant('worker', consume('returned'));
  map(target, 'returned');
  await queue.send('a');
  await until(async () => (await queue.count()).inFlight === 1);
  await world.mappings.stop();
  const [returned] = await until(async () => {
    const messages = await queue.receive();
    return messages.length > 0 && messages;
  });
  expect(returned).toEqual({ body: 'a', receiveCount: 2 });
});

test.each(['sqs:ReceiveMessage', 'sqs:GetQueueAttributes'])(
  'without %s nothing is read, which is said once',
  async (missing) => {
    const queue = await world.createQueue('forbidden');
    const target = world.recorder('worker');
    const { Action, ...granted } = consume('forbidden') as { Action: string[] };
    world.grant('worker', { ...granted, Action: Action.filter((action) => action !== missing) });
    const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    map(target, 'forbidden');
    await queue.send('a');
    await until(() => said.mock.calls.length > 0);
    expect(said.mock.calls[0]?.[0]).toMatch(
      new RegExp(`not authorized to perform: ${missing} on resource: ${queue.arn}`),
    );
    expect(await queue.count()).toEqual({ visible: 1, inFlight: 0 });
    world.grant('worker', consume('forbidden'));
    await until(() => isEmpty(queue));
    expect(bodies(target)).toEqual([['a']]);
    expect(said.mock.calls.map(([line]) => String(line).trim())).toEqual([
      expect.stringContaining(missing),
      expect.stringMatching(/works again\.$/),
    ]);
  },
);

test('a role that may not delete sees its messages again, and is told why', async () => {
  const queue = await world.createQueue('undeletable', { VisibilityTimeout: '1' });
  const target = world.recorder('worker', {}, { timeoutSeconds: 1 });
  const { Action, ...granted } = consume('undeletable') as { Action: string[] };
  world.grant('worker', { ...granted, Action: Action.filter((action) => action !== 'sqs:DeleteMessage') });
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  map(target, 'undeletable');
  await queue.send('a');
  await until(() => bodies(target).length >= 2);
  expect(said.mock.calls.flat().join('')).toContain('not authorized to perform: sqs:DeleteMessage');
});

test('a queue whose messages come back before the function is through is not read', async () => {
  const queue = await world.createQueue('hasty', { VisibilityTimeout: '5' });
  const target = world.recorder('worker', {}, { timeoutSeconds: 30 });
  world.grant('worker', consume('hasty'));
  const said = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  map(target, 'hasty');
  await queue.send('a');
  await until(() => said.mock.calls.length > 0);
  expect(said.mock.calls[0]?.[0]).toContain(
    'visibility timeout: 5 seconds is less than Function timeout: 30 seconds',
  );
  expect(await queue.count()).toEqual({ visible: 1, inFlight: 0 });
});

test('a mapping that is disabled or removed reads nothing more', async () => {
  const queue = await world.createQueue('paused');
  const target = world.recorder('worker');
  world.grant('worker', consume('paused'));
  map(target, 'paused', { enabled: false });
  await queue.send('a');
  map(target, 'paused');
  await until(() => bodies(target).length === 1);
  world.mappings.keepOnly(new Set());
  await queue.send('b');
  await until(async () => (await queue.count()).visible === 1);
  map(target, 'paused');
  await until(() => bodies(target).length === 2);
  map(target, 'paused', { enabled: false });
  await queue.send('c');
  await until(async () => (await queue.count()).visible === 1);
  expect(bodies(target)).toEqual([['a'], ['b']]);
});

test('an invalid filter and an unknown kind of source are refused by name', () => {
  const target = world.recorder('worker');
  expect(() => map(target, 'any', { filters: [{ body: { kind: [{ like: 'x' }] } }] })).toThrow(
    'A filter of the event source mapping any-mapping is invalid. The pattern.body.kind[0] uses the unknown operator like.',
  );
  expect(() => map(target, 'any', { sourceArn: 'arn:aws:kinesis:us-east-1:000000000000:stream/s' })).toThrow(
    /any-mapping reads arn:aws:kinesis.*only queues and table streams/,
  );
});
