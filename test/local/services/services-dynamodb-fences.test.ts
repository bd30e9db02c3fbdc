import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
} from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import { startTestDynamoDb } from '../../dynamodb.ts';
import { allow, failure, openAwsServices, type AwsServices } from './aws-services-world.ts';
import { signRequest } from './sign-request.ts';

const TableName = 'fenced';
const mine = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['org1#*'] } };

let engine: DynamoDb;
let world: AwsServices;
let operator: DynamoDBClient;
let tenant: DynamoDBClient;

beforeAll(async () => {
  engine = await startTestDynamoDb();
  world = await openAwsServices({ dynamodb: engine });
  operator = new DynamoDBClient(world.asOperator());
  tenant = new DynamoDBClient(asTenant());
  await createTable('pk', 'sk');
});

afterAll(async () => {
  await world?.close();
  await engine?.stop();
});

const asTenant = () =>
  world.asRole(
    'tenant',
    allow('dynamodb:*', `arn:aws:dynamodb:us-east-1:000000000000:table/${TableName}`, mine),
  );

const row = (pk: string, sk: string) => ({ pk: { S: pk }, sk: { S: sk } });

async function createTable(hash: string, range: string): Promise<void> {
  await operator.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      KeySchema: [
        { AttributeName: hash, KeyType: 'HASH' },
        { AttributeName: range, KeyType: 'RANGE' },
      ],
      AttributeDefinitions: [hash, range].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    }),
  );
}

test('a field that the operation ignores is no way around the fence, sent as no SDK would', async () => {
  await operator.send(new PutItemCommand({ TableName, Item: row('org2#a', 'a') }));
  const read = (more: object) =>
    signRequest(
      world,
      {
        service: 'dynamodb',
        method: 'POST',
        path: '/',
        headers: {
          'content-type': 'application/x-amz-json-1.0',
          'x-amz-target': 'DynamoDB_20120810.GetItem',
        },
        body: Buffer.from(JSON.stringify({ TableName, ...more })),
      },
      asTenant().credentials,
    );
  const Item = row('org1#a', 'a');
  expect((await read({ Key: Item })).status).toBe(200);
  const refused = await read({ Key: row('org2#a', 'a'), Item });
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('AccessDeniedException');
});

test('a query that does not say whose items it wants is refused', async () => {
  const query = new QueryCommand({
    TableName,
    KeyConditionExpression: 'sk = :sk',
    ExpressionAttributeValues: { ':sk': { S: 'a' } },
  });
  expect((await failure(tenant.send(query))).name).toBe('AccessDeniedException');
});

test('a table made anew is fenced by the key it has now', async () => {
  await tenant.send(new GetItemCommand({ TableName, Key: row('org1#a', 'a') }));
  await operator.send(new DeleteTableCommand({ TableName }));
  await createTable('sk', 'pk');
  const read = (pk: string, sk: string) => tenant.send(new GetItemCommand({ TableName, Key: row(pk, sk) }));
  expect((await failure(read('org1#a', 'org2#a'))).name).toBe('AccessDeniedException');
  await read('org2#a', 'org1#a');
});
