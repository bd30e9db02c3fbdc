import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Variable } from '../functions/platform/environment.ts';
import { grantSend } from './grants.ts';
import { PlatformFunction, type PlatformFunctionProps } from './platform-function.ts';
import { visibilitySeconds, WorkQueue } from './work-queue.ts';

export interface QueueConsumerProps extends PlatformFunctionProps {
  timeoutSeconds: number;
  batchSize?: number;
  /** A queue that exists already; otherwise the consumer has one of its own. */
  work?: WorkQueue;
}

/**
 * A function and the queue it reads. A message that keeps failing is moved to the failure queue;
 * functions/platform/workflow/redelivery.ts decides how often and how long it is tried before.
 */
export class QueueConsumer extends PlatformFunction {
  readonly work: WorkQueue;

  constructor(scope: Construct, id: string, props: QueueConsumerProps) {
    super(scope, id, props);
    this.work =
      props.work ??
      new WorkQueue(this, 'Work', { visibilitySeconds: visibilitySeconds(props.timeoutSeconds) });
    this.addToRolePolicy(
      new PolicyStatement({
        actions: [
          'sqs:ReceiveMessage',
          'sqs:DeleteMessage',
          'sqs:ChangeMessageVisibility',
          'sqs:GetQueueAttributes',
        ],
        resources: [this.work.queue.queueArn],
      }),
    );
    this.addEnvironment('QUEUE_URL' satisfies Variable, this.work.queue.queueUrl);
    this.addEnvironment('FAILURE_QUEUE_URL' satisfies Variable, this.work.failures.queueUrl);
    grantSend(this, this.work.failures);
    new EventSourceMapping(this, 'Mapping', {
      target: this,
      eventSourceArn: this.work.queue.queueArn,
      batchSize: props.batchSize ?? 10,
      reportBatchItemFailures: true,
    });
  }
}
