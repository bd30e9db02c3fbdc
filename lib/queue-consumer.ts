import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import type { Variable } from '../functions/platform/environment.ts';
import { grantSend } from './grants.ts';
import { PlatformFunction, type PlatformFunctionProps } from './platform-function.ts';
import { WorkQueue } from './work-queue.ts';

// What AWS recommends: room for the function's own time and for the polls that are throttled meanwhile.
const VISIBILITY_PER_TIMEOUT = 6;

export interface QueueConsumerProps extends PlatformFunctionProps {
  timeoutSeconds: number;
  batchSize?: number;
}

/**
 * A function and the queue it reads. A message that keeps failing is moved to the failure queue;
 * functions/platform/workflow/redelivery.ts decides how often and how long it is tried before.
 */
export class QueueConsumer extends PlatformFunction {
  readonly work: WorkQueue;

  constructor(scope: Construct, id: string, props: QueueConsumerProps) {
    super(scope, id, props);
    this.work = new WorkQueue(this, 'Work', {
      visibilitySeconds: props.timeoutSeconds * VISIBILITY_PER_TIMEOUT,
    });
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
