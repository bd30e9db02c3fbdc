import { afterAll, beforeAll, expect, test } from 'vitest';
import { sqs } from '../../functions/platform/clients.ts';
import { sendAll } from '../../functions/events/send-all.ts';
import { type Queues, startQueues } from '../queues.ts';

const BYTES_MAX = 1024;

let queues: Queues;
let queueUrl: string;

beforeAll(async () => {
  queues = await startQueues();
  queueUrl = await queues.create('pointers', { MaximumMessageSize: String(BYTES_MAX) });
});

afterAll(() => queues.stop());

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
