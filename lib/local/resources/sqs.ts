import {
  CreateQueueCommand,
  GetQueueUrlCommand,
  QueueDoesNotExist,
  SetQueueAttributesCommand,
} from '@aws-sdk/client-sqs';
import { ACCOUNT, REGION, type PolicyDocument } from '../wire/aws.ts';
import { physicalName, type ResourceKind } from './kind.ts';
import { statementsOf } from './plan.ts';

const ATTRIBUTES = [
  'VisibilityTimeout',
  'MessageRetentionPeriod',
  'DelaySeconds',
  'ReceiveMessageWaitTimeSeconds',
  'MaximumMessageSize',
  'RedrivePolicy',
  'FifoQueue',
  'ContentBasedDeduplication',
] as const;

const queueArn = (name: string): string => `arn:aws:sqs:${REGION}:${ACCOUNT}:${name}`;

export const queue: ResourceKind = {
  type: 'AWS::SQS::Queue',
  honoured: ['QueueName', ...ATTRIBUTES],
  ignored: [
    'SqsManagedSseEnabled',
    'KmsMasterKeyId',
    'KmsDataKeyReusePeriodSeconds',
    'RedriveAllowPolicy',
    'Tags',
  ],
  identify(resource, world) {
    const name = physicalName(resource, 'QueueName', 80);
    const url = `${world.url}/${ACCOUNT}/${name}`;
    return { ref: url, attributes: { Arn: queueArn(name), QueueName: name, QueueUrl: url } };
  },
  async create(resource, { sqs }) {
    const QueueName = resource.identity.ref.slice(resource.identity.ref.lastIndexOf('/') + 1);
    const Attributes: Record<string, string> = {};
    for (const name of ATTRIBUTES) {
      const value = resource.properties[name];
      if (value !== undefined) Attributes[name] = typeof value === 'string' ? value : JSON.stringify(value);
    }
    try {
      const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName }));
      const { FifoQueue: _, ...settable } = Attributes;
      if (Object.keys(settable).length > 0)
        await sqs.send(new SetQueueAttributesCommand({ QueueUrl, Attributes: settable }));
    } catch (error) {
      if (!(error instanceof QueueDoesNotExist)) throw error;
      await sqs.send(new CreateQueueCommand({ QueueName, Attributes }));
    }
  },
};

export const queuePolicy: ResourceKind = {
  type: 'AWS::SQS::QueuePolicy',
  honoured: ['Queues', 'PolicyDocument'],
  ignored: [],
  identify: (resource) => ({ ref: resource.logicalId }),
  plan(resource, plan) {
    for (const url of resource.properties['Queues'] as string[]) {
      const arn = queueArn(url.slice(url.lastIndexOf('/') + 1));
      plan.allowOn(arn, statementsOf(resource.properties['PolicyDocument'] as PolicyDocument));
    }
  },
};
