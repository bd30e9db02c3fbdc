import { Duration, Stack } from 'aws-cdk-lib';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { SqsDestination } from 'aws-cdk-lib/aws-lambda-destinations';
import { CfnSchedule } from 'aws-cdk-lib/aws-scheduler';
import { Construct } from 'constructs';
import { grantInvoke } from './grants.ts';
import type { PlatformFunction } from './platform-function.ts';
import { FailureQueue } from './work-queue.ts';

export interface ScheduleProps {
  every: Duration;
  run: PlatformFunction;
  description: string;
}

/** As long as Lambda keeps what it could not deliver. */
const EVENT_AGE_SECONDS_MAX = 6 * 3600;

/** Runs a function again and again. A run that fails is not repeated, since the next comes soon, but it is noticed. */
export class Schedule extends Construct {
  constructor(scope: Construct, id: string, { every, run, description }: ScheduleProps) {
    super(scope, id);
    const failures = new FailureQueue(this, 'Failures');
    run.configureAsyncInvoke({
      retryAttempts: 0,
      maxEventAge: Duration.seconds(Math.min(every.toSeconds(), EVENT_AGE_SECONDS_MAX)),
      onFailure: new SqsDestination(failures),
    });

    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('scheduler.amazonaws.com', {
        conditions: { StringEquals: { 'aws:SourceAccount': Stack.of(this).account } },
      }),
    });
    grantInvoke(role, run);
    role.addToPolicy(new PolicyStatement({ actions: ['sqs:SendMessage'], resources: [failures.queueArn] }));

    const schedule = new CfnSchedule(this, 'Schedule', {
      description,
      scheduleExpression: `rate(${every.toMinutes()} minutes)`,
      flexibleTimeWindow: { mode: 'OFF' },
      target: {
        arn: run.functionArn,
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
