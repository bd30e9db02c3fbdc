import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CreateTableCommand, DynamoDBClient, TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDynamoDb, type DynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import { failure, openAwsServices, type AwsServices } from '../services/aws-services-world.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'dynamodb-transaction-'));
let engine: DynamoDb;
let world: AwsServices;
let client: DynamoDBClient;

beforeAll(async () => {
  engine = await startDynamoDb({ engine: 'aws', dataDir });
  world = await openAwsServices({ dynamodb: engine });
  client = new DynamoDBClient(world.asOperator());
  await client.send(
    new CreateTableCommand({
      TableName: 'things',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
});

afterAll(async () => {
  await world?.close();
  await engine?.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** Its file as somebody else sees it, who sees only what was committed. */
const openFile = () =>
  new DatabaseSync(join(dataDir, 'dynamodb', 'shared-local-instance.db'), { readOnly: true });

function isStored(id: string): boolean {
  const file = openFile();
  try {
    return file.prepare('SELECT 1 FROM things WHERE hashKey = ?').get(Buffer.from(id)) !== undefined;
  } finally {
    file.close();
  }
}

const transaction = (id: string) =>
  new TransactWriteItemsCommand({
    ClientRequestToken: id,
    TransactItems: [
      {
        Put: {
          TableName: 'things',
          Item: { id: { S: id } },
          ConditionExpression: 'attribute_not_exists(id)',
        },
      },
    ],
  });

test('an acknowledged transaction is in the file already', async () => {
  for (let n = 0; n < 50; n++) {
    await client.send(transaction(`thing-${n}`));
    expect(isStored(`thing-${n}`)).toBe(true);
  }
});

test('a transaction that could not be committed is not acknowledged, and can be sent again', async () => {
  const reader = openFile();
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM things').get();
  // While somebody reads, SQLite cannot commit. DynamoDB Local itself answers 200 here.
  const refused = await failure(client.send(transaction('refused')));
  reader.close();
  expect(refused).toMatchObject({
    name: 'ServiceUnavailableException',
    $metadata: { httpStatusCode: 503 },
  });
  expect(isStored('refused')).toBe(false);

  await client.send(transaction('refused'));
  expect(isStored('refused')).toBe(true);
});
