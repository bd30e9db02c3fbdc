import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import type { Principals } from '../iam/principals.ts';
import { queueUrl } from './queue-url.ts';

export type Deliver = (arn: string, onBehalfOfRoleArn: string, body: string) => Promise<void>;

/** Sends to a queue or a function with a role's own rights, through the front door: without the grant it fails. */
export function createDeliver(principals: Pick<Principals, 'clientConfig'>): Deliver {
  return async (arn, onBehalfOfRoleArn, body) => {
    const config = principals.clientConfig(onBehalfOfRoleArn, 'destination');
    const service = arn.split(':')[2];
    if (service === 'sqs') {
      const client = new SQSClient(config);
      const message = { QueueUrl: queueUrl(config.endpoint, arn), MessageBody: body };
      await client.send(new SendMessageCommand(message)).finally(() => client.destroy());
    } else if (service === 'lambda') {
      const client = new LambdaClient(config);
      const order = { FunctionName: arn, InvocationType: 'Event' as const, Payload: Buffer.from(body) };
      await client.send(new InvokeCommand(order)).finally(() => client.destroy());
    } else {
      throw new Error(`Cannot deliver to ${arn}: a destination must be a queue or a function.`);
    }
  };
}

/** A fault that may pass by itself. What IAM or the target refused will be refused again. */
export function isPassingFault(error: unknown): boolean {
  const status = (error as { $metadata?: { httpStatusCode?: number } }).$metadata?.httpStatusCode ?? 500;
  return status >= 500 || status === 429;
}
