import {
  ChangeMessageVisibilityCommand,
  CreateQueueCommand,
  DeleteMessageBatchCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  GetQueueUrlCommand,
  ListQueuesCommand,
  ReceiveMessageCommand,
  SendMessageBatchCommand,
  SendMessageCommand,
  SQSClient,
  StartMessageMoveTaskCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { allow, failure, openAwsServices, type AwsServices } from './aws-services-world.ts';

const queueArn = (name: string) => `arn:aws:sqs:us-east-1:000000000000:${name}`;

let world: AwsServices;
let operator: SQSClient;

beforeAll(async () => {
  world = await openAwsServices();
  operator = new SQSClient(world.asOperator());
});

afterAll(async () => {
  await world?.close();
});

async function newQueue(name: string, attributes: Record<string, string> = {}): Promise<string> {
  const { QueueUrl } = await operator.send(
    new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
  );
  return QueueUrl ?? '';
}

const as = (name: string, ...statements: ReturnType<typeof allow>[]) =>
  new SQSClient(world.asRole(name, ...statements));

test('every queue URL leads back to the front door', async () => {
  const url = await newQueue('led-back');
  expect(url).toBe(`${world.url}/000000000000/led-back`);
  expect((await operator.send(new GetQueueUrlCommand({ QueueName: 'led-back' }))).QueueUrl).toBe(url);
  const { QueueUrls } = await operator.send(new ListQueuesCommand({ QueueNamePrefix: 'led-' }));
  expect(QueueUrls).toEqual([url]);
});

describe('a role', () => {
  test('may send where it is granted, one by one or in batches, and not receive', async () => {
    const QueueUrl = await newQueue('tasks');
    const sender = as('sender', allow('sqs:SendMessage', queueArn('tasks')));
    await sender.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
    const Entries = [{ Id: 'a', MessageBody: 'two' }];
    await sender.send(new SendMessageBatchCommand({ QueueUrl, Entries }));
    const denied = await failure(sender.send(new ReceiveMessageCommand({ QueueUrl })));
    expect(denied.name).toBe('AccessDeniedException');
    expect(denied.message).toContain(`sqs:ReceiveMessage on resource: ${queueArn('tasks')}`);
    const other = await newQueue('others');
    expect(
      (await failure(sender.send(new SendMessageCommand({ QueueUrl: other, MessageBody: 'x' })))).message,
    ).toContain(queueArn('others'));
  });

  test('may work on a queue with the permissions of a consumer', async () => {
    const QueueUrl = await newQueue('work');
    const actions = ['ReceiveMessage', 'DeleteMessage', 'ChangeMessageVisibility'].map(
      (name) => `sqs:${name}`,
    );
    const consumer = as('consumer', allow(actions, queueArn('work')));
    await operator.send(new SendMessageCommand({ QueueUrl, MessageBody: 'one' }));
    const { Messages = [] } = await consumer.send(
      new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 5 }),
    );
    const ReceiptHandle = Messages[0]?.ReceiptHandle;
    await consumer.send(
      new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 60 }),
    );
    await consumer.send(new DeleteMessageBatchCommand({ QueueUrl, Entries: [{ Id: 'a', ReceiptHandle }] }));
    expect((await failure(consumer.send(new ListQueuesCommand({})))).name).toBe('AccessDeniedException');
  });

  test('may create queues by prefix only', async () => {
    const node = as('node-maker', allow('sqs:CreateQueue', queueArn('node-*')));
    await node.send(new CreateQueueCommand({ QueueName: 'node-1' }));
    expect((await failure(node.send(new CreateQueueCommand({ QueueName: 'control' })))).name).toBe(
      'AccessDeniedException',
    );
  });

  test('is authorized for the queue that is used, not for one that is only mentioned', async () => {
    await newQueue('hidden');
    const reader = as('mentions', allow('sqs:GetQueueUrl', queueArn('shown')));
    const decoy = { QueueName: 'hidden', QueueUrl: `${world.url}/000000000000/shown` };
    expect((await failure(reader.send(new GetQueueUrlCommand(decoy)))).message).toContain(queueArn('hidden'));
  });
});

describe('moving messages from one queue to another', () => {
  const bodies = async (QueueUrl: string) =>
    (
      (await operator.send(new ReceiveMessageCommand({ QueueUrl, MaxNumberOfMessages: 10 }))).Messages ?? []
    ).map(({ Body }) => Body);
  const move = (from: string, to?: string) =>
    new StartMessageMoveTaskCommand({
      SourceArn: queueArn(from),
      DestinationArn: to === undefined ? undefined : queueArn(to),
    });

  test('takes all that can be received, with what is said about each', async () => {
    const [from, to] = [await newQueue('failures'), await newQueue('redriven')];
    for (let sent = 0; sent < 12; sent += 1)
      await operator.send(
        new SendMessageCommand({
          QueueUrl: from,
          MessageBody: `m${sent}`,
          MessageAttributes: { error: { DataType: 'String', StringValue: 'TypeError' } },
        }),
      );
    await operator.send(move('failures', 'redriven'));
    expect(await bodies(from)).toEqual([]);
    const { Messages = [] } = await operator.send(
      new ReceiveMessageCommand({ QueueUrl: to, MessageAttributeNames: ['All'] }),
    );
    expect(Messages[0]?.MessageAttributes).toMatchObject({ error: { StringValue: 'TypeError' } });
    expect(await bodies(to)).not.toEqual([]);
  });

  test('goes to another queue, or it would never end', async () => {
    await newQueue('circle');
    expect((await failure(operator.send(move('circle', 'circle')))).message).toContain('different queues');
  });

  test('needs every right it uses, and a destination', async () => {
    await newQueue('locked');
    await newQueue('elsewhere');
    const taking = ['sqs:StartMessageMoveTask', 'sqs:ReceiveMessage', 'sqs:DeleteMessage'];
    const mover = as('mover', allow(taking, queueArn('locked')));
    expect((await failure(mover.send(move('locked', 'elsewhere')))).message).toContain(
      `sqs:SendMessage on resource: ${queueArn('elsewhere')}`,
    );
    const sender = as('sender-only', allow('sqs:SendMessage', queueArn('elsewhere')));
    expect((await failure(sender.send(move('locked', 'elsewhere')))).name).toBe('AccessDeniedException');
    expect((await failure(operator.send(move('locked')))).message).toContain('DestinationArn');
  });
});

test('a message made visible at once is there at once, and not lost', async () => {
  const QueueUrl = await newQueue('again');
  await operator.send(new SendMessageCommand({ QueueUrl, MessageBody: 'again' }));
  const first = await operator.send(new ReceiveMessageCommand({ QueueUrl }));
  const ReceiptHandle = first.Messages?.[0]?.ReceiptHandle;
  await operator.send(new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle, VisibilityTimeout: 0 }));
  const second = await operator.send(new ReceiveMessageCommand({ QueueUrl }));
  expect(second.Messages?.[0]?.Body).toBe('again');
});

test('a reader that goes away during its long poll takes no message with it', async () => {
  const QueueUrl = await newQueue('abandoned', { VisibilityTimeout: '600' });
  const leaving = new AbortController();
  const poll = operator.send(new ReceiveMessageCommand({ QueueUrl, WaitTimeSeconds: 20 }), {
    abortSignal: leaving.signal,
  });
  // The poll waits inside the engine once another request, sent later, has been answered.
  await operator.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
  leaving.abort();
  await failure(poll);
  await operator.send(new SendMessageCommand({ QueueUrl, MessageBody: 'for someone who is there' }));
  const message = await until(async () => {
    const { Messages } = await operator.send(new ReceiveMessageCommand({ QueueUrl }));
    return Messages?.[0]?.Body;
  }, 'the message that an absent reader had been given');
  expect(message).toBe('for someone who is there');
});

test('a queue that does not exist and one without a name are told apart', async () => {
  const QueueUrl = `${world.url}/000000000000/none`;
  expect((await failure(operator.send(new SendMessageCommand({ QueueUrl, MessageBody: 'x' })))).name).toBe(
    'QueueDoesNotExist',
  );
  const unnamed = await failure(
    operator.send(new SendMessageCommand({ QueueUrl: world.url, MessageBody: 'x' })),
  );
  expect(unnamed.name).toBe('InvalidParameterValue');
});

test('messages outlive the process, and their queue gets the new address', async () => {
  const before = await openAwsServices();
  const client = new SQSClient(before.asOperator());
  const { QueueUrl } = await client.send(new CreateQueueCommand({ QueueName: 'kept' }));
  await client.send(new SendMessageCommand({ QueueUrl, MessageBody: 'kept' }));
  const Handle = (await client.send(new ReceiveMessageCommand({ QueueUrl }))).Messages?.[0]?.ReceiptHandle;
  await client.send(
    new ChangeMessageVisibilityCommand({ QueueUrl, ReceiptHandle: Handle, VisibilityTimeout: 0 }),
  );
  await before.stop();

  const after = await openAwsServices({ dataDir: before.dataDir });
  try {
    const again = new SQSClient(after.asOperator());
    const { QueueUrl: found } = await again.send(new GetQueueUrlCommand({ QueueName: 'kept' }));
    expect(found).toBe(`${after.url}/000000000000/kept`);
    const { Messages = [] } = await again.send(new ReceiveMessageCommand({ QueueUrl: found }));
    expect(Messages[0]?.Body).toBe('kept');
    await again.send(
      new DeleteMessageCommand({ QueueUrl: found, ReceiptHandle: Messages[0]?.ReceiptHandle }),
    );
  } finally {
    await after.close();
  }
});
