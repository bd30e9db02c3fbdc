import { CreateQueueCommand, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqs } from '../../functions/platform/clients.ts';
import { sendAll } from '../../functions/relay/send-all.ts';
import { type QueuesAndObjects, startQueuesAndObjects } from '../../lib/local/engines/queues-and-objects.ts';

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
  await sqs().send(new CreateQueueCommand({ QueueName: 'pointers' }));
  queueUrl = `${engine.url}/000000000000/pointers`;
});

afterAll(() => engine.stop());

test('a message the queue does not take fails the sending, whatever became of the others', async () => {
  // Larger than a message may be: that one alone is refused.
  const large = { place: 'p1', text: 'x'.repeat(300 * 1024) };
  await expect(sendAll(queueUrl, [{ place: 'p1' }, large])).rejects.toMatchObject({ code: 'unavailable' });
});

test('messages of a place form a group, so that the queue serves places in turn', async () => {
  await sendAll(queueUrl, [{ place: 'p2' }]);
  const { Messages = [] } = await sqs().send(
    new ReceiveMessageCommand({
      QueueUrl: queueUrl,
      MaxNumberOfMessages: 10,
      MessageSystemAttributeNames: ['MessageGroupId'],
    }),
  );
  expect(Messages.at(-1)).toMatchObject({ Body: '{"place":"p2"}', Attributes: { MessageGroupId: 'p2' } });
});
