import { ACCOUNT, REGION } from '../wire/aws.ts';
import { physicalName, type ResourceKind } from './kind.ts';

interface Target {
  Arn: string;
  RoleArn: string;
  Input?: string;
  RetryPolicy?: { MaximumRetryAttempts?: number };
  DeadLetterConfig?: { Arn?: string };
}

export const schedule: ResourceKind = {
  type: 'AWS::Scheduler::Schedule',
  honoured: ['Name', 'ScheduleExpression', 'ScheduleExpressionTimezone', 'State', 'Target'],
  // A flexible window only spreads load between accounts.
  ignored: ['FlexibleTimeWindow', 'Description', 'GroupName', 'KmsKeyArn'],
  identify(resource) {
    const name = physicalName(resource, 'Name', 64);
    return {
      ref: name,
      attributes: { Arn: `arn:aws:scheduler:${REGION}:${ACCOUNT}:schedule/default/${name}` },
    };
  },
  plan({ properties, identity }, plan) {
    const target = properties['Target'] as Target;
    plan.schedules.push({
      name: identity.ref,
      expression: properties['ScheduleExpression'] as string,
      timezone: properties['ScheduleExpressionTimezone'] as string | undefined,
      enabled: properties['State'] !== 'DISABLED',
      targetArn: target.Arn,
      roleArn: target.RoleArn,
      input: target.Input,
      retriesMax: target.RetryPolicy?.MaximumRetryAttempts,
      deadLetterArn: target.DeadLetterConfig?.Arn,
    });
  },
};
