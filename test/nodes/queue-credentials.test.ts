import {
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Body } from '../api/recipe.ts';
import { openScene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { failure } from '../local/services/aws-services-world.ts';
import { type Host, openTaskScene, type TaskScene } from '../tasks/task-scene.ts';

// What a host's credentials are good for at the local IAM.

let world: World;
let tasks: TaskScene;

beforeAll(async () => {
  world = await openWorld();
  tasks = openTaskScene(world, openScene(world));
});
afterAll(() => world.close());

describe('the credentials of a queue', () => {
  async function queueOf(host: Host): Promise<{ sqs: SQSClient; told: Body }> {
    const { body: told } = await tasks.say(host, 'POST /queue-credentials');
    const credentials = {
      accessKeyId: told['access_key_id'] as string,
      secretAccessKey: told['secret_access_key'] as string,
      sessionToken: told['session_token'] as string,
    };
    return { sqs: new SQSClient(world.services.as(credentials)), told };
  }

  test('let a host read its own tasks for an hour, and send none', async () => {
    const { host, task } = await tasks.launched();
    await tasks.relay(task['id']);
    const { sqs, told } = await queueOf(host);
    expect(told).toMatchObject({ queue_url: host.queueUrl, region: 'us-east-1' });
    const secondsLeft = (Date.parse(told['expires_at'] as string) - Date.now()) / 1000;
    expect(secondsLeft).toBeGreaterThan(3500);
    expect(secondsLeft).toBeLessThanOrEqual(3600);
    const QueueUrl = host.queueUrl;
    const { Messages = [] } = await sqs.send(new ReceiveMessageCommand({ QueueUrl }));
    expect(JSON.parse(Messages[0]?.Body ?? '')).toMatchObject({ id: task['id'] });
    await sqs.send(new GetQueueAttributesCommand({ QueueUrl, AttributeNames: ['All'] }));
    await sqs.send(new DeleteMessageCommand({ QueueUrl, ReceiptHandle: Messages[0]?.ReceiptHandle }));
    const sending = sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: '{}' }));
    expect((await failure(sending)).name).toBe('AccessDeniedException');
  });

  test('are good for no queue of a neighbour', async () => {
    const [host, neighbour] = [await tasks.host(), await tasks.host()];
    const { sqs } = await queueOf(host);
    for (const command of [
      new ReceiveMessageCommand({ QueueUrl: neighbour.queueUrl }),
      new DeleteMessageCommand({ QueueUrl: neighbour.queueUrl, ReceiptHandle: 'x' }),
    ])
      expect((await failure(sqs.send(command as ReceiveMessageCommand))).name).toBe('AccessDeniedException');
    const asked = await tasks.say(host, 'POST /queue-credentials', { as: neighbour.id });
    expect(asked.body).toMatchObject({ code: 'node.unknown' });
    const told = await tasks.eventsAbout(host.id, 'platform.node.foreign_request_refused');
    expect(told.map(({ data }) => data)).toMatchObject([{ asked: `node:${neighbour.id}` }]);
  });
});
