import { CreateQueueCommand } from '@aws-sdk/client-sqs';
import { sqs } from '../functions/platform/clients.ts';
import { startQueuesAndObjects } from '../lib/local/engines/queues-and-objects.ts';

/** A queue engine of the test's own, in memory, and the environment in which functions find it. */
export async function startQueues() {
  const engine = await startQueuesAndObjects();
  const url = await engine.listen();
  Object.assign(process.env, {
    AWS_REGION: 'us-east-1',
    AWS_ENDPOINT_URL_SQS: url,
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 'b',
  });
  return {
    /** Makes a queue and returns where it is. */
    async create(QueueName: string, Attributes?: Record<string, string>): Promise<string> {
      await sqs().send(new CreateQueueCommand({ QueueName, Attributes }));
      return `${url}/000000000000/${QueueName}`;
    },
    stop: () => engine.stop(),
  };
}

export type Queues = Awaited<ReturnType<typeof startQueues>>;
