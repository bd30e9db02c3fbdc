import { afterAll, expect, test } from 'vitest';
import { checkMapping } from '../../../lib/local/mappings/mappings.ts';
import { StreamBatches } from '../../../lib/local/mappings/stream-batches.ts';
import { sequenceNumber, type Arrived, type StreamRecord } from '../../../lib/local/mappings/stream-event.ts';
import { SMOOTH } from '../../../lib/local/wire/roughness.ts';
import { LambdaWorld, recorder } from '../lambda/lambda-world.ts';

const world = new LambdaWorld();
afterAll(() => world.close());

const arrived = (id: string): Arrived => ({
  record: { dynamodb: { Keys: { id: { S: id } }, SequenceNumber: id } } as unknown as StreamRecord,
  arrivedAtMs: Date.now(),
});

test('each record has retries of its own, whatever those before it have used up', async () => {
  const functions = world.functions();
  const target = recorder(world, 'apart', { FAIL_TIMES: '1', FAIL_ON: 'poison', REPORT_FAILURES: '1' });
  functions.put(target.spec);
  const spec = checkMapping({
    id: 'apart-mapping',
    functionArn: target.spec.arn,
    sourceArn: 'arn:aws:dynamodb:us-east-1:000000000000:table/apart/stream/1',
    enabled: true,
    batchSize: 100,
    batchWindowSeconds: 0,
    filters: [],
    reportBatchItemFailures: true,
    retriesMax: 1,
    onFailureArn: 'arn:aws:sqs:us-east-1:000000000000:failures',
  });
  const settled: string[] = [];
  const given: unknown[] = [];
  const batches = new StreamBatches({
    shardId: 'shard',
    spec: () => spec,
    functions,
    deliver: async (_arn, _role, body) => void given.push(JSON.parse(body)),
    roughness: SMOOTH,
    settled: (records) => void settled.push(...records.map(sequenceNumber)),
    signal: new AbortController().signal,
  });

  // The first call fails as a whole, the second gets as far as the poison: that has failed once, and is tried again.
  await batches.settle(['a', 'poison', 'b'].map(arrived));
  const sent = target
    .invocations<{ Records: StreamRecord[] }>()
    .map(({ event }) => event.Records.map(({ dynamodb }) => dynamodb.SequenceNumber));
  expect(sent).toEqual([
    ['a', 'poison', 'b'],
    ['a', 'poison', 'b'],
    ['poison', 'b'],
  ]);
  expect(settled).toEqual(['a', 'poison', 'b']);
  expect(given).toMatchObject([
    { requestContext: { approximateInvokeCount: 2 }, DDBStreamBatchInfo: { batchSize: 2 } },
  ]);
});
