import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { tables } from '../../functions/routes.ts';
import { ROOT } from '../../lib/bundle.ts';
import { ofType, type Resources, synthesizedApp } from './synthesized.ts';

const { stacks, data, platform } = synthesizedApp();
const all = { ...data, ...platform };
const alarms = ofType(all, 'AWS::CloudWatch::Alarm').map(([, { Properties }]) => Properties);

/** CloudFormation takes 500; with twice as many domains there would be about twice as many alarms. */
const RESOURCES_MAX = 300;

/** What a metric is about: the id of a resource, or a name that is the same wherever the app is deployed. */
function subjectOf(value: { Ref?: string; 'Fn::GetAtt'?: string[] } | string): string {
  if (typeof value === 'string') return value;
  return value.Ref ?? value['Fn::GetAtt']?.[0] ?? '';
}

const subjectsOf = (metric: string): string[] =>
  alarms
    .filter(({ MetricName }) => MetricName === metric)
    .map(({ Dimensions }) =>
      (Dimensions as { Value: string }[]).map(({ Value }) => subjectOf(Value)).join(' '),
    )
    .sort();

const idsOf = (type: string, isIt: (id: string) => boolean = () => true, among: Resources = all): string[] =>
  ofType(among, type)
    .map(([id]) => id)
    .filter(isIt)
    .sort();

const mappings = ofType(platform, 'AWS::Lambda::EventSourceMapping').map(([, { Properties }]) => Properties);
const streams = mappings.filter(({ StartingPosition }) => StartingPosition);
const failureQueues = new Set(
  Array.from(
    JSON.stringify(platform).matchAll(
      /"(?:deadLetterTargetArn|Destination|DeadLetterConfig":\{"Arn)":\{"Fn::GetAtt":\["(\w+)"/g,
    ),
    ([, id]) => id,
  ),
);

describe('is watched:', () => {
  test('every function, for errors', () => {
    expect(subjectsOf('Errors')).toEqual(idsOf('AWS::Lambda::Function'));
  });

  test('every reader of a stream, for being late', () => {
    expect(streams.length).toBeGreaterThan(0);
    expect(subjectsOf('IteratorAge')).toEqual(
      streams.map(({ FunctionName }) => FunctionName.Ref as string).sort(),
    );
  });

  test('every queue of failures, for anything in it', () => {
    expect(new Set(subjectsOf('ApproximateNumberOfMessagesVisible'))).toEqual(failureQueues);
  });

  test('every other queue, for messages that nobody reads', () => {
    expect(subjectsOf('ApproximateAgeOfOldestMessage')).toEqual(
      idsOf('AWS::SQS::Queue', (id) => !failureQueues.has(id)),
    );
  });

  test.each(['ExecutionsFailed', 'ExecutionsTimedOut'])('every workflow, for %s', (metric) => {
    expect(subjectsOf(metric)).toEqual(idsOf('AWS::StepFunctions::StateMachine'));
  });

  test.each(['ReadThrottleEvents', 'WriteThrottleEvents'])('every table and index, for %s', (metric) => {
    const places = ofType(data, 'AWS::DynamoDB::Table').flatMap(([id, { Properties }]) => {
      const indexes = (Properties.GlobalSecondaryIndexes ?? []) as { IndexName: string }[];
      return [id, ...indexes.map(({ IndexName }) => `${IndexName} ${id}`)];
    });
    expect(subjectsOf(metric)).toEqual(places.sort());
  });

  test('every table, for conflicts of transactions', () => {
    expect(subjectsOf('TransactionConflict')).toEqual(idsOf('AWS::DynamoDB::Table'));
  });

  test('every stage, for what its gateway answers with 5xx or could not run', () => {
    const stages = (protocol: string) =>
      ofType(platform, 'AWS::ApiGatewayV2::Stage')
        .map(
          ([, { Properties }]) => [Properties.ApiId.Ref as string, Properties.StageName as string] as const,
        )
        .filter(([api]) => platform[api]?.Properties.ProtocolType === protocol)
        .map((each) => each.join(' '));
    expect(subjectsOf('5xx')).toEqual(stages('HTTP'));
    expect(subjectsOf('ExecutionError')).toEqual(stages('WEBSOCKET'));
  });

  test('every domain and what no domain takes, for requests that are answered with 5xx', () => {
    expect(subjectsOf('failed')).toEqual([...Object.keys(tables), 'unrouted'].sort());
  });

  test('all functions together, for throttling, and all tables together, for errors of DynamoDB', () => {
    const together = alarms.filter(({ Namespace, Dimensions }) => Namespace !== 'Gpuaas' && !Dimensions);
    expect(together.map(({ MetricName, Metrics }) => MetricName ?? Metrics)).toEqual([
      'Throttles',
      [
        {
          Id: expect.any(String) as unknown,
          Expression: 'SELECT SUM(SystemErrors) FROM SCHEMA("AWS/DynamoDB", Operation, TableName)',
          Period: 300,
          ReturnData: true,
        },
      ],
    ]);
  });

  test('whoever comes with what is not theirs: a credential, a token, a key, what is another node’s', () => {
    expect(subjectsOf('written_refusals')).toEqual([
      'intent.unwrapped',
      'intent.wrong_token',
      'join_token.expired',
      'join_token.used',
      'node.key_cloned',
      'node.key_taken',
      'node.unknown',
      'pull.not_assigned',
      'secret.fetched',
      'secret.unknown',
      'task.unknown',
    ]);
  });
});

describe('every alarm', () => {
  const [topic] = ofType(platform, 'AWS::SNS::Topic').map(([id]) => id);

  test('tells the topic people listen to', () => {
    expect(alarms.length).toBeGreaterThan(0);
    for (const { AlarmActions } of alarms) expect(AlarmActions).toEqual([{ Ref: topic }]);
  });

  test('may do so', () => {
    const [[, policy] = []] = ofType(platform, 'AWS::SNS::TopicPolicy');
    expect(policy?.Properties.PolicyDocument.Statement).toContainEqual(
      expect.objectContaining({
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Action: 'sns:Publish',
      }),
    );
  });

  test('is raised by the first of what it counts, where no level is given', () => {
    const levels: Record<string, number> = {
      IteratorAge: 5 * 60 * 1000,
      ApproximateAgeOfOldestMessage: 5 * 60,
      waiting_seconds: 5 * 60,
      TransactionConflict: 300,
      SystemErrors: 10,
    };
    for (const { MetricName = 'SystemErrors', Threshold, ComparisonOperator, TreatMissingData } of alarms) {
      expect(ComparisonOperator).toBe('GreaterThanThreshold');
      expect(Threshold, MetricName).toBe(levels[MetricName as string] ?? 0);
      // Most of these metrics exist only when something is wrong.
      expect(TreatMissingData).toBe('notBreaching');
    }
  });

  test('counts for five minutes, so that a short outage is not between two counts', () => {
    for (const { Period, Metrics, EvaluationPeriods } of alarms) {
      expect(Period ?? Metrics[0].Period).toBe(300);
      expect(EvaluationPeriods).toBe(1);
    }
  });

  test('says what it means and where the runbook is, which has a section for it', () => {
    for (const { AlarmDescription } of alarms) {
      const [, meaning = '', file = '', kind = ''] =
        /^(.+\.) Runbook: (docs\/runbooks\/[\w-]+\.md), (\w+)\.$/.exec(AlarmDescription as string) ?? [];
      expect(meaning.length, AlarmDescription).toBeGreaterThan(20);
      expect(readFileSync(join(ROOT, file), 'utf8'), kind).toMatch(new RegExp(`^## \`${kind}\``, 'm'));
    }
  });

  test('has room beside it for as many again', () => {
    const resources = Object.keys(stacks['GpuaasAlarms'] ?? {}).length;
    expect(2 * resources).toBeLessThanOrEqual(RESOURCES_MAX);
  });
});

describe('the runbook of alarms', () => {
  test('has no section that no alarm points to', () => {
    const text = readFileSync(join(ROOT, 'docs/runbooks/alarms.md'), 'utf8');
    const kinds = [...text.matchAll(/^## `(\w+)`/gm)].map(([, kind]) => kind);
    const raised = new Set(
      alarms.map(({ AlarmDescription }) => /(\w+)\.$/.exec(AlarmDescription as string)?.[1]),
    );
    expect(kinds.filter((kind) => !raised.has(kind))).toEqual([]);
  });
});

test('the gateway keeps no metrics by route, each of which would cost money every month', () => {
  for (const [, { Properties }] of ofType(platform, 'AWS::ApiGatewayV2::Stage')) {
    expect(Properties.DefaultRouteSettings?.DetailedMetricsEnabled ?? false).toBe(false);
    for (const settings of Object.values(Properties.RouteSettings ?? {}))
      expect((settings as { DetailedMetricsEnabled?: boolean }).DetailedMetricsEnabled ?? false).toBe(false);
  }
});
