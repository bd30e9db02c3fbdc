import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { beyondLimits, checkLimits } from '../../../lib/local/limits/check-limits.ts';
import type { Template, TemplateResource } from '../../../lib/local/template/template.ts';
import { arnOf, findings, findingsOf, lambda, many, resource, type Resources } from './limits-world.ts';

/** A row: what is wrong, the resources it is wrong with, and what is said of it. */
type Row = [what: string, resources: Resources, said: string];

const refuses = (rows: Row[]) =>
  test.each<Row>(rows)('%s is refused', (_what, resources, said) => {
    expect(findingsOf(resources)).toEqual([expect.stringContaining(said)]);
  });

const takes = (rows: [what: string, resources: Resources][]) =>
  test.each(rows)('%s is taken', (_what, resources) => {
    expect(findingsOf(resources)).toEqual([]);
  });

const entries = <T>(times: number, value: T): Record<string, T> =>
  Object.fromEntries(Array.from({ length: times }, (_, index) => [`E${index}`, value]));

/** An empty file in a folder of its own, for one test; it grows without taking room. */
function fileOf(name: string): { folder: string; file: string } {
  const folder = mkdtempSync(join(tmpdir(), 'gpuaas-limits-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  writeFileSync(file, '');
  return { folder, file };
}

test('everything that is wrong is said at once', () => {
  const stacks = [
    {
      name: 'S',
      template: { Resources: { A: lambda({ Timeout: 901 }), B: lambda({ MemorySize: 1 }) } },
      assets: new Map(),
    },
  ];
  expect(() => checkLimits(stacks)).toThrow(
    /^AWS would not deploy these stacks:\n- S\/A: Timeout is 901 .*\n- S\/B: MemorySize is 1 /,
  );
});

describe('a stack', () => {
  test.each<[section: string, template: Template]>([
    ['500 Resources', { Resources: many(501, () => resource('SNS::Topic')) }],
    ['200 Outputs', { Outputs: entries(201, { Value: 'x' }) }],
    ['200 Parameters', { Parameters: entries(201, { Type: 'String' }) }],
    ['200 Mappings', { Mappings: entries(201, { a: { b: 'c' } }) }],
  ])('has at most %s', (most, template) => {
    const [max, section] = most.split(' ');
    expect(findings({ S: template })).toEqual([
      expect.stringContaining(
        `S: the template has ${Number(max) + 1} ${section}; a stack has at most ${max}.`,
      ),
    ]);
  });

  test('of 500 resources is taken', () => {
    expect(findingsOf(many(500, () => resource('SNS::Topic')))).toEqual([]);
  });

  test('is written in at most 1 MB', () => {
    const properties = { DashboardBody: 'x'.repeat(1_000_000) };
    expect(findingsOf({ It: resource('CloudWatch::Dashboard', properties) })).toEqual([
      expect.stringContaining('CloudFormation reads 1 MB'),
    ]);
  });

  const reading = (stack: string) => ({
    Resources: {
      Topic: resource('SNS::Topic', {
        DisplayName: { 'Fn::GetStackOutput': { StackName: stack, OutputName: 'Name' } },
      }),
    },
    Outputs: { Name: { Value: 'x' } },
  });

  test('reads outputs of the stacks before it', () => {
    expect(findings({ A: { Outputs: { Name: { Value: 'x' } } }, B: reading('A') })).toEqual([]);
  });

  test('reads no output of a stack that comes after it, so no two read each other', () => {
    expect(findings({ A: reading('B'), B: reading('A') })).toEqual([
      expect.stringContaining('A reads an output of B, which is deployed after it.'),
    ]);
  });

  test('reads no output that is not there', () => {
    expect(findings({ A: {}, B: reading('A') })).toEqual([
      expect.stringContaining('B/Topic: DisplayName cannot be resolved: A has no output Name.'),
    ]);
  });

  test('exports nothing under a fixed name', () => {
    expect(findings({ S: { Outputs: { Out: { Value: 'x', Export: { Name: 'fixed' } } } } })).toEqual([
      expect.stringContaining('S/Out is exported as fixed'),
    ]);
  });

  test('imports nothing that nobody exports', () => {
    const topic = resource('SNS::Topic', { DisplayName: { 'Fn::ImportValue': 'nothing' } });
    expect(findingsOf({ Topic: topic })).toEqual([
      expect.stringContaining(
        'S/Topic: DisplayName cannot be resolved: No stack of this assembly exports nothing.',
      ),
    ]);
  });

  test('refers to nothing that is not in it', () => {
    expect(findingsOf({ Topic: resource('SNS::Topic', { DisplayName: { Ref: 'Gone' } }) })).toEqual([
      expect.stringContaining('S refers to Gone, which is not in its template.'),
    ]);
  });
});

describe('a function', () => {
  const withVariables = (variables: Record<string, unknown>) =>
    lambda({ Environment: { Variables: variables } });
  const aQueue = { Queue: resource('SQS::Queue') };
  // {"A1":"…"} in 4,096 bytes.
  const fitting = 'x'.repeat(4096 - 9);

  refuses([
    [
      'an environment of more than 4 KB',
      { Fn: withVariables({ A1: `${fitting}x` }) },
      'its environment has 4,097 bytes',
    ],
    [
      'an environment of more than 4 KB once its addresses are known',
      { ...aQueue, Fn: withVariables({ A1: fitting.slice(80), A2: { Ref: 'Queue' } }) },
      'a function has at most 4 KB',
    ],
    [
      'a variable that Lambda sets',
      { Fn: withVariables({ AWS_REGION: 'x' }) },
      'Lambda sets AWS_REGION itself',
    ],
    ['a variable with a dash', { Fn: withVariables({ 'A-B': 'x' }) }, 'A-B cannot be a variable'],
    [
      'a policy of more than 20 KB',
      {
        Fn: lambda(),
        ...many(100, () =>
          resource('Lambda::Permission', {
            FunctionName: arnOf('Fn'),
            Action: 'lambda:InvokeFunction',
            Principal: 'apigateway.amazonaws.com',
            SourceArn: 'arn:aws:execute-api:us-east-1:000000000000:api/*/*/path',
          }),
        ),
      },
      'S/Fn: its 100 permissions have',
    ],
  ]);
  takes([
    ['an environment of 4 KB', { Fn: withVariables({ A1: fitting }) }],
    ['a variable of AWS that functions may set', { Fn: withVariables({ AWS_LAMBDA_EXEC_WRAPPER: 'x' }) }],
  ]);

  test('has at most 250 MB of code', () => {
    const { folder, file } = fileOf('index.mjs');
    const template = { Resources: { Fn: lambda({ Code: { S3Key: 'code.zip' } }) } };
    const assets = new Map([['code.zip', folder]]);
    truncateSync(file, 250 * 1024 * 1024);
    expect(beyondLimits([{ name: 'S', template, assets }])).toEqual([]);
    truncateSync(file, 250 * 1024 * 1024 + 1);
    expect(beyondLimits([{ name: 'S', template, assets }])).toEqual([
      expect.stringContaining('S/Fn: its code has 262,144,001 bytes'),
    ]);
  });

  test('reserves concurrency as long as 100 stay for others, in all stacks together', () => {
    const stack = (reserved: number) => ({
      Resources: { Fn: lambda({ ReservedConcurrentExecutions: reserved }) },
    });
    expect(findings({ A: stack(450), B: stack(450) })).toEqual([]);
    expect(findings({ A: stack(450), B: stack(451) })).toEqual([
      expect.stringContaining('The functions reserve 901 of 1,000 concurrent executions'),
    ]);
    expect(findings({ A: stack(450), B: stack(451) }, { concurrencyQuota: 2_000 })).toEqual([]);
    expect(findings({ A: stack(1) }, { concurrencyQuota: 10 })).toHaveLength(1);
  });
});

describe('a policy', () => {
  const document = (characters: number) => ({
    Statement: 'x'.repeat(characters - '{"Statement":""}'.length),
  });
  const role = (properties = {}) =>
    resource('IAM::Role', { AssumeRolePolicyDocument: document(2_048), ...properties });
  const onRole = (characters: number) =>
    resource('IAM::Policy', {
      PolicyName: 'p',
      PolicyDocument: document(characters),
      Roles: [{ Ref: 'Role' }],
    });
  const inline = (characters: number) => ({
    Policies: [{ PolicyName: 'q', PolicyDocument: document(characters) }],
  });

  refuses([
    [
      'more than 10,240 characters on one role',
      { Role: role(inline(5_000)), Policy: onRole(5_241) },
      'S/Role: its inline policies have 10,241 characters',
    ],
    [
      'trust in more than 2,048 characters',
      { Role: role({ AssumeRolePolicyDocument: document(2_049) }) },
      'its trust policy has 2,049',
    ],
    [
      'an eleventh managed policy',
      {
        Role: role({ ManagedPolicyArns: Array(10).fill('arn') }),
        Managed: resource('IAM::ManagedPolicy', { PolicyDocument: {}, Roles: [{ Ref: 'Role' }] }),
      },
      'S/Role: it has 11 managed policies',
    ],
    [
      'a character that IAM does not know',
      { Role: role({ Description: 'the host’s role' }) },
      'IAM does not take the character ’',
    ],
    [
      'a managed policy of more than 6,144 characters',
      { It: resource('IAM::ManagedPolicy', { PolicyDocument: document(6_145) }) },
      'at most 6,144',
    ],
    [
      'a key policy of more than 32 KB',
      { It: resource('KMS::Key', { KeyPolicy: document(32_769) }) },
      'at most 32,768',
    ],
    [
      'a bucket policy of more than 20 KB',
      { It: resource('S3::BucketPolicy', { PolicyDocument: document(20_481) }) },
      'at most 20,480',
    ],
    [
      'a topic policy of more than 30 KB',
      { It: resource('SNS::TopicPolicy', { PolicyDocument: document(30_721) }) },
      'at most 30,720',
    ],
    [
      'a queue policy of more than 8 KB',
      { It: resource('SQS::QueuePolicy', { PolicyDocument: document(8_193) }) },
      'at most 8,192',
    ],
    [
      'a log policy of more than 5,120 characters',
      { It: resource('Logs::ResourcePolicy', { PolicyDocument: document(5_121) }) },
      'at most 5,120',
    ],
  ]);
  takes([
    ['10,240 characters on one role', { Role: role(inline(5_000)), Policy: onRole(5_240) }],
    [
      'as much white space as one likes',
      { Role: role({ AssumeRolePolicyDocument: { Statement: ' '.repeat(5_000) } }) },
    ],
  ]);
});

describe('an API', () => {
  const api = (protocol = 'HTTP', properties = {}) =>
    resource('ApiGatewayV2::Api', {
      ProtocolType: protocol,
      RouteSelectionExpression: '$request.body.action',
      ...properties,
    });
  const part = (kind: string, properties = {}) =>
    resource(`ApiGatewayV2::${kind}`, { ApiId: { Ref: 'Api' }, ...properties });
  const route = (key: string) => part('Route', { RouteKey: key });
  const integration = (properties = {}) =>
    part('Integration', { IntegrationUri: arnOf('Fn'), ...properties });
  const throttled = (rate?: number, burst?: number) =>
    part('Stage', {
      StageName: '$default',
      DefaultRouteSettings: { ThrottlingRateLimit: rate, ThrottlingBurstLimit: burst },
    });
  const socket = (properties: object) => ({
    Api: api('WEBSOCKET'),
    Stage: part('Stage', { StageName: 'live', ...properties }),
  });

  refuses([
    [
      'a 301st route',
      { Api: api(), ...many(301, (index) => route(`GET /${index}`)) },
      'S/Api: it has 301 routes; an API has at most 300. Ask AWS for more',
    ],
    [
      'a 301st integration',
      { Api: api(), Fn: lambda(), ...many(301, () => integration()) },
      'it has 301 integrations',
    ],
    [
      'an eleventh stage',
      { Api: api(), ...many(11, (index) => part('Stage', { StageName: `s${index}` })) },
      'it has 11 stages',
    ],
    [
      'the same route twice',
      { Api: api(), A: route('GET /a'), B: route('GET /a') },
      'S/A, S/B: an API has the route GET /a once.',
    ],
    ['a route without a method', { Api: api(), A: route('/a') }, '/a is not a route'],
    [
      'a function that runs longer than an HTTP API waits',
      { Api: api(), Fn: lambda({ Timeout: 31 }), It: integration() },
      'S/Fn: it may run for 31 s, and API Gateway answers for it after 30 s',
    ],
    [
      'a function that runs longer than a WebSocket API waits',
      { Api: api('WEBSOCKET'), Fn: lambda({ Timeout: 30 }), It: integration() },
      'answers for it after 29 s',
    ],
    [
      'an integration that waits longer than it can',
      { Api: api(), Fn: lambda(), It: integration({ TimeoutInMillis: 30_001 }) },
      'from 50 to 30,000',
    ],
    [
      'a throttle without a burst',
      { Api: api(), It: throttled(100) },
      'it lets through 100 requests a second and undefined at once',
    ],
    [
      'a throttle above what the account has',
      { Api: api(), It: throttled(10_001, 5_000) },
      'the rate from 1 to 10,000',
    ],
    [
      'a throttle in a route’s own settings that lets nothing through',
      {
        Api: api(),
        It: part('Stage', {
          RouteSettings: { 'GET /': { ThrottlingRateLimit: 0, ThrottlingBurstLimit: 0 } },
        }),
      },
      'lets through 0 requests',
    ],
    [
      'a default stage of a WebSocket API',
      socket({ StageName: '$default' }),
      '$default cannot be the stage of a WebSocket API',
    ],
    [
      'an access log of a WebSocket API that no role of the account writes',
      socket({ AccessLogSettings: {} }),
      'no AWS::ApiGateway::Account names the role',
    ],
    [
      'a WebSocket API without route selection',
      { Api: api('WEBSOCKET', { RouteSelectionExpression: { Ref: 'AWS::NoValue' } }) },
      'must say how routes are selected',
    ],
    [
      'a firewall before an HTTP API',
      {
        Api: api(),
        Wall: resource('WAFv2::WebACLAssociation', {
          ResourceArn: { 'Fn::Sub': 'arn:aws:apigateway:us-east-1::/apis/${Api}/stages/x' },
        }),
      },
      'AWS WAF does not protect HTTP and WebSocket APIs',
    ],
  ]);
  takes([
    ['300 routes', { Api: api(), ...many(300, (index) => route(`GET /${index}`)) }],
    [
      'the same route of two APIs',
      {
        Api: api(),
        Other: api(),
        A: route('GET /a'),
        B: resource('ApiGatewayV2::Route', { ApiId: { Ref: 'Other' }, RouteKey: 'GET /a' }),
      },
    ],
    [
      'a function that runs as long as the API waits',
      { Api: api(), Fn: lambda({ Timeout: 30 }), It: integration() },
    ],
    ['a throttle as high as the account’s', { Api: api(), It: throttled(10_000, 5_000) }],
    [
      'an access log with a role to write it',
      { ...socket({ AccessLogSettings: {} }), Account: resource('ApiGateway::Account') },
    ],
  ]);

  test('has its routes counted over all stacks', () => {
    const apiId = { 'Fn::GetStackOutput': { StackName: 'A', OutputName: 'Api' } };
    const elsewhere = resource('ApiGatewayV2::Route', { ApiId: apiId, RouteKey: 'GET /a' });
    const found = findings({
      A: { Resources: { Api: api(), Here: route('GET /a') }, Outputs: { Api: { Value: { Ref: 'Api' } } } },
      B: { Resources: { There: elsewhere } },
    });
    expect(found).toEqual([expect.stringContaining('A/Here, B/There: an API has the route GET /a once.')]);
  });
});

describe('a firewall', () => {
  const rule = (priority: number, rate = 10) => ({
    Priority: priority,
    Statement: { RateBasedStatement: { Limit: rate } },
  });
  const firewall = (rules: object[], content = 'x'.repeat(4096)) => ({
    It: resource('WAFv2::WebACL', { Rules: rules, CustomResponseBodies: { No: { Content: content } } }),
  });
  const rules = (times: number) => Array.from({ length: times }, (_, priority) => rule(priority));

  refuses([
    ['a rate below 10', firewall([rule(0, 9)]), 'S/It: a rate of 9 is below 10.'],
    ['an eleventh rule of a rate', firewall(rules(11)), 'it has 11 rules of a rate'],
    ['two rules of one priority', firewall([rule(1), rule(1)]), 'two rules have the same Priority'],
    ['a response of more than 4 KB', firewall([], 'x'.repeat(4097)), 'the response No has more than 4 KB'],
  ]);
  takes([['ten rules of a rate of 10', firewall(rules(10))]]);
});

describe('what reads a queue or a stream', () => {
  const reading = (source: unknown, properties = {}): TemplateResource =>
    resource('Lambda::EventSourceMapping', {
      EventSourceArn: source,
      FunctionName: { Ref: 'Fn' },
      ...properties,
    });
  const ofQueue = (properties = {}) => reading(arnOf('Queue'), properties);
  const ofStream = (properties = {}) =>
    reading(arnOf('Table', 'StreamArn'), { StartingPosition: 'TRIM_HORIZON', ...properties });
  const base = (queue = {}) => ({
    Fn: lambda(),
    Queue: resource('SQS::Queue', queue),
    Table: resource('DynamoDB::Table', { StreamSpecification: {} }),
  });
  const fifo = { FifoQueue: true };

  refuses([
    [
      'a third reader of a stream',
      { ...base(), A: ofStream(), B: ofStream(), C: ofStream() },
      'S/A, S/B, S/C read one table stream',
    ],
    [
      'a stream without a position to start at',
      { ...base(), It: ofStream({ StartingPosition: { Ref: 'AWS::NoValue' } }) },
      'must say from where: StartingPosition',
    ],
    [
      'a table stream from a point in time',
      { ...base(), It: ofStream({ StartingPosition: 'AT_TIMESTAMP' }) },
      'cannot be read from a point in time',
    ],
    [
      'a record age under a minute',
      { ...base(), It: ofStream({ MaximumRecordAgeInSeconds: 59 }) },
      'MaximumRecordAgeInSeconds must be -1, or 60 or more',
    ],
    [
      'a queue’s scaling of a stream',
      { ...base(), It: ofStream({ ScalingConfig: { MaximumConcurrency: 2 } }) },
      'ScalingConfig is for queues',
    ],
    [
      'a large batch of a queue without a window',
      { ...base(), It: ofQueue({ BatchSize: 11 }) },
      'needs a MaximumBatchingWindowInSeconds of at least 1',
    ],
    [
      'a large batch of a FIFO queue',
      { ...base(fifo), It: ofQueue({ BatchSize: 11 }) },
      'has at most 10 messages',
    ],
    [
      'a window of a FIFO queue',
      { ...base(fifo), It: ofQueue({ MaximumBatchingWindowInSeconds: 1 }) },
      'a FIFO queue has no batching window',
    ],
    [
      'a stream’s position in a queue',
      { ...base(), It: ofQueue({ StartingPosition: 'LATEST' }) },
      'StartingPosition is for streams',
    ],
    [
      'a stream’s halving of batches in a queue',
      { ...base(), It: ofQueue({ BisectBatchOnFunctionError: true }) },
      'BisectBatchOnFunctionError is for streams',
    ],
    [
      'a queue whose messages come back while the function works on them',
      { ...base(), Fn: lambda({ Timeout: 31 }), It: ofQueue() },
      'S/Queue: its messages are hidden for 30 s, and S/Fn may work on them for 31 s',
    ],
  ]);
  takes([
    [
      'a second reader of a stream, beside one that is switched off',
      { ...base(), A: ofStream(), B: ofStream(), C: ofStream({ Enabled: false }) },
    ],
    [
      'a large batch of a queue with a window',
      { ...base(), It: ofQueue({ BatchSize: 10_000, MaximumBatchingWindowInSeconds: 1 }) },
    ],
    [
      'endless records',
      { ...base(), It: ofStream({ MaximumRecordAgeInSeconds: -1, MaximumRetryAttempts: -1 }) },
    ],
    [
      'a queue that hides messages as long as the function runs',
      { ...base(), Fn: lambda({ Timeout: 30 }), It: ofQueue() },
    ],
  ]);
});

describe('a schedule', () => {
  const schedule = (expression: string) => ({
    It: resource('Scheduler::Schedule', { ScheduleExpression: expression }),
  });
  refuses([
    ['no expression', schedule('rate(1 fortnight)'), 'S/It: rate(1 fortnight) must be a number'],
    ['a day of the week and of the month', schedule('cron(0 8 1 * MON *)'), 'must have ? either'],
  ]);
  takes([['every weekday', schedule('cron(0 8 ? * MON-FRI *)')]]);
});

test('a state machine is defined in at most 1 MB', () => {
  const { folder, file } = fileOf('definition.json');
  const properties = { DefinitionS3Location: { Bucket: 'b', Key: 'definition.json' } };
  const template = { Resources: { It: resource('StepFunctions::StateMachine', properties) } };
  const assets = new Map([['definition.json', join(folder, 'definition.json')]]);
  truncateSync(file, 1024 * 1024);
  expect(beyondLimits([{ name: 'S', template, assets }])).toEqual([]);
  truncateSync(file, 1024 * 1024 + 1);
  expect(beyondLimits([{ name: 'S', template, assets }])).toEqual([
    expect.stringContaining('S/It: its definition has 1,048,577 bytes'),
  ]);
});

describe('a client that people sign in with', () => {
  const pool = (properties = {}) => resource('Cognito::UserPool', properties);
  const client = (properties = {}) =>
    resource('Cognito::UserPoolClient', {
      UserPoolId: { Ref: 'Pool' },
      AllowedOAuthFlowsUserPoolClient: true,
      AllowedOAuthFlows: ['code'],
      AllowedOAuthScopes: ['openid'],
      CallbackURLs: ['https://example.org/callback'],
      ...properties,
    });
  const domain = (prefix: string) =>
    resource('Cognito::UserPoolDomain', { UserPoolId: { Ref: 'Pool' }, Domain: prefix });
  const base = { Pool: pool(), Domain: domain('people') };
  const returning = (...addresses: string[]) => ({ ...base, It: client({ CallbackURLs: addresses }) });
  const trigger = (LambdaVersion: string) => ({
    PreTokenGenerationConfig: { LambdaArn: 'arn', LambdaVersion },
  });

  refuses([
    [
      'a pool without a domain',
      { Pool: pool(), It: client() },
      'S/It: its user pool has no domain to sign in at.',
    ],
    [
      'a domain named after AWS',
      { Pool: pool(), It: domain('my-aws-people') },
      'my-aws-people cannot be a prefix',
    ],
    ['a return over http', returning('http://example.org/callback'), 'must be https'],
    ['a return to this machine without a port', returning('http://127.0.0.1/callback'), 'names no port'],
    ['a return to a fragment', returning('https://example.org/#callback'), 'has a fragment'],
    ['a return to a mere path', returning('/callback'), 'is not an absolute address'],
    ['no return', returning(), 'nobody can return from signing in'],
    ['no flow', { ...base, It: client({ AllowedOAuthFlows: [] }) }, 'no flow is allowed'],
    ['no scope', { ...base, It: client({ AllowedOAuthScopes: [] }) }, 'no scope is allowed'],
    [
      'machines and people at once',
      { ...base, It: client({ AllowedOAuthFlows: ['code', 'client_credentials'], GenerateSecret: true }) },
      'cannot stand with another flow',
    ],
    [
      'machines without a secret',
      { ...base, It: client({ AllowedOAuthFlows: ['client_credentials'] }) },
      'client_credentials needs a secret',
    ],
    [
      'a default return that is not allowed',
      { ...base, It: client({ DefaultRedirectURI: 'https://example.org/' }) },
      'DefaultRedirectURI is not one of CallbackURLs',
    ],
    [
      'access tokens changed on the Lite plan',
      { Pool: pool({ UserPoolTier: 'LITE', LambdaConfig: trigger('V2_0') }) },
      'the Lite plan does not change access tokens',
    ],
  ]);
  takes([
    ['a pool with a domain', { ...base, It: client() }],
    [
      'a client without OAuth and without a domain',
      { Pool: pool(), It: client({ AllowedOAuthFlowsUserPoolClient: false }) },
    ],
    [
      'a return to a port of this machine',
      returning(
        'http://127.0.0.1:8484/callback',
        'http://localhost:8484/',
        'http://[::1]:8484/',
        'myapp://callback',
      ),
    ],
    [
      'access tokens changed on another plan',
      { Pool: pool({ UserPoolTier: 'ESSENTIALS', LambdaConfig: trigger('V2_0') }) },
    ],
    [
      'identity tokens changed on the Lite plan',
      { Pool: pool({ UserPoolTier: 'LITE', LambdaConfig: trigger('V1_0') }) },
    ],
  ]);
});
