import { Duration } from 'aws-cdk-lib';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { DELIVERIES_LIMIT } from '../functions/platform/workflow/redelivery.ts';
import { acknowledge } from './acknowledge.ts';

const KEPT = Duration.days(14);

// What AWS recommends: room for the function's own time and for the polls that are throttled meanwhile.
const VISIBILITY_PER_TIMEOUT = 6;

export const visibilitySeconds = (timeoutSeconds: number): number => timeoutSeconds * VISIBILITY_PER_TIMEOUT;

/** Where work goes that failed for good, until a person has looked at it. Anything in it raises an alarm. */
export class FailureQueue extends Queue {
  constructor(scope: Construct, id: string) {
    super(scope, id, { encryption: QueueEncryption.SQS_MANAGED, enforceSSL: true, retentionPeriod: KEPT });
    acknowledge(this, 'AwsSolutions-SQS3', 'This is the dead-letter queue itself.');
  }
}

export interface WorkQueueProps {
  /** How long a consumer may work on a message before it is given to another. */
  visibilitySeconds: number;
}

/** A queue of typed tasks, with a failure queue behind it. */
export class WorkQueue extends Construct {
  readonly queue: Queue;
  readonly failures: FailureQueue;

  constructor(scope: Construct, id: string, props: WorkQueueProps) {
    super(scope, id);
    this.failures = new FailureQueue(this, 'Failures');
    this.queue = new Queue(this, 'Queue', {
      encryption: QueueEncryption.SQS_MANAGED,
      enforceSSL: true,
      retentionPeriod: Duration.days(4),
      visibilityTimeout: Duration.seconds(props.visibilitySeconds),
      // The consumer itself gives up what keeps failing, and tells why. This is for what kills the consumer.
      deadLetterQueue: { queue: this.failures, maxReceiveCount: DELIVERIES_LIMIT },
    });
  }
}
