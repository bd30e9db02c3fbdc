import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { ACCOUNT, REGION, type PolicyStatement } from '../../../lib/local/wire/aws.ts';
import { startQueuesAndObjects } from '../../../lib/local/engines/queues-and-objects.ts';
import { openFrontDoor, type FrontDoor, type FrontDoorService } from '../../../lib/local/iam/front-door.ts';
import { Iam } from '../../../lib/local/iam/iam.ts';
import { createDeliver } from '../../../lib/local/lambda/deliver.ts';
import type { Functions, FunctionSpec } from '../../../lib/local/lambda/functions.ts';
import { Mappings } from '../../../lib/local/mappings/mappings.ts';
import type { AwsCredentials } from '../../../lib/local/iam/principals.ts';
import { createLambdaService } from '../../../lib/local/services/lambda.ts';
import { createSqsService } from '../../../lib/local/services/sqs.ts';
import { SMOOTH, type Roughness } from '../../../lib/local/wire/roughness.ts';
import { LambdaWorld, recorder, roleArn, type Recorder } from './lambda-world.ts';

export const queueArn = (name: string) => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;
export const allow = (actions: string[], resource: string): PolicyStatement => ({
  Effect: 'Allow',
  Action: actions,
  Resource: resource,
});

/** What `Queue.grantConsumeMessages` gives. */
export const consume = (queue: string) =>
  allow(
    [
      'sqs:ReceiveMessage',
      'sqs:ChangeMessageVisibility',
      'sqs:GetQueueUrl',
      'sqs:DeleteMessage',
      'sqs:GetQueueAttributes',
    ],
    queueArn(queue),
  );

/** Functions and mappings behind a real front door that asks IAM, with a real queue engine. */
export class HostedWorld extends LambdaWorld {
  readonly iam = new Iam();
  readonly hosted: Functions = this.functions({ deliver: createDeliver(this.principals) });
  readonly mappings = this.newMappings();
  #frontDoor: FrontDoor | undefined;
  #queues: Awaited<ReturnType<typeof startQueuesAndObjects>> | undefined;

  async open(others: FrontDoorService[] = []): Promise<this> {
    const queues = await startQueuesAndObjects();
    this.#queues = queues;
    this.#frontDoor = await openFrontDoor({
      port: 0,
      principals: this.principals,
      iam: this.iam,
      services: [
        createSqsService({ engine: () => queues, endpoint: () => this.endpoint }),
        createLambdaService(this.hosted),
        ...others,
      ],
      fallback: (_request, response) => void response.writeHead(404).end(),
      upgrade: (_request, socket) => void socket.destroy(),
    });
    this.endpoint = this.#frontDoor.url;
    this.hosted.start();
    return this;
  }

  newMappings(more: { idleMs?: number; roughness?: Roughness } = {}): Mappings {
    const { principals, journal, hosted: functions } = this;
    const deliver = createDeliver(principals);
    return new Mappings({ functions, principals, journal, deliver, roughness: SMOOTH, ...more });
  }

  override async close(): Promise<void> {
    await this.mappings.stop();
    await this.hosted.stop();
    await this.#frontDoor?.close();
    await this.#queues?.stop();
    await super.close();
  }

  operator(): { endpoint: string; region: string; credentials: AwsCredentials } {
    return { endpoint: this.endpoint, region: REGION, credentials: this.principals.operator() };
  }

  grant(name: string, ...statements: PolicyStatement[]): void {
    const arn = roleArn(name);
    this.iam.putRole({
      arn,
      trust: { Statement: [] },
      policies: [{ Version: '2012-10-17', Statement: statements }],
    });
  }

  /** A function that writes down what it is given. */
  recorder(
    name: string,
    environment: Record<string, string> = {},
    more: Partial<FunctionSpec> = {},
  ): Recorder {
    const made = recorder(this, name, environment, more);
    this.hosted.put(made.spec);
    return made;
  }

  #sqs(): SQSClient {
    return new SQSClient(this.operator());
  }

  async createQueue(name: string, attributes: Record<string, string> = {}): Promise<TestQueue> {
    const client = this.#sqs();
    const { QueueUrl } = await client.send(
      new CreateQueueCommand({ QueueName: name, Attributes: attributes }),
    );
    return {
      arn: queueArn(name),
      async send(body, attributes) {
        await client.send(
          new SendMessageCommand({ QueueUrl, MessageBody: body, MessageAttributes: attributes }),
        );
      },
      async count() {
        const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
        const { Attributes } = await client.send(
          new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...names] }),
        );
        const [visible, inFlight] = names.map((attribute) => Number(Attributes?.[attribute]));
        return { visible: visible ?? 0, inFlight: inFlight ?? 0 };
      },
      async receive() {
        const { Messages = [] } = await client.send(
          new ReceiveMessageCommand({
            QueueUrl,
            MaxNumberOfMessages: 10,
            MessageSystemAttributeNames: ['All'],
          }),
        );
        return Messages.map(({ Body = '', Attributes }) => ({
          body: Body,
          receiveCount: Number(Attributes?.ApproximateReceiveCount),
        }));
      },
    };
  }
}

export interface TestQueue {
  arn: string;
  send(
    body: string,
    attributes?: Record<string, { DataType: string; StringValue?: string; BinaryValue?: Uint8Array }>,
  ): Promise<void>;
  count(): Promise<{ visible: number; inFlight: number }>;
  receive(): Promise<{ body: string; receiveCount: number }[]>;
}
