import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import type { Construct } from 'constructs';
import { grantInvoke } from './grants.ts';
import { PlatformFunction, type PlatformFunctionProps } from './platform-function.ts';
import { FailureQueue } from './work-queue.ts';

export interface ScheduledFunctionProps extends Omit<PlatformFunctionProps, 'concurrencyMax'> {
  every: Duration;
}

/** As long as Lambda keeps what it could not deliver. */
const EVENT_AGE_SECONDS_MAX = 6 * 3600;

/**
 * A function that runs again and again. A run that fails is not repeated, since the next comes soon, but it is noticed.
 * Where concurrency is reserved there is never more than one run; elsewhere Lambda may deliver an invocation twice, and
 * two runs may do the same work, each of it once.
 */
export class ScheduledFunction extends PlatformFunction {
  constructor(scope: Construct, id: string, { every, ...props }: ScheduledFunctionProps) {
    super(scope, id, { timeoutSeconds: 120, ...props, concurrencyMax: 1 });
    const failures = new FailureQueue(this, 'Failures');
    this.configureAsyncInvoke({
      retryAttempts: 0,
      maxEventAge: Duration.seconds(Math.min(every.toSeconds(), EVENT_AGE_SECONDS_MAX)),
      onFailure: new SqsDestination(failures),
    });

    const role = new Role(this, 'ScheduleRole', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    });
    grantInvoke(role, this);
    role.addToPolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [failures.queueArn] }));

    const schedule = new CfnSchedule(this, 'Schedule', {
      description: props.description,
      scheduleExpression: `rate(${every.toMinutes()} ${every.toMinutes() === 1 ? 'minute' : 'minutes'})`,
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: this.functionArn,
        roleArn: role.roleArn,
        input: '{}',
        retryPolicy: { maximumRetryAttempts: 2, maximumEventAgeInSeconds: every.toSeconds() },
        deadLetterConfig: { arn: failures.queueArn },
      },
    });
    // A schedule may fire as soon as it exists, and needs its role's policy by then.
    schedule.node.addDependency(role);
  }
}
