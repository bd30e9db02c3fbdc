import { CreateTableCommand, DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { CreateQueueCommand, ReceiveMessageCommand, SQSClient } from '@aws-sdk/client-sqs';
import { SendTaskSuccessCommand } from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ACCOUNT, jsonAnswer, jsonBody, REGION, type Service } from '../../../lib/local/wire/aws.ts';
import type { DynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import {
  startQueuesAndObjects,
  type QueuesAndObjects,
} from '../../../lib/local/engines/queues-and-objects.ts';
import { SMOOTH } from '../../../lib/local/wire/roughness.ts';
import { createDynamoDbService } from '../../../lib/local/services/dynamodb.ts';
import { createSqsService } from '../../../lib/local/services/sqs.ts';
import { startTestDynamoDb } from '../../dynamodb.ts';
import { until } from '../../until.ts';
import {
  errorNamed,
  functionArn,
  invoke,
  openStepFunctionsWorld,
  type StepFunctionsWorld,
} from './step-functions-world.ts';

let world: StepFunctionsWorld;
let queues: QueuesAndObjects;
let tables: DynamoDb;
let sqs: SQSClient;
let dynamodb: DynamoDBClient;
let queueUrl: string;
const events: { Entries: { Detail: string }[] }[] = [];
let failedEntries = 0;

/** Keeps what was put, and reports as many entries failed as a test wants. */
const eventBus: Service = {
  scope: 'events',
  protocol: 'json-1.1',
  access: () => [
    { action: 'events:PutEvents', resource: `arn:aws:events:${REGION}:${ACCOUNT}:event-bus/default` },
  ],
  handle: async (request) => {
    events.push(jsonBody(request));
    return jsonAnswer({ FailedEntryCount: failedEntries, Entries: [{ EventId: 'e1' }] });
  },
};

beforeAll(async () => {
  [queues, tables] = await Promise.all([startQueuesAndObjects(), startTestDynamoDb()]);
  world = await openStepFunctionsWorld({
    services: [
      createSqsService({ engine: () => queues, endpoint: () => world.endpoint }),
      createDynamoDbService({ engine: () => tables, onWrite: () => undefined, roughness: SMOOTH }),
      eventBus,
    ],
  });
  const config = { endpoint: world.endpoint, region: REGION, credentials: world.principals.operator() };
  sqs = new SQSClient(config);
  dynamodb = new DynamoDBClient(config);
  const created = await sqs.send(new CreateQueueCommand({ QueueName: 'tasks' }));
  queueUrl = created.QueueUrl ?? '';
  await dynamodb.send(
    new CreateTableCommand({
      TableName: 'things',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
});
afterAll(async () => {
  await world.close();
  await Promise.all([queues.stop(), tables.stop()]);
});

async function run(
  states: Record<string, object>,
  input: unknown = {},
  grants?: { Effect: string; Action: string; Resource: string }[],
) {
  const [StartAt = ''] = Object.keys(states);
  const arn = await world.start(world.put({ StartAt, States: states }, { grants }), input);
  return { arn, ...(await world.end(arn)) };
}
const task = (resource: string, parameters: object, rest: object = { End: true }): object => ({
  Type: 'Task',
  Resource: `arn:aws:states:::${resource}`,
  Parameters: parameters,
  ...rest,
});

describe('lambda', () => {
  test('lambda:invoke answers version, payload and status', async () => {
    world.functions['double'] = ({ n }: { n: number }) => ({ doubled: n * 2 });
    const parameters = { FunctionName: functionArn('double'), 'Payload.$': '$' };
    const ended = await run({ Do: task('lambda:invoke', parameters) }, { n: 21 });
    expect(ended.result).toEqual({ ExecutedVersion: '$LATEST', Payload: { doubled: 42 }, StatusCode: 200 });
  });

  test('a function named by its ARN answers its payload alone, with the events of its kind', async () => {
    world.functions['direct'] = ({ n }: { n: number }) => n + 1;
    const ended = await run({ Do: { Type: 'Task', Resource: functionArn('direct'), End: true } }, { n: 1 });
    expect(ended.result).toBe(2);
    const types = (await world.history(ended.arn)).map(({ type }) => type);
    expect(types.slice(2, 5)).toEqual([
      'LambdaFunctionScheduled',
      'LambdaFunctionStarted',
      'LambdaFunctionSucceeded',
    ]);
  });

  test('an error of the function has its type for a name and the payload for a cause', async () => {
    world.functions['breaks'] = () => {
      throw errorNamed('TypeError', 'x is not a function');
    };
    const ended = await run({ Do: invoke('breaks') });
    expect(ended).toMatchObject({ status: 'FAILED', error: 'TypeError' });
    expect(JSON.parse(ended.cause ?? '')).toEqual({
      errorType: 'TypeError',
      errorMessage: 'x is not a function',
    });
  });
});

describe('sqs', () => {
  const receive = async () => {
    const { Messages } = await sqs.send(
      new ReceiveMessageCommand({ QueueUrl: queueUrl, WaitTimeSeconds: 5 }),
    );
    return JSON.parse(Messages?.[0]?.Body ?? 'null') as { token: string; n?: number } | null;
  };

  test('sqs:sendMessage sends an object as JSON and answers the message id', async () => {
    const parameters = { QueueUrl: queueUrl, MessageBody: { 'n.$': '$.n' } };
    const ended = await run({ Send: task('sqs:sendMessage', parameters) }, { n: 5 });
    expect(ended.result).toMatchObject({
      MessageId: expect.any(String),
      MD5OfMessageBody: expect.any(String),
    });
    expect(await receive()).toEqual({ n: 5 });
  });

  test('with a task token the execution waits for whoever reads the queue', async () => {
    const parameters = { QueueUrl: queueUrl, MessageBody: { 'token.$': '$$.Task.Token' } };
    const machine = world.put({
      StartAt: 'Ask',
      States: { Ask: task('sqs:sendMessage.waitForTaskToken', parameters) },
    });
    const arn = await world.start(machine);
    const message = await receive();
    await world.sfn.send(new SendTaskSuccessCommand({ taskToken: message?.token, output: '"read"' }));
    expect((await world.end(arn)).result).toBe('read');
  });

  test('a queue that is not there is SQS.QueueDoesNotExistException', async () => {
    const parameters = { QueueUrl: queueUrl.replace('tasks', 'nowhere'), MessageBody: 'x' };
    expect((await run({ Send: task('sqs:sendMessage', parameters) })).error).toBe(
      'SQS.QueueDoesNotExistException',
    );
  });
});

describe('dynamodb', () => {
  const key = { id: { 'S.$': '$.id' } };

  test('items are put, updated, read and deleted', async () => {
    const ended = await run(
      {
        Put: task(
          'dynamodb:putItem',
          { TableName: 'things', Item: { ...key, n: { N: '1' } } },
          { ResultPath: null, Next: 'Update' },
        ),
        Update: task(
          'dynamodb:updateItem',
          {
            TableName: 'things',
            Key: key,
            UpdateExpression: 'SET n = n + :one',
            ExpressionAttributeValues: { ':one': { N: '1' } },
          },
          { ResultPath: null, Next: 'Get' },
        ),
        Get: task(
          'dynamodb:getItem',
          { TableName: 'things', Key: key },
          { ResultPath: '$.read', Next: 'Delete' },
        ),
        Delete: task(
          'dynamodb:deleteItem',
          { TableName: 'things', Key: key },
          { ResultPath: null, OutputPath: '$.read.Item', End: true },
        ),
      },
      { id: 'a' },
    );
    expect(ended.result).toEqual({ id: { S: 'a' }, n: { N: '2' } });
    expect(
      (await dynamodb.send(new GetItemCommand({ TableName: 'things', Key: { id: { S: 'a' } } }))).Item,
    ).toBeUndefined();
  });

  test('a condition that fails keeps its name; an invalid call is the generic error', async () => {
    const put = { TableName: 'things', Item: key, ConditionExpression: 'attribute_exists(id)' };
    expect((await run({ Put: task('dynamodb:putItem', put) }, { id: 'b' })).error).toBe(
      'DynamoDB.ConditionalCheckFailedException',
    );
    const invalid = { TableName: 'things', Key: { wrong: { S: 'x' } } };
    expect((await run({ Get: task('dynamodb:getItem', invalid) })).error).toBe(
      'DynamoDB.AmazonDynamoDBException',
    );
  });
});

describe('states and events', () => {
  test('states:startExecution starts another machine and does not wait for it', async () => {
    const child = world.put({ StartAt: 'Wait', States: { Wait: { Type: 'Wait', Seconds: 60, End: true } } });
    const parameters = { StateMachineArn: child, Name: 'child', Input: { 'from.$': '$$.Execution.Name' } };
    const ended = await run({ Start: task('states:startExecution', parameters) });
    const { ExecutionArn } = ended.result as { ExecutionArn: string };
    const started = await world.describe(ExecutionArn);
    expect(started).toMatchObject({
      name: 'child',
      status: 'RUNNING',
      input: JSON.stringify({ from: ended.name }),
    });
    const again = await run({ Start: task('states:startExecution', { ...parameters, Input: 'other' }) });
    expect(again.error).toBe('StepFunctions.InvalidExecutionInputException');
    const taken = await run({ Start: task('states:startExecution', { ...parameters, Input: '{}' }) });
    expect(taken.error).toBe('StepFunctions.ExecutionAlreadyExistsException');
  });

  test('events:putEvents sends details as JSON; a failed entry fails the state', async () => {
    const parameters = { Entries: [{ Source: 'test', DetailType: 'happened', Detail: { 'n.$': '$.n' } }] };
    const ended = await run({ Put: task('events:putEvents', parameters) }, { n: 1 });
    expect(ended.result).toMatchObject({ FailedEntryCount: 0, Entries: [{ EventId: 'e1' }] });
    expect(events.at(-1)?.Entries[0]?.Detail).toBe('{"n":1}');
    failedEntries = 1;
    expect((await run({ Put: task('events:putEvents', parameters) }, { n: 1 })).error).toBe(
      'EventBridge.FailedEntry',
    );
  });
});

describe('a grant that the machine’s role lacks', () => {
  test.each<[string, () => object, string, string]>([
    [
      'lambda',
      () => invoke('double'),
      'Lambda.AWSLambdaException',
      `lambda:InvokeFunction on resource: ${functionArn('double')}`,
    ],
    [
      'sqs',
      () => task('sqs:sendMessage', { QueueUrl: queueUrl, MessageBody: 'x' }),
      'SQS.AmazonSQSException',
      `sqs:SendMessage on resource: arn:aws:sqs:${REGION}:${ACCOUNT}:tasks`,
    ],
    [
      'dynamodb',
      () => task('dynamodb:getItem', { TableName: 'things', Key: { id: { S: 'a' } } }),
      'DynamoDB.AmazonDynamoDBException',
      `dynamodb:GetItem on resource: arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/things`,
    ],
  ])(
    'to %s fails the state, and the cause names action and resource',
    async (_service, state, error, cause) => {
      const ended = await run({ Try: state() }, {}, []);
      expect(ended).toMatchObject({ status: 'FAILED', error, cause: expect.stringContaining(cause) });
      const failed = (await world.history(ended.arn)).find(({ type }) => type === 'TaskFailed');
      expect(failed?.taskFailedEventDetails?.cause).toContain(cause);
    },
  );

  test('can be caught like any error', async () => {
    let calls = 0;
    world.functions['guarded'] = () => (calls += 1);
    const caught = {
      Catch: [{ ErrorEquals: ['Lambda.AWSLambdaException'], Next: 'Caught' }],
      Next: 'Caught',
    };
    const ended = await run({ Try: invoke('guarded', caught), Caught: { Type: 'Succeed' } }, {}, []);
    expect(ended.status).toBe('SUCCEEDED');
    expect(calls).toBe(0);
    await until(() => ended.stopDate, 'an end');
  });
});
