import { Duration } from 'aws-cdk-lib';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { EventSourceMapping, FilterCriteria, StartingPosition } from 'aws-cdk-lib/aws-lambda';
import { SqsDlq } from 'aws-cdk-lib/aws-lambda-event-sources';
import type { Construct } from 'constructs';
import { PlatformFunction, type PlatformFunctionProps } from './platform-function.ts';
import { FailureQueue } from './work-queue.ts';
import { ANY_RESOURCE } from './wildcards.ts';

export interface StreamConsumerProps extends PlatformFunctionProps {
  table: ITable;
  /** Which records wake the function, as Lambda filter patterns: matched before it is invoked and paid for. */
  filters: Record<string, unknown>[];
  retriesMax?: number;
}

/**
 * A function that reads a table's stream from the oldest record on. A record that keeps failing is narrowed
 * down, given up after its retries and described in the failure queue, so it never holds up the others.
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
      batchSize: 25,
      retryAttempts: props.retriesMax ?? 10,
      maxRecordAge: Duration.hours(6),
      bisectBatchOnError: true,
      reportBatchItemFailures: true,
      onFailure: new SqsDlq(new FailureQueue(this, 'Failures')),
    });
  }
}
