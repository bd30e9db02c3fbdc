import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SQSClient } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT, REGION } from '../../../lib/local/wire/aws.ts';
import { SMOOTH } from '../../../lib/local/wire/roughness.ts';
import { Expiry } from '../../../lib/local/schedules/expiry.ts';
import { Mappings } from '../../../lib/local/mappings/mappings.ts';
import { provision, type Runners } from '../../../lib/local/resources/provision.ts';
import type { Makers } from '../../../lib/local/resources/kind.ts';
import { Schedules } from '../../../lib/local/schedules/schedules.ts';
import { StepFunctions } from '../../../lib/local/step-functions/index.ts';
import type { TemplateResource } from '../../../lib/local/template/template.ts';
import { GatewayWorld } from '../gateway/gateway-world.ts';
import { fixture } from '../lambda/lambda-world.ts';

type Resources = Record<string, TemplateResource>;

let world: GatewayWorld;
let runners: Runners;
let makers: Makers;
let keysMade = 0;

beforeAll(async () => {
  world = await new GatewayWorld().open();
  const { iam, hosted: functions, apis, principals, journal } = world;
  const deliver = () => Promise.reject(new Error('nothing is delivered here'));
  const client = { endpoint: world.endpoint, region: REGION };
  const dynamodb = new DynamoDBClient(client);
  runners = {
    iam,
    functions,
    apis,
    mappings: new Mappings({ functions, principals, journal, deliver, roughness: SMOOTH }),
    machines: new StepFunctions({ journal, principals }),
    schedules: new Schedules({ principals, journal, deliver }),
    expiry: new Expiry(dynamodb),
  };
  makers = {
    dynamodb,
    sqs: new SQSClient(client),
    s3: new S3Client(client),
    world: { url: world.endpoint, streams: new Map() },
    createKey: () => {
      keysMade += 1;
    },
    putAlias: () => undefined,
    putRepository: () => undefined,
  };
});

afterAll(async () => {
  await world?.close();
});

const trusting = (service: string) => ({
  Version: '2012-10-17',
  Statement: [{ Effect: 'Allow', Principal: { Service: service }, Action: 'sts:AssumeRole' }],
});

/** A route whose function answers what the template says. */
const answering = (answer: string): Resources => ({
  Role: {
    Type: 'AWS::IAM::Role',
    Properties: { AssumeRolePolicyDocument: trusting('lambda.amazonaws.com') },
  },
  Function: {
    Type: 'AWS::Lambda::Function',
    Properties: {
      Runtime: 'nodejs24.x',
      Handler: 'index.handler',
      Code: { S3Key: 'code.zip' },
      Role: { 'Fn::GetAtt': ['Role', 'Arn'] },
      Environment: {
        Variables: { RECORD_FILE: world.file('invoked.jsonl'), ANSWER: JSON.stringify(answer) },
      },
    },
  },
  Permission: {
    Type: 'AWS::Lambda::Permission',
    Properties: {
      FunctionName: { Ref: 'Function' },
      Action: 'lambda:InvokeFunction',
      Principal: 'apigateway.amazonaws.com',
    },
  },
  Api: { Type: 'AWS::ApiGatewayV2::Api', Properties: { ProtocolType: 'HTTP', Name: 'api' } },
  Stage: stage('Api', '$default'),
  Integration: {
    Type: 'AWS::ApiGatewayV2::Integration',
    Properties: {
      ApiId: { Ref: 'Api' },
      IntegrationType: 'AWS_PROXY',
      IntegrationUri: { 'Fn::GetAtt': ['Function', 'Arn'] },
      PayloadFormatVersion: '2.0',
    },
  },
  Route: route('Api', 'GET /', { Ref: 'Integration' }),
});

function stage(api: string, name: string): TemplateResource {
  const properties = { ApiId: { Ref: api }, StageName: name, AutoDeploy: true };
  return { Type: 'AWS::ApiGatewayV2::Stage', Properties: properties };
}

function route(api: string, key: string, target: unknown, auth = 'NONE'): TemplateResource {
  const Target = { 'Fn::Join': ['/', ['integrations', target]] };
  const properties = { ApiId: { Ref: api }, RouteKey: key, AuthorizationType: auth, Target };
  return { Type: 'AWS::ApiGatewayV2::Route', Properties: properties };
}

function mapping(source: string, filter?: object): TemplateResource {
  return {
    Type: 'AWS::Lambda::EventSourceMapping',
    Properties: {
      FunctionName: { Ref: 'Function' },
      EventSourceArn: source,
      ...(filter && { FilterCriteria: { Filters: [{ Pattern: JSON.stringify(filter) }] } }),
    },
  };
}

const socketApi = (properties: object = {}): TemplateResource => ({
  Type: 'AWS::ApiGatewayV2::Api',
  Properties: { ProtocolType: 'WEBSOCKET', RouteSelectionExpression: '$request.body.action', ...properties },
});

const apply = (resources: Resources) => {
  const assets = new Map([['code.zip', fixture('recorder')]]);
  return provision([{ name: 'S', template: { Resources: resources }, assets }], makers, runners);
};
const answer = async () => (await fetch(world.endpoint)).text();
const queueArn = `arn:aws:sqs:${REGION}:${ACCOUNT}:queue`;

test('a changed template takes effect at once', async () => {
  await apply(answering('one'));
  expect(await answer()).toBe('one');
  await apply(answering('two'));
  expect(await answer()).toBe('two');
});

describe('a template with a fault is refused in a sentence, and what ran before goes on', () => {
  test.each<[string, () => Resources, string]>([
    [
      'a resource that cannot be hosted',
      () => ({ Fleet: { Type: 'AWS::EC2::Fleet' } }),
      'S/Fleet is a AWS::EC2::Fleet, which the local engine cannot host',
    ],
    [
      'a malformed policy',
      () => ({
        Other: {
          Type: 'AWS::IAM::Role',
          Properties: { AssumeRolePolicyDocument: { Statement: [{ Effect: 'Perhaps', Action: '*' }] } },
        },
      }),
      'Effect is "Perhaps"',
    ],
    [
      'a role that does not trust Lambda',
      () => ({
        Role: {
          Type: 'AWS::IAM::Role',
          Properties: { AssumeRolePolicyDocument: trusting('states.amazonaws.com') },
        },
      }),
      'The role of the function S-Function does not trust lambda.amazonaws.com',
    ],
    [
      'a state machine that cannot run here',
      () => ({
        Machine: {
          Type: 'AWS::StepFunctions::StateMachine',
          Properties: {
            RoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
            Definition: {
              StartAt: 'Run',
              States: { Run: { Type: 'Task', Resource: 'arn:aws:states:::ecs:runTask', End: true } },
            },
          },
        },
      }),
      'in state Run, the resource arn:aws:states:::ecs:runTask is not hosted',
    ],
    [
      'an invalid filter',
      () => ({ Mapping: mapping(queueArn, { body: {} }) }),
      'A filter of the event source',
    ],
    [
      'a source that cannot be read',
      () => ({ Mapping: mapping(`arn:aws:mq:${REGION}:${ACCOUNT}:broker:b`) }),
      'only queues and table streams can be sources here',
    ],
    [
      'a schedule that cannot be kept',
      () => ({
        Schedule: {
          Type: 'AWS::Scheduler::Schedule',
          Properties: {
            ScheduleExpression: 'rate(1 day)',
            Target: {
              Arn: `arn:aws:sns:${REGION}:${ACCOUNT}:topic`,
              RoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
            },
          },
        },
      }),
      'only functions, queues and state machines can be targets here',
    ],
    [
      'a route without an integration',
      () => ({ Route: route('Api', 'GET /', 'nothing') }),
      'The route GET / points at the integration nothing',
    ],
    [
      'a function that is not there',
      () => ({
        Integration: {
          Type: 'AWS::ApiGatewayV2::Integration',
          Properties: {
            ApiId: { Ref: 'Api' },
            IntegrationType: 'AWS_PROXY',
            IntegrationUri: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:elsewhere`,
          },
        },
      }),
      'invokes arn:aws:lambda:us-east-1:000000000000:function:elsewhere, which is not a function of this template',
    ],
    ['an API without a stage', () => ({ Socket: socketApi() }), 'has no stage'],
    ['a named stage', () => ({ Stage: stage('Api', 'test') }), 'has the stage test'],
    ['a second stage', () => ({ Second: stage('Api', '$default') }), 'S/Second is a second stage'],
    [
      'another route selection',
      () => ({
        Socket: socketApi({ RouteSelectionExpression: '${request.header.x}' }),
        Live: stage('Socket', 'live'),
      }),
      'selects routes by ${request.header.x}',
    ],
    [
      'a signed WebSocket',
      () => ({
        Socket: socketApi(),
        Live: stage('Socket', 'live'),
        Connect: route('Socket', '$connect', { Ref: 'Integration' }, 'AWS_IAM'),
      }),
      'The route $connect is authorized by AWS_IAM',
    ],
  ])('%s', async (_what, fault, sentence) => {
    await apply(answering('before'));
    await expect(apply({ ...answering('after'), ...fault() })).rejects.toThrow(sentence);
    expect(await answer()).toBe('before');
  });
});

test('what AWS would refuse is found before anything is made, all of it', async () => {
  const before = keysMade;
  const Key: TemplateResource = { Type: 'AWS::KMS::Key', Properties: { KeyPolicy: { Statement: [] } } };
  const Function: TemplateResource = {
    Type: 'AWS::Lambda::Function',
    Properties: { ...answering('late').Function?.Properties, Timeout: 901, MemorySize: 64 },
  };
  await expect(apply({ ...answering('late'), Key, Function })).rejects.toThrow(
    /^AWS would not deploy these stacks:\n- S\/Function: Timeout is 901 .*\n- S\/Function: MemorySize is 64 /,
  );
  expect(keysMade).toBe(before);
  await apply({ ...answering('in time'), Key });
  expect(keysMade).toBe(before + 1);
});
