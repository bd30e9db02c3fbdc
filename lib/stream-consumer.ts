import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Construct } from 'constructs';
import { AGE_SECONDS_MAX } from '../functions/platform/workflow/redelivery.ts';
import { PlatformFunction, type PlatformFunctionProps } from './platform-function.ts';
import { FailureQueue } from './work-queue.ts';
import { ANY_RESOURCE } from './wildcards.ts';

export interface StreamConsumerProps extends PlatformFunctionProps {
  table: ITable;
  /** Which records wake the function, as Lambda filter patterns: matched before it is invoked and paid for. */
  filters: Record<string, unknown>[];
  /** How many records the function gets at once, at most. */
  batchSize: number;
  /** How long records are gathered before the function is invoked; without, it is as soon as there is one. */
  windowSeconds?: number;
  /** How many batches of a shard are worked on at once. With more than one, records of a partition may overtake. */
  parallelization?: number;
}

/** As many as Lambda knows: what ends the retries is the record's age. */
const RETRIES_MAX = 10_000;

/**
 * A function that reads a table's stream from the oldest record on. It is retried until it succeeds or the record is
 * too old; expired records are described in the failure queue. A stream has at most two readers: AWS throttles a third.
 */
export class StreamConsumer extends PlatformFunction {
  constructor(scope: Construct, id: string, props: StreamConsumerProps) {
    super(scope, id, props);
    const streamArn = props.table.tableStreamArn;
    if (!streamArn) throw new Error(`The table that ${props.entry} consumes has no stream.`);
    this.addToRolePolicy(
      new PolicyStatement({
        actions: ['dynamodb:DescribeStream', 'dynamodb:GetRecords', 'dynamodb:GetShardIterator'],
        resources: [streamArn],
      }),
    );
    this.addToRolePolicy(
      new PolicyStatement({ actions: ANY_RESOURCE.streamListing.actions.slice(), resources: ['*'] }),
    );
    new EventSourceMapping(this, 'Mapping', {
      target: this,
      eventSourceArn: streamArn,
      startingPosition: StartingPosition.TRIM_HORIZON,
      filters: props.filters.map((filter) => FilterCriteria.filter(filter)),
      batchSize: props.batchSize,
      ...(props.windowSeconds && { maxBatchingWindow: Duration.seconds(props.windowSeconds) }),
      ...(props.parallelization && { parallelizationFactor: props.parallelization }),
      retryAttempts: RETRIES_MAX,
      maxRecordAge: Duration.seconds(AGE_SECONDS_MAX),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: new SqsDlq(new FailureQueue(this, 'Failures')),
    });
  }
}
