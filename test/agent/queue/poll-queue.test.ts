import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ChangeMessageVisibilityCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Performer } from '../../../agent/tasks/performer.ts';
import { sqs } from '../../../functions/platform/clients.ts';
import { type Journal, openJournal } from '../../../agent/journal/journal.ts';
import { createNodeTokens } from '../../../agent/platform/node-token.ts';
import { createPlatformClient } from '../../../agent/platform/platform-client.ts';
import { pollQueue } from '../../../agent/queue/poll-queue.ts';
import { createQueueAccess } from '../../../agent/queue/queue-access.ts';
import { Lanes } from '../../../agent/runner/lanes.ts';
import { runTask } from '../../../agent/runner/run-task.ts';
import { AgentStopping } from '../../../agent/runner/stopping.ts';
import type { TaskFrame } from '../../../functions/tasks/task.ts';
import { type Queues, startQueues } from '../../queues.ts';
import { until } from '../../until.ts';
import { aTask, NODE, performersOf, silent } from '../a-task.ts';
import { keepHidden } from '../../../agent/queue/keep-hidden.ts';
import { problem, type SmallPlatform, startSmallPlatform } from '../small-platform.ts';

let queues: Queues;
let platform: SmallPlatform;
let journal: Journal;
let queueUrl: string;
let count = 0;
const now = () => new Date();

beforeAll(async () => {
  queues = await startQueues();
  platform = await startSmallPlatform(NODE);
});
afterAll(async () => {
  await platform.stop();
  await queues.stop();
});

beforeEach(async () => {
  platform.asked.length = 0;
  journal = openJournal(mkdtempSync(join(tmpdir(), 'agent-')), now);
  queueUrl = await queues.create(`gpuaas-node-${++count}`, { VisibilityTimeout: '120' });
  giveCredentials(3600);
});
afterEach(() => journal.close());

function giveCredentials(seconds: number): void {
  platform.on(`POST ${platform.at('/queue-credentials')}`, () => ({
    body: {
      queue_url: queueUrl,
      region: 'us-east-1',
      access_key_id: 'a',
      secret_access_key: 'b',
      session_token: 'c',
      expires_at: new Date(Date.now() + seconds * 1000).toISOString(),
    },
  }));
}

const accessOf = () => {
  const tokens = createNodeTokens(platform.url, NODE, platform.privateKey, now);
  return createQueueAccess(createPlatformClient(platform.url, tokens), NODE, now);
};

const send = (task: object | string) =>
  sqs().send(
    new SendMessageCommand({
      QueueUrl: queueUrl,
      MessageBody: typeof task === 'string' ? task : JSON.stringify(task),
    }),
  );

async function messagesLeft(): Promise<number> {
  const { Attributes } = await sqs().send(
    new GetQueueAttributesCommand({
      QueueUrl: queueUrl,
      AttributeNames: ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'],
    }),
  );
  return (
    Number(Attributes?.ApproximateNumberOfMessages) +
    Number(Attributes?.ApproximateNumberOfMessagesNotVisible)
  );
}

/** An agent that only polls and performs, until `stop`. */
function poll(perform: Performer<'oci.status'>) {
  const stopping = new AbortController();
  const runner = { nodeId: NODE, journal, log: silent, now, tellProgress: silent };
  const run = (text: string) =>
    runTask({ ...runner, performers: performersOf({ 'oci.status': perform }) }, text, stopping.signal);
  const polling = pollQueue({ access: accessOf(), lanes: new Lanes(8), run, log: silent }, stopping.signal);
  return {
    async stop() {
      stopping.abort(new AgentStopping());
      await polling;
    },
  };
}

const isEnded = (task: TaskFrame) => journal.tasks.find(task.id)?.outcome !== undefined;

describe('a polling agent', () => {
  test('takes a task, performs it, and deletes its message only then', async () => {
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const agent = poll(async () => {
      await opened;
      return {};
    });
    const task = aTask();
    await send(task);
    await until(() => journal.tasks.find(task.id) !== undefined);
    expect(await messagesLeft()).toBe(1);
    open();
    await until(async () => (await messagesLeft()) === 0);
    expect(isEnded(task)).toBe(true);
    await agent.stop();
  });

  test('performs each task once, however often and in whichever order it is delivered', async () => {
    const performed: string[] = [];
    const agent = poll(({ task }) => {
      performed.push(task.id);
      return Promise.resolve({});
    });
    const tasks = Array.from({ length: 12 }, () => aTask());
    const deliveries = tasks.flatMap((task, index) => Array.from({ length: 1 + (index % 3) }, () => task));
    for (const task of deliveries.toReversed()) await send(task);
    await until(async () => (await messagesLeft()) === 0 && tasks.every(isEnded));
    expect(performed.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted());
    await agent.stop();
  });

  test('performs tasks of one subject one after the other, and refuses the older of two', async () => {
    let running = 0;
    let most = 0;
    const agent = poll(async () => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      return {};
    });
    const first = aTask();
    const tasks = [1, 2, 3, 4].map((fence) => aTask({ subject: first.subject, fence }));
    for (const task of [tasks[1], tasks[0], tasks[3], tasks[2]]) await send(task as TaskFrame);
    await until(() => tasks.every(isEnded));
    expect(most).toBe(1);
    const codes = tasks.map(({ id }) => journal.tasks.find(id)?.outcome?.status);
    expect(codes[3]).toBe('succeeded');
    expect(codes).toContain('refused');
    await agent.stop();
  });

  test('whose message becomes visible while its task runs does it once', async () => {
    const performed: string[] = [];
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const agent = poll(async ({ task }) => {
      performed.push(task.id);
      await opened;
      return {};
    });
    const task = aTask();
    await send(task);
    await until(() => performed.length === 1);
    // As the queue does when the visibility has ended.
    await send(task);
    const marker = aTask();
    await send(marker);
    await until(() => performed.includes(marker.id));
    open();
    await until(async () => (await messagesLeft()) === 0);
    expect(performed.filter((id) => id === task.id)).toHaveLength(1);
    await agent.stop();
  });

  test('that stops leaves the message of a task it did not end', async () => {
    const agent = poll(
      ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error));
        }),
    );
    const task = aTask();
    await send(task);
    await until(() => journal.tasks.find(task.id) !== undefined);
    await agent.stop();
    expect(isEnded(task)).toBe(false);
    expect(await messagesLeft()).toBe(1);
  });

  test('deletes what is no task', async () => {
    const agent = poll(() => Promise.resolve({}));
    await send('no task');
    await until(async () => (await messagesLeft()) === 0);
    await agent.stop();
  });

  test('asks for credentials again when they do not work', async () => {
    const good = queueUrl;
    queueUrl = `${good}-gone`;
    const agent = poll(() => Promise.resolve({}));
    await until(() => platform.askedFor(platform.at('/queue-credentials')).length >= 2);
    queueUrl = good;
    const task = aTask();
    await send(task);
    await until(() => isEnded(task));
    await agent.stop();
  });
});

describe('credentials of the queue', () => {
  test('are kept, and renewed before they end', async () => {
    const access = accessOf();
    await Promise.all([access.get(), access.get()]);
    await access.get();
    expect(platform.askedFor(platform.at('/queue-credentials'))).toHaveLength(1);
    giveCredentials(0);
    access.drop();
    await access.get();
    await access.get();
    expect(platform.askedFor(platform.at('/queue-credentials'))).toHaveLength(3);
  });

  test('that are not given are told', async () => {
    platform.on(`POST ${platform.at('/queue-credentials')}`, () => problem(404, 'node.unknown'));
    await expect(accessOf().get()).rejects.toMatchObject({ code: 'node.unknown' });
  });
});

test('a message is kept hidden while its task runs', async () => {
  await send(aTask());
  const receive = new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds: 1 });
  const [message] = (await sqs().send(receive)).Messages ?? [];
  const ReceiptHandle = message?.ReceiptHandle ?? '';
  await sqs().send(
    new ChangeMessageVisibilityCommand({ QueueUrl: queueUrl, ReceiptHandle, VisibilityTimeout: 1 }),
  );
  const release = keepHidden(() => accessOf().get(), ReceiptHandle, { log: silent, extendMs: 100 });
  // It would be visible again after a second: a long poll of two does not see it.
  const { sqs: patient } = await accessOf().get();
  const seen = await patient.send(new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds: 2 }));
  release();
  expect(seen.Messages ?? []).toEqual([]);
});
