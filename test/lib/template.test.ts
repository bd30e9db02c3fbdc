import { describe, expect, test } from 'vitest';
import { ofType, synthesizedApp } from './synthesized.ts';

const { data, platform } = synthesizedApp();
const all = { ...data, ...platform };
const functions = ofType(all, 'AWS::Lambda::Function');
const mappings = ofType(platform, 'AWS::Lambda::EventSourceMapping');
const queues = ofType(platform, 'AWS::SQS::Queue');

describe('the template', () => {
  test('holds no custom resource, which only the cloud could run', () => {
    expect(
      Object.values(all).filter(({ Type }) => /^(Custom::|AWS::CloudFormation::CustomResource)/.test(Type)),
    ).toEqual([]);
  });
});

describe('what must never be lost', () => {
  const stateful = Object.entries(all).filter(([, { Type }]) =>
    [
      'AWS::DynamoDB::Table',
      'AWS::S3::Bucket',
      'AWS::KMS::Key',
      'AWS::ECR::Repository',
      'AWS::Cognito::UserPool',
    ].includes(Type),
  );

  test('stands in the data stack alone', () => {
    expect(stateful.map(([id]) => id).filter((id) => id in platform)).toEqual([]);
    expect(stateful.length).toBeGreaterThan(0);
  });

  test.each(stateful)('%s survives the stack, but not a first deployment that failed', (_, resource) => {
    expect(resource).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
  });

  test('has no name of ours, which what an earlier stack has left could hold', () => {
    const named = new Set(['TableName', 'BucketName', 'RepositoryName', 'AliasName']);
    for (const [id, { Properties }] of Object.entries(data))
      expect(
        Object.keys(Properties).filter((each) => named.has(each)),
        id,
      ).toEqual([]);
  });

  test.each(ofType(data, 'AWS::DynamoDB::Table'))('%s can be restored to any second', (_, table) => {
    expect(table.Properties).toMatchObject({
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
      SSESpecification: { SSEEnabled: true },
      BillingMode: 'PAY_PER_REQUEST',
    });
  });

  test('control and usage have streams that show before and after; the ledger has none', () => {
    const streams = ofType(data, 'AWS::DynamoDB::Table').map(([id, table]) => [
      id.replace(/[0-9A-F]{8}$/, ''),
      table.Properties.StreamSpecification?.StreamViewType,
    ]);
    expect(Object.fromEntries(streams)).toEqual({
      Control: 'NEW_AND_OLD_IMAGES',
      Usage: 'NEW_AND_OLD_IMAGES',
      Ledger: undefined,
    });
  });

  test('control alone forgets items, at the time they name; usage and the ledger never do', () => {
    const expiring = ofType(data, 'AWS::DynamoDB::Table').map(([id, table]) => [
      id.replace(/[0-9A-F]{8}$/, ''),
      table.Properties.TimeToLiveSpecification,
    ]);
    expect(Object.fromEntries(expiring)).toEqual({
      Control: { AttributeName: 'expires_at', Enabled: true },
      Usage: undefined,
      Ledger: undefined,
    });
  });

  test('files that apps are made of are kept in every version, and images of the platform under their tags', () => {
    const [, bucket] = ofType(data, 'AWS::S3::Bucket').find(([id]) => id.startsWith('Artifacts')) ?? [];
    expect(bucket?.Properties.VersioningConfiguration).toEqual({ Status: 'Enabled' });
    for (const [, repository] of ofType(data, 'AWS::ECR::Repository'))
      expect(repository.Properties.ImageTagMutability).toBe('IMMUTABLE');
  });

  test('people are let in by an administrator alone, and sign in with a second factor', () => {
    const pools = ofType(data, 'AWS::Cognito::UserPool').map(([, { Properties }]) => Properties);
    expect(pools).toMatchObject([
      {
        AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
        MfaConfiguration: 'ON',
      },
    ]);
  });

  test.each(ofType(data, 'AWS::S3::Bucket'))('%s is closed to the public', (_, bucket) => {
    expect(new Set(Object.values(bucket.Properties.PublicAccessBlockConfiguration))).toEqual(new Set([true]));
  });
});

describe('every function', () => {
  test.each(functions)('%s runs on Node 24, arm64, traced, in its own log group', (_, fn) => {
    expect(fn.Properties).toMatchObject({
      Runtime: 'nodejs24.x',
      Architectures: ['arm64'],
      Handler: 'index.handler',
      TracingConfig: { Mode: 'Active' },
    });
    const logGroup = all[fn.Properties.LoggingConfig.LogGroup.Ref];
    expect(logGroup?.Properties.LogGroupName).toBe(`/aws/lambda/${fn.Properties.FunctionName}`);
    expect(logGroup?.Properties.RetentionInDays).toBeGreaterThan(0);
  });

  test('has a role nobody shares, without managed policies', () => {
    const roles = functions.map(([, fn]) => fn.Properties.Role['Fn::GetAtt'][0] as string);
    expect(new Set(roles).size).toBe(functions.length);
    expect(ofType(all, 'AWS::IAM::Role').filter(([, role]) => role.Properties.ManagedPolicyArns)).toEqual([]);
  });
});

describe('every consumer', () => {
  test.each(mappings)('%s answers for each record and sends what fails for good somewhere', (_, mapping) => {
    expect(mapping.Properties.FunctionResponseTypes).toEqual(['ReportBatchItemFailures']);
    const destination = mapping.Properties.DestinationConfig?.OnFailure.Destination['Fn::GetAtt'][0] as
      string | undefined;
    const source = mapping.Properties.EventSourceArn['Fn::GetAtt']?.[0] as string | undefined;
    const failures =
      destination ?? platform[source ?? '']?.Properties.RedrivePolicy?.deadLetterTargetArn['Fn::GetAtt'][0];
    expect(platform[failures]?.Type).toBe('AWS::SQS::Queue');
  });

  test('of a queue has time to finish before the message is given to another', () => {
    const ofQueues = mappings.filter(([, { Properties }]) => !Properties.StartingPosition);
    expect(ofQueues.length).toBeGreaterThan(0);
    for (const [, { Properties }] of ofQueues) {
      const fn = platform[Properties.FunctionName.Ref];
      const queue = platform[Properties.EventSourceArn['Fn::GetAtt'][0]];
      expect(queue?.Properties.VisibilityTimeout).toBeGreaterThanOrEqual(6 * fn?.Properties.Timeout);
    }
  });

  test('of a stream tries again until a record is too old, however often, and says which it gave up', () => {
    const streams = mappings.filter(([, { Properties }]) => Properties.StartingPosition);
    for (const [, { Properties }] of streams) {
      expect(Properties).toMatchObject({
        StartingPosition: 'TRIM_HORIZON',
        BisectBatchOnFunctionError: true,
        MaximumRetryAttempts: 10_000,
        MaximumRecordAgeInSeconds: 6 * 3600,
      });
      expect(Properties.FilterCriteria.Filters.length).toBeGreaterThan(0);
    }
  });

  test('of the control table’s stream is the relay or the dispatcher: a shard serves no third', () => {
    const readers = mappings
      .filter(([, { Properties }]) => Properties.StartingPosition)
      .map(([, { Properties }]) => ({
        stream: JSON.stringify(Properties.EventSourceArn),
        name: platform[Properties.FunctionName.Ref]?.Properties.FunctionName as string,
      }));
    expect(new Set(readers.map(({ stream }) => stream)).size).toBe(1);
    expect(readers.map(({ name }) => name).sort()).toEqual([
      'GpuaasCore-events-dispatch-events',
      'GpuaasCore-events-relay-events',
    ]);
  });
});

describe('every queue', () => {
  const failureQueues = new Set(
    Array.from(
      JSON.stringify(platform).matchAll(
        /"(?:deadLetterTargetArn|Destination|DeadLetterConfig":\{"Arn)":\{"Fn::GetAtt":\["(\w+)"/g,
      ),
      ([, id]) => id,
    ),
  );

  test.each(queues)('%s is encrypted and is a failure queue or has one', (id, queue) => {
    expect(queue.Properties.SqsManagedSseEnabled).toBe(true);
    expect(failureQueues.has(id) || queue.Properties.RedrivePolicy !== undefined).toBe(true);
  });

  test('refuses plain HTTP', () => {
    const guarded = ofType(platform, 'AWS::SQS::QueuePolicy').map(
      ([, policy]) => policy.Properties.Queues[0].Ref as string,
    );
    expect(guarded.sort()).toEqual(queues.map(([id]) => id).sort());
  });
});

describe('every state machine and schedule', () => {
  test.each(ofType(platform, 'AWS::StepFunctions::StateMachine'))(
    '%s is traced and logged, without the data it carries',
    (_, machine) => {
      expect(machine.Properties).toMatchObject({
        TracingConfiguration: { Enabled: true },
        LoggingConfiguration: { Level: 'ALL', IncludeExecutionData: false },
      });
    },
  );

  test.each(ofType(platform, 'AWS::Scheduler::Schedule'))(
    '%s has a role of its own and notices what fails',
    (_, schedule) => {
      const { Target } = schedule.Properties;
      expect(platform[Target.RoleArn['Fn::GetAtt'][0]]?.Type).toBe('AWS::IAM::Role');
      expect(Target.DeadLetterConfig.Arn['Fn::GetAtt']).toBeDefined();
      expect(Target.RetryPolicy.MaximumRetryAttempts).toBeDefined();
      const invoked = ofType(platform, 'AWS::Lambda::EventInvokeConfig').find(
        ([, config]) => config.Properties.FunctionName.Ref === Target.Arn['Fn::GetAtt'][0],
      );
      expect(invoked?.[1].Properties.DestinationConfig.OnFailure).toBeDefined();
    },
  );
});
