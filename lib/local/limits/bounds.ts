import type { Deployed } from './deployed.ts';
import { count, type Limit } from './limit.ts';

/** A property may be a number between two others, a text or a list of so many. */
interface Bound {
  type: string;
  /** Where the property stands, with dots. */
  property: string;
  range?: readonly [min: number, max: number];
  characters?: number;
  items?: number;
  source: string;
}

const LAMBDA = 'https://docs.aws.amazon.com/lambda/latest/api/API_CreateFunction.html';
const MAPPING = 'https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html';
const ASYNC = 'https://docs.aws.amazon.com/lambda/latest/api/API_PutFunctionEventInvokeConfig.html';
const SQS = 'https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html';
const RETRIES = 'https://docs.aws.amazon.com/scheduler/latest/APIReference/API_RetryPolicy.html';
const SCHEDULE = 'https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html';
const ROLE = 'https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateRole.html';
const STATES = 'https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html';
const LOGS = 'https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogGroup.html';
const ALARM = 'https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutMetricAlarm.html';
const CLIENT =
  'https://docs.aws.amazon.com/cognito-user-identity-pools/latest/APIReference/API_CreateUserPoolClient.html';

function bounds(type: string, source: string, rows: Omit<Bound, 'type' | 'source'>[]): Bound[] {
  return rows.map((row) => ({ type, source, ...row }));
}

const BOUNDS: readonly Bound[] = [
  ...bounds('AWS::Lambda::Function', LAMBDA, [
    { property: 'FunctionName', characters: 64 },
    { property: 'Description', characters: 256 },
    { property: 'Timeout', range: [1, 900] },
    { property: 'MemorySize', range: [128, 10_240] },
    { property: 'EphemeralStorage.Size', range: [512, 10_240] },
    { property: 'Layers', items: 5 },
  ]),
  ...bounds('AWS::Lambda::EventInvokeConfig', ASYNC, [
    { property: 'MaximumEventAgeInSeconds', range: [60, 21_600] },
    { property: 'MaximumRetryAttempts', range: [0, 2] },
  ]),
  ...bounds('AWS::Lambda::EventSourceMapping', MAPPING, [
    { property: 'BatchSize', range: [1, 10_000] },
    { property: 'MaximumBatchingWindowInSeconds', range: [0, 300] },
    { property: 'MaximumRetryAttempts', range: [-1, 10_000] },
    { property: 'MaximumRecordAgeInSeconds', range: [-1, 604_800] },
    { property: 'ParallelizationFactor', range: [1, 10] },
    { property: 'TumblingWindowInSeconds', range: [0, 900] },
    { property: 'ScalingConfig.MaximumConcurrency', range: [2, 1_000] },
    // AWS Support raises it to ten.
    { property: 'FilterCriteria.Filters', items: 5 },
  ]),
  ...bounds('AWS::SQS::Queue', SQS, [
    { property: 'QueueName', characters: 80 },
    { property: 'VisibilityTimeout', range: [0, 43_200] },
    { property: 'MessageRetentionPeriod', range: [60, 1_209_600] },
    { property: 'DelaySeconds', range: [0, 900] },
    { property: 'ReceiveMessageWaitTimeSeconds', range: [0, 20] },
    { property: 'RedrivePolicy.maxReceiveCount', range: [1, 1_000] },
  ]),
  ...bounds('AWS::Scheduler::Schedule', SCHEDULE, [
    { property: 'Name', characters: 64 },
    { property: 'Description', characters: 512 },
    { property: 'FlexibleTimeWindow.MaximumWindowInMinutes', range: [1, 1_440] },
  ]),
  ...bounds('AWS::Scheduler::Schedule', RETRIES, [
    { property: 'Target.RetryPolicy.MaximumEventAgeInSeconds', range: [60, 86_400] },
    { property: 'Target.RetryPolicy.MaximumRetryAttempts', range: [0, 185] },
  ]),
  ...bounds('AWS::IAM::Role', ROLE, [
    { property: 'RoleName', characters: 64 },
    { property: 'Description', characters: 1_000 },
    { property: 'MaxSessionDuration', range: [3_600, 43_200] },
  ]),
  ...bounds('AWS::StepFunctions::StateMachine', STATES, [{ property: 'StateMachineName', characters: 80 }]),
  ...bounds('AWS::Logs::LogGroup', LOGS, [{ property: 'LogGroupName', characters: 512 }]),
  ...bounds('AWS::CloudWatch::Alarm', ALARM, [
    { property: 'AlarmName', characters: 255 },
    { property: 'AlarmDescription', characters: 1_024 },
  ]),
  ...bounds('AWS::Cognito::UserPoolClient', CLIENT, [{ property: 'CallbackURLs', items: 100 }]),
];

export const boundLimits: Limit[] = BOUNDS.map((bound) => ({
  name: `${bound.property} of ${bound.type}`,
  source: bound.source,
  check: (deployed) => beyond(deployed, bound),
}));

function beyond(deployed: Deployed, { type, property, range, characters, items }: Bound): string[] {
  return deployed.ofType(type).flatMap(({ name, properties }) => {
    const value = property
      .split('.')
      .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], properties);
    if (value === undefined) return [];
    if (range !== undefined) {
      const [min, max] = range;
      const number = Number(value);
      if (Number.isInteger(number) && number >= min && number <= max) return [];
      return [
        `${name}: ${property} is ${JSON.stringify(value)} and must be from ${count(min)} to ${count(max)}.`,
      ];
    }
    if (characters !== undefined) {
      const { length } = value as string;
      if (length <= characters) return [];
      return [
        `${name}: ${property} has ${count(length)} characters; at most ${count(characters)} are taken.`,
      ];
    }
    const { length } = value as unknown[];
    if (length <= (items ?? Infinity)) return [];
    return [`${name}: ${property} has ${count(length)} entries; at most ${count(items ?? 0)} are taken.`];
  });
}
