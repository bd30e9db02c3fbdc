import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqs } from '../../functions/platform/clients.ts';
import { sendAll } from '../../functions/relay/send-all.ts';
import { type QueuesAndObjects, startQueuesAndObjects } from '../../lib/local/engines/queues-and-objects.ts';

const BYTES_MAX = 1024;

let engine: QueuesAndObjects;
let queueUrl: string;

beforeAll(async () => {
  engine = await startQueuesAndObjects();
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: engine.url,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  });
  const Attributes = { MaximumMessageSize: String(BYTES_MAX) };
  await sqs().send(new CreateQueueCommand({ QueueName: 'pointers', Attributes }));
  queueUrl = `${engine.url}/000000000000/pointers`;
});

afterAll(() => engine.stop());

test('a message the queue does not take fails the sending, whatever became of the others', async () => {
  const large = { place: 'p1', text: 'x'.repeat(BYTES_MAX) };
  await expect(sendAll(queueUrl, [{ place: 'p1' }, large])).rejects.toMatchObject({ code: 'unavailable' });
});

test('messages of a place form a group, by which the queue serves places in turn', async () => {
  const groups: unknown[] = [];
  sqs().middlewareStack.add(
    (next) => (args) => {
      const { Entries = [] } = args.input as { Entries?: { MessageGroupId?: string }[] };
      groups.push(...Entries.map(({ MessageGroupId }) => MessageGroupId));
      return next(args);
    },
    { step: 'initialize' },
  );
  await sendAll(queueUrl, [{ place: 'p2' }, { place: 'p3' }]);
  expect(groups).toEqual(['p2', 'p3']);
});
