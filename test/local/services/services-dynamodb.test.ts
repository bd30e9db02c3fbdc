import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  GetItemCommand,
  ListTablesCommand,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactGetItemsCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import {
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  GetShardIteratorCommand,
  ListStreamsCommand,
} from '@aws-sdk/client-dynamodb-streams';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import { startTestDynamoDb } from '../../dynamodb.ts';
import { allow, failure, openAwsServices, type AwsServices } from './aws-services-world.ts';

const table = 'arn:aws:dynamodb:us-east-1:000000000000:table/control';
const index = `${table}/index/by-owner`;

let engine: DynamoDb;
let world: AwsServices;
let operator: DynamoDBClient;
let streamArn: string;

beforeAll(async () => {
  engine = await startTestDynamoDb();
  world = await openAwsServices({ dynamodb: engine });
  operator = new DynamoDBClient(world.asOperator());
  const { TableDescription } = await operator.send(
    new CreateTableCommand({
      TableName: 'control',
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
      AttributeDefinitions: ['pk', 'sk', 'owner'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      GlobalSecondaryIndexes: [
        {
          IndexName: 'by-owner',
          KeySchema: [{ AttributeName: 'owner', KeyType: 'HASH' }],
          Projection: { ProjectionType: 'ALL' },
        },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' },
    }),
  );
  streamArn = TableDescription?.LatestStreamArn ?? '';
});

afterAll(async () => {
  await world?.close();
  await engine?.stop();
});

beforeEach(() => {
  world.written.length = 0;
  world.denials.length = 0;
});

const as = (name: string, ...statements: ReturnType<typeof allow>[]) =>
  new DynamoDBClient(world.asRole(name, ...statements));
const key = (pk: string, sk = 'a') => ({ pk: { S: pk }, sk: { S: sk } });
const item = (pk: string, sk = 'a') => ({ ...key(pk, sk), owner: { S: pk } });

test('ARNs name our region, both ways', async () => {
  const { Table } = await operator.send(new DescribeTableCommand({ TableName: 'control' }));
  expect(Table?.TableArn).toBe(table);
  expect(Table?.GlobalSecondaryIndexes?.[0]?.IndexArn).toBe(index);
  expect(streamArn).toMatch(/^arn:aws:dynamodb:us-east-1:000000000000:table\/control\/stream\//);
});

test("an item's own text is kept as it is, even where it speaks of ARNs", async () => {
  const text =
    'arn:aws:dynamodb:ddblocal:000000000000:table/x arn:aws:dynamodb:us-east-1:000000000000:table/x';
  await operator.send(
    new PutItemCommand({ TableName: 'control', Item: { ...item('text'), text: { S: text } } }),
  );
  const { Item } = await operator.send(new GetItemCommand({ TableName: 'control', Key: key('text') }));
  expect(Item?.['text']).toEqual({ S: text });
});

test('a role may do what it is granted and nothing else', async () => {
  const reader = as('reader', allow('dynamodb:GetItem', table));
  await reader.send(new GetItemCommand({ TableName: 'control', Key: key('a') }));
  await reader.send(new GetItemCommand({ TableName: table, Key: key('a') }));
  const denied = await failure(reader.send(new PutItemCommand({ TableName: 'control', Item: item('a') })));
  expect(denied.name).toBe('AccessDeniedException');
  expect(denied.$metadata?.httpStatusCode).toBe(400);
  expect(denied.message).toBe(
    `User: arn:aws:sts::000000000000:assumed-role/reader/test is not authorized to perform: dynamodb:PutItem on resource: ${table} because no identity-based policy allows the dynamodb:PutItem action`,
  );
  expect(world.denials).toEqual([denied.message]);
  expect((await failure(reader.send(new ListTablesCommand({})))).name).toBe('AccessDeniedException');
});

test('an index is a resource of its own', async () => {
  const query = new QueryCommand({
    TableName: 'control',
    IndexName: 'by-owner',
    KeyConditionExpression: '#o = :o',
    ExpressionAttributeNames: { '#o': 'owner' },
    ExpressionAttributeValues: { ':o': { S: 'a' } },
  });
  expect((await failure(as('no-index', allow('dynamodb:Query', table)).send(query))).message).toContain(
    index,
  );
  await as('index', allow('dynamodb:Query', index)).send(query);
});

describe('a transaction', () => {
  const write = new TransactWriteItemsCommand({
    TransactItems: [
      { Put: { TableName: 'control', Item: item('t1') } },
      {
        Update: {
          TableName: 'control',
          Key: key('t2'),
          UpdateExpression: 'SET n = :n',
          ExpressionAttributeValues: { ':n': { N: '1' } },
        },
      },
      { Delete: { TableName: 'control', Key: key('t3') } },
      {
        ConditionCheck: {
          TableName: 'control',
          Key: key('t4'),
          ConditionExpression: 'attribute_not_exists(pk)',
        },
      },
    ],
  });
  const needed = ['PutItem', 'UpdateItem', 'DeleteItem', 'ConditionCheckItem'].map(
    (name) => `dynamodb:${name}`,
  );

  test.each(needed)('is refused without %s', async (missing) => {
    const granted = needed.filter((action) => action !== missing);
    const denied = await failure(as('part', allow(granted, table)).send(write));
    expect(denied.message).toContain(`not authorized to perform: ${missing} on`);
  });

  test('needs the permission of each of its items, and no more', async () => {
    await as('all-parts', allow(needed, table)).send(write);
    expect(world.written).toEqual([['control']]);
    const read = new TransactGetItemsCommand({
      TransactItems: [{ Get: { TableName: 'control', Key: key('t1') } }],
    });
    const { Responses } = await as('getter', allow('dynamodb:GetItem', table)).send(read);
    expect(Responses?.[0]?.Item).toEqual(item('t1'));
  });

  test('happens once under its token, and each time without one', async () => {
    const update = {
      TableName: 'control',
      Key: key('counted'),
      UpdateExpression: 'ADD n :one',
      ExpressionAttributeValues: { ':one': { N: '1' } },
    };
    const transaction = { TransactItems: [{ Update: update }] };
    const once = new TransactWriteItemsCommand({ ...transaction, ClientRequestToken: 'the same' });
    for (let time = 0; time < 2; time++) await operator.send(once);
    const tokenless = new DynamoDBClient(world.asOperator());
    tokenless.middlewareStack.add(
      (next) => (args) => {
        (args.request as { body: string }).body = JSON.stringify(transaction);
        return next(args);
      },
      { step: 'serialize', priority: 'low' },
    );
    for (let time = 0; time < 2; time++) await tokenless.send(once);
    const read = new GetItemCommand({ TableName: 'control', Key: key('counted') });
    expect((await operator.send(read)).Item?.['n']).toEqual({ N: '3' });
  });

  test('can be demanded by a policy', async () => {
    const enclosed = {
      'ForAllValues:StringEquals': { 'dynamodb:EnclosingOperation': ['TransactWriteItems'] },
      Null: { 'dynamodb:EnclosingOperation': 'false' },
    };
    const client = as('enclosed', allow(needed, table, enclosed));
    await client.send(write);
    expect(
      (await failure(client.send(new PutItemCommand({ TableName: 'control', Item: item('x') })))).name,
    ).toBe('AccessDeniedException');
  });
});

test('a batch needs its single action for each table', async () => {
  const write = new BatchWriteItemCommand({
    RequestItems: { control: [{ PutRequest: { Item: item('b1') } }, { DeleteRequest: { Key: key('b2') } }] },
  });
  const read = new BatchGetItemCommand({ RequestItems: { control: { Keys: [key('b1')] } } });
  const batches = as('batches', allow(['dynamodb:BatchWriteItem', 'dynamodb:BatchGetItem'], table));
  await batches.send(write);
  expect((await batches.send(read)).Responses?.['control']).toEqual([item('b1')]);
  const single = as('singles', allow(['dynamodb:PutItem', 'dynamodb:DeleteItem', 'dynamodb:GetItem'], table));
  expect((await failure(single.send(write))).message).toContain('dynamodb:BatchWriteItem');
  expect((await failure(single.send(read))).message).toContain('dynamodb:BatchGetItem');
});

describe('leading keys', () => {
  const mine = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['org1#*'] } };
  const client = () => as('tenant', allow('dynamodb:*', [table, `${table}/index/*`], mine));
  const query = (value: string, expression = 'pk = :pk AND begins_with(sk, :sk)') =>
    new QueryCommand({
      TableName: 'control',
      KeyConditionExpression: expression,
      ExpressionAttributeValues: { ':pk': { S: value }, ':sk': { S: 'a' } },
    });
  const TableName = 'control';
  const update = (pk: string) =>
    new UpdateItemCommand({
      TableName,
      Key: key(pk),
      UpdateExpression: 'SET n = :n',
      ExpressionAttributeValues: { ':n': { N: '1' } },
    });
  const byOwner = (owner: string) =>
    new QueryCommand({
      TableName,
      IndexName: 'by-owner',
      KeyConditionExpression: ':o = #o',
      ExpressionAttributeNames: { '#o': 'owner' },
      ExpressionAttributeValues: { ':o': { S: owner } },
    });
  const legacy = (pk: string) =>
    new QueryCommand({
      TableName,
      KeyConditions: { pk: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: pk }] } },
    });

  const batchGet = (...pks: string[]) =>
    new BatchGetItemCommand({ RequestItems: { control: { Keys: pks.map((pk) => key(pk)) } } });
  const batchWrite = (...pks: string[]) =>
    new BatchWriteItemCommand({
      RequestItems: { control: pks.map((pk) => ({ PutRequest: { Item: item(pk) } })) },
    });
  const transaction = (put: string, remove: string) =>
    new TransactWriteItemsCommand({
      TransactItems: [{ Put: { TableName, Item: item(put) } }, { Delete: { TableName, Key: key(remove) } }],
    });

  test.each<[string, (client: DynamoDBClient, pk: string) => Promise<unknown>]>([
    ['GetItem', (it, pk) => it.send(new GetItemCommand({ TableName, Key: key(pk) }))],
    ['PutItem', (it, pk) => it.send(new PutItemCommand({ TableName, Item: item(pk) }))],
    ['UpdateItem', (it, pk) => it.send(update(pk))],
    ['DeleteItem', (it, pk) => it.send(new DeleteItemCommand({ TableName, Key: key(pk) }))],
    ['Query', (it, pk) => it.send(query(pk))],
    ['Query with the key last', (it, pk) => it.send(query(pk, 'begins_with(sk, :sk) and pk=:pk'))],
    ['Query of an index', (it, pk) => it.send(byOwner(pk))],
    ['Query in the old form', (it, pk) => it.send(legacy(pk))],
    ['BatchGetItem', (it, pk) => it.send(batchGet('org1#x', pk))],
    ['BatchWriteItem', (it, pk) => it.send(batchWrite('org1#x', pk))],
    ['TransactWriteItems', (it, pk) => it.send(transaction('org1#y', pk))],
  ])('hold for %s', async (_operation, request) => {
    await request(client(), 'org1#a');
    expect((await failure(request(client(), 'org2#a'))).name).toBe('AccessDeniedException');
  });
});

test('streams are read with the permissions of the stream', async () => {
  await operator.send(new PutItemCommand({ TableName: 'control', Item: item('streamed') }));
  const reading = ['DescribeStream', 'GetShardIterator', 'GetRecords'].map((name) => `dynamodb:${name}`);
  const reader = new DynamoDBStreamsClient(
    world.asRole('stream-reader', allow(reading, `${table}/stream/*`), allow('dynamodb:ListStreams', '*')),
  );
  const { Streams } = await reader.send(new ListStreamsCommand({ TableName: 'control' }));
  expect(Streams?.[0]?.StreamArn).toBe(streamArn);
  const { StreamDescription } = await reader.send(new DescribeStreamCommand({ StreamArn: streamArn }));
  const { ShardIterator } = await reader.send(
    new GetShardIteratorCommand({
      StreamArn: streamArn,
      ShardId: StreamDescription?.Shards?.[0]?.ShardId,
      ShardIteratorType: 'TRIM_HORIZON',
    }),
  );
  const { Records = [], NextShardIterator } = await reader.send(new GetRecordsCommand({ ShardIterator }));
  expect(Records.map((record) => record.dynamodb?.NewImage?.['pk']?.S)).toContain('streamed');
  expect(new Set(Records.map((record) => record.awsRegion))).toEqual(new Set(['us-east-1']));
  expect((await reader.send(new GetRecordsCommand({ ShardIterator: NextShardIterator }))).Records).toEqual(
    [],
  );

  const blind = new DynamoDBStreamsClient(world.asRole('table-only', allow('dynamodb:*', table)));
  expect((await failure(blind.send(new GetRecordsCommand({ ShardIterator })))).message).toContain(
    `dynamodb:GetRecords on resource: ${streamArn}`,
  );
});

test('only writes that succeeded are announced', async () => {
  const put = { TableName: 'control', Item: item('announced') };
  await operator.send(new PutItemCommand(put));
  expect(world.written).toEqual([['control']]);
  const refused = await failure(
    operator.send(new PutItemCommand({ ...put, ConditionExpression: 'attribute_not_exists(pk)' })),
  );
  expect(refused.name).toBe('ConditionalCheckFailedException');
  await operator.send(new ScanCommand({ TableName: 'control' }));
  expect(world.written).toEqual([['control']]);
});

test.each([
  ['PutItem', '[]', /JSON object/],
  ['PutItem', '{', /not valid JSON/],
  ['PutItem', '{}', /TableName/],
  ['BatchGetItem', '{"RequestItems":{"control":null}}', /must be an object/],
  ['BatchWriteItem', '{"RequestItems":{"control":{}}}', /list/],
  ['TransactWriteItems', '{"TransactItems":[{}]}', /one of/],
  ['Query', '{"TableName":"control","KeyConditions":null,"KeyConditionExpression":5}', /./],
  ['ExecuteStatement', '{"Statement":"SELECT * FROM control"}', /no operation 'ExecuteStatement'/],
  ['constructor', '{}', /no operation 'constructor'/],
])('a malformed %s is answered, not thrown', async (operation, body, message) => {
  const client = as('malformed', allow('dynamodb:*', '*'));
  client.middlewareStack.add(
    (next) => (args) => {
      const request = args.request as { body: string; headers: Record<string, string> };
      request.body = body;
      request.headers['x-amz-target'] = `DynamoDB_20120810.${operation}`;
      return next(args);
    },
    { step: 'serialize', priority: 'low' },
  );
  const error = await failure(client.send(new ListTablesCommand({})));
  expect(error.message).toMatch(message);
  expect(error.$metadata?.httpStatusCode).toBe(400);
});

test('an engine that does not answer is a 503 that asks to try again', async () => {
  const dead = await openAwsServices();
  try {
    const client = new DynamoDBClient(dead.asOperator());
    const error = await failure(client.send(new ListTablesCommand({})));
    expect(error.name).toBe('ServiceUnavailableException');
    expect(error.$metadata?.httpStatusCode).toBe(503);
    expect(
      (error as Error & { $response?: { headers: Record<string, string> } }).$response?.headers[
        'retry-after'
      ],
    ).toBe('1');
    expect(dead.written).toEqual([]);
  } finally {
    await dead.close();
  }
});
