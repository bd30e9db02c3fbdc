import { describe, expect, test } from 'vitest';
import { findingsOf, resource } from './limits-world.ts';

type Row = [type: string, property: string, atMost: unknown, tooMuch: unknown, whatIsSaid: string];

const long = (characters: number) => 'x'.repeat(characters);
const filters = (items: number) => Array.from({ length: items }, () => ({ Pattern: '{}' }));

const ROWS: Row[] = [
  ['Lambda::Function', 'FunctionName', long(64), long(65), 'at most 64'],
  ['Lambda::Function', 'Description', long(256), long(257), 'at most 256'],
  ['Lambda::Function', 'Timeout', 900, 901, 'from 1 to 900'],
  ['Lambda::Function', 'MemorySize', 10_240, 64, 'from 128 to 10,240'],
  ['Lambda::Function', 'EphemeralStorage.Size', 512, 511, 'from 512 to 10,240'],
  ['Lambda::Function', 'Layers', [1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], 'at most 5'],
  ['Lambda::EventInvokeConfig', 'MaximumEventAgeInSeconds', 21_600, 21_601, 'from 60 to 21,600'],
  ['Lambda::EventInvokeConfig', 'MaximumRetryAttempts', 2, 3, 'from 0 to 2'],
  ['Lambda::EventSourceMapping', 'BatchSize', 10_000, 10_001, 'from 1 to 10,000'],
  ['Lambda::EventSourceMapping', 'MaximumBatchingWindowInSeconds', 300, 301, 'from 0 to 300'],
  ['Lambda::EventSourceMapping', 'MaximumRetryAttempts', -1, 10_001, 'from -1 to 10,000'],
  ['Lambda::EventSourceMapping', 'MaximumRecordAgeInSeconds', 604_800, 604_801, 'from -1 to 604,800'],
  ['Lambda::EventSourceMapping', 'ParallelizationFactor', 10, 11, 'from 1 to 10'],
  ['Lambda::EventSourceMapping', 'TumblingWindowInSeconds', 900, 901, 'from 0 to 900'],
  ['Lambda::EventSourceMapping', 'ScalingConfig.MaximumConcurrency', 2, 1, 'from 2 to 1,000'],
  ['Lambda::EventSourceMapping', 'FilterCriteria.Filters', filters(5), filters(6), 'at most 5'],
  ['SQS::Queue', 'QueueName', long(80), long(81), 'at most 80'],
  ['SQS::Queue', 'VisibilityTimeout', 43_200, 43_201, 'from 0 to 43,200'],
  ['SQS::Queue', 'MessageRetentionPeriod', 1_209_600, 59, 'from 60 to 1,209,600'],
  ['SQS::Queue', 'DelaySeconds', 900, 901, 'from 0 to 900'],
  ['SQS::Queue', 'ReceiveMessageWaitTimeSeconds', 20, 21, 'from 0 to 20'],
  ['SQS::Queue', 'RedrivePolicy.maxReceiveCount', 1_000, 0, 'from 1 to 1,000'],
  ['Scheduler::Schedule', 'Name', long(64), long(65), 'at most 64'],
  ['Scheduler::Schedule', 'Description', long(512), long(513), 'at most 512'],
  ['Scheduler::Schedule', 'FlexibleTimeWindow.MaximumWindowInMinutes', 1_440, 1_441, 'from 1 to 1,440'],
  ['Scheduler::Schedule', 'Target.RetryPolicy.MaximumEventAgeInSeconds', 86_400, 59, 'from 60 to 86,400'],
  ['Scheduler::Schedule', 'Target.RetryPolicy.MaximumRetryAttempts', 185, 186, 'from 0 to 185'],
  ['IAM::Role', 'RoleName', long(64), long(65), 'at most 64'],
  ['IAM::Role', 'Description', long(1_000), long(1_001), 'at most 1,000'],
  ['IAM::Role', 'MaxSessionDuration', 43_200, 3_599, 'from 3,600 to 43,200'],
  ['StepFunctions::StateMachine', 'StateMachineName', long(80), long(81), 'at most 80'],
  ['Logs::LogGroup', 'LogGroupName', long(512), long(513), 'at most 512'],
  ['CloudWatch::Alarm', 'AlarmName', long(255), long(256), 'at most 255'],
  ['CloudWatch::Alarm', 'AlarmDescription', long(1_024), long(1_025), 'at most 1,024'],
];

/** What the type needs besides, to be nothing but beyond this bound. */
const BESIDES: Record<string, Record<string, unknown>> = {
  'Scheduler::Schedule': { ScheduleExpression: 'rate(1 hour)' },
};

function withValue(type: string, path: string, value: unknown): ReturnType<typeof resource> {
  const nested = path.split('.').reduceRight<unknown>((inner, key) => ({ [key]: inner }), value) as Record<
    string,
    unknown
  >;
  return resource(type, { ...BESIDES[type], ...nested });
}

describe('a property is taken up to its bound, and refused beyond it', () => {
  test.each<Row>(ROWS)('%s %s', (type, property, atMost, tooMuch, whatIsSaid) => {
    expect(findingsOf({ It: withValue(type, property, atMost) })).toEqual([]);
    const found = findingsOf({ It: withValue(type, property, tooMuch) });
    expect(found).toEqual([expect.stringContaining(`S/It: ${property} `)]);
    expect(found[0]).toContain(whatIsSaid);
    expect(found[0]).toMatch(/ \(https:\/\/docs\.aws\.amazon\.com\/\S+\)$/);
  });

  test('a number may be written as text, and must be whole', () => {
    expect(findingsOf({ It: withValue('SQS::Queue', 'DelaySeconds', '5') })).toEqual([]);
    expect(findingsOf({ It: withValue('SQS::Queue', 'DelaySeconds', 0.5) })).toHaveLength(1);
  });
});
