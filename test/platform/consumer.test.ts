import type { SQSEvent } from 'aws-lambda';
import { PurgeQueueCommand, ReceiveMessageCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sqs } from '../../functions/platform/clients.ts';
import { queueConsumer } from '../../functions/platform/workflow/consumer.ts';
import { refuse } from '../../functions/artifacts/problems.ts';
import { deliveryAfter, DELIVERIES_LIMIT } from '../../functions/platform/workflow/redelivery.ts';
import { task } from '../../functions/platform/workflow/task.ts';
import { type Queues, startQueues } from '../queues.ts';

const Body = v.strictObject({ id: v.string() });

beforeAll(() => {
  process.stdout.write = () => true;
});

const queueOf = (...bodies: string[]) =>
  ({
    Records: bodies.map((body, index) => ({
      messageId: `m${index + 1}`,
      body,
      attributes: { SentTimestamp: '1794800000123', ApproximateReceiveCount: '1' },
    })),
  }) as unknown as SQSEvent;

const deliveredOf = (attributes: Record<string, string>, body: string, receiptHandle = '') =>
  ({
    Records: [{ messageId: 'm1', receiptHandle, body, attributes }],
  }) as unknown as SQSEvent;

function failing(...bad: string[]) {
  const seen: string[] = [];
  const consume = async (id: string) => {
    seen.push(id);
    if (bad.includes(id)) throw new Error('no');
  };
  return { seen, consume };
}

describe('a queue consumer', () => {
  test('gives back the messages that fail and finishes the others', async () => {
    const { seen, consume } = failing('b');
    const consumer = queueConsumer(Body, (_ctx, { id }) => consume(id));
    const answer = await consumer(
      queueOf('{"id":"a"}', '{"id":"b"}', 'not json', '{"id":"c"}', '{"id":"c","more":1}'),
    );
    expect(answer.batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)).toEqual(['m2', 'm3', 'm5']);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  test('tells when a message was sent', async () => {
    let sent: Date | undefined;
    await queueConsumer(Body, async (_ctx, _body, { sentAt }) => void (sent = sentAt))(queueOf('{"id":"a"}'));
    expect(sent?.getTime()).toBe(1794800000123);
  });
});

describe('a message that failed', () => {
  const asked: { command: string; input: Record<string, unknown> }[] = [];
  let queues: Queues;

  beforeAll(async () => {
    queues = await startQueues();
    for (const name of ['QUEUE_URL', 'FAILURE_QUEUE_URL']) process.env[name] = await queues.create(name);
    sqs().middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          asked.push({ command: String(commandName), input: args.input as Record<string, unknown> });
          return next(args);
        },
      { step: 'initialize' },
    );
  });

  afterAll(() => queues.stop());

  /** A message of the queue, as it was received. */
  async function received(body: string): Promise<string> {
    const QueueUrl = process.env['QUEUE_URL'];
    await sqs().send(new SendMessageCommand({ QueueUrl, MessageBody: body }));
    const { Messages = [] } = await sqs().send(new ReceiveMessageCommand({ QueueUrl }));
    asked.length = 0;
    return Messages[0]?.ReceiptHandle ?? '';
  }

  const BUG = new TypeError('no');
  const AWAY = refuse('unavailable');
  const DENIED = Object.assign(new Error('not authorized'), { name: 'AccessDeniedException' });
  const hoursAgo = (hours: number) => String(Date.now() - hours * 3600_000);

  test.each<[string, Error, { deliveries: number; hours: number }, 'given up' | number]>([
    ['by itself, the first time', BUG, { deliveries: 1, hours: 0 }, 1],
    ['by itself, the fourth time', BUG, { deliveries: 4, hours: 0 }, 8],
    ['by itself, the fifth time', BUG, { deliveries: 5, hours: 0 }, 'given up'],
    ['while something is away', AWAY, { deliveries: 5, hours: 1 }, 16],
    ['while something is away, for hours', AWAY, { deliveries: 60, hours: 5.9 }, 300],
    ['while something is away, for too long', AWAY, { deliveries: 60, hours: 6.1 }, 'given up'],
    ['for want of a grant', DENIED, { deliveries: 9, hours: 1 }, 256],
  ])('%s', async (_, error, { deliveries, hours }, expected) => {
    const body = '{"id":"a","correlation_id":"look-1"}';
    const receiptHandle = await received(body);
    const message = { SentTimestamp: hoursAgo(hours), ApproximateReceiveCount: String(deliveries) };
    const consumer = queueConsumer(v.object({ id: v.string() }), () => Promise.reject(error));
    const { batchItemFailures } = await consumer(deliveredOf(message, body, receiptHandle));
    if (expected === 'given up') {
      expect(batchItemFailures).toEqual([]);
      const QueueUrl = process.env['FAILURE_QUEUE_URL'];
      const { Messages } = await sqs().send(
        new ReceiveMessageCommand({ QueueUrl, MessageAttributeNames: ['All'] }),
      );
      expect(Messages).toMatchObject([
        {
          Body: body,
          MessageAttributes: {
            error: { StringValue: error.name },
            correlation_id: { StringValue: 'look-1' },
          },
        },
      ]);
      await sqs().send(new PurgeQueueCommand({ QueueUrl }));
    } else {
      expect(batchItemFailures).toEqual([{ itemIdentifier: 'm1' }]);
      expect(asked).toMatchObject([
        {
          command: 'ChangeMessageVisibilityCommand',
          input: { ReceiptHandle: receiptHandle, VisibilityTimeout: expected },
        },
      ]);
    }
  });

  test('comes, while something is away, less often than the queue’s own limit', () => {
    let [ageSeconds, deliveries] = [0, 0];
    for (;;) {
      deliveries += 1;
      const next = deliveryAfter({ isOutage: true, deliveries, ageSeconds });
      if (next === 'given_up') break;
      ageSeconds += next.afterSeconds;
    }
    expect(deliveries).toBeGreaterThan(5);
    expect(deliveries).toBeLessThan(DELIVERIES_LIMIT);
  });
});

describe('a step of a workflow', () => {
  const named = (name: string) => Object.assign(new Error('no'), { name });

  test.each([
    ['a service that is busy', named('ThrottlingException'), 'unavailable'],
    ['a refusal that may pass', refuse('registry.unavailable'), 'unavailable'],
    ['a refusal that will not', refuse('artifact.unknown'), 'artifact.unknown'],
    ['a missing right', named('AccessDeniedException'), 'AccessDeniedException'],
    ['a bug', new TypeError('no'), 'TypeError'],
  ])('fails by the name the workflow goes by: %s', async (_, error, name) => {
    const step = task(v.object({}), () => Promise.reject(error));
    await expect(step({})).rejects.toMatchObject({ name });
  });
});
