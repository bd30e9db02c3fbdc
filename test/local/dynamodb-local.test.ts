import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { javaMajor, startDynamoDbLocal, type DynamoDbLocal } from '../../lib/local/engines/dynamodb-local.ts';

const connect = (database: DynamoDbLocal) =>
  new DynamoDBClient({
    endpoint: database.url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });

async function createTable(client: DynamoDBClient): Promise<void> {
  const id = { AttributeName: 'id' };
  await client.send(
    new CreateTableCommand({
      TableName: 'things',
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ ...id, AttributeType: 'S' }],
      KeySchema: [{ ...id, KeyType: 'HASH' }],
    }),
  );
}

const put = (client: DynamoDBClient, id: string) =>
  client.send(new PutItemCommand({ TableName: 'things', Item: { id: { S: id } } }));

async function storedIds(client: DynamoDBClient): Promise<Set<string>> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: 'things', ConsistentRead: true }));
  return new Set(Items.map((item) => item['id']?.S ?? ''));
}

describe('DynamoDB Local on disk', () => {
  let dataDir: string;
  let database: DynamoDbLocal;
  let client: DynamoDBClient;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'dynamodb-'));
    database = await startDynamoDbLocal({ dataDir });
    client = connect(database);
    await createTable(client);
  });

  afterAll(async () => {
    await database.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('killed under load, it comes back on its port with every item it had acknowledged', async () => {
    const acknowledged: string[] = [];
    const write = async (writer: number) => {
      for (let n = 0; n < 100_000; n++) {
        const id = `${writer}-${n}`;
        try {
          await put(client, id);
        } catch {
          return;
        }
        acknowledged.push(id);
      }
      throw new Error('The database was never away.');
    };
    const load = Promise.all(Array.from({ length: 8 }, (_, writer) => write(writer)));
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(100), 20_000);
    process.kill(database.pid() ?? 0, 'SIGKILL');
    await load;

    const stored = await vi.waitFor(() => storedIds(client), { timeout: 20_000, interval: 100 });
    expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  });

  test('a later run finds the items of the one before', async () => {
    await put(client, 'kept');
    await database.stop();
    database = await startDynamoDbLocal({ dataDir });
    client = connect(database);
    expect(await storedIds(client)).toContain('kept');
  });
});

describe('the version of Java', () => {
  test.each([
    ['openjdk version "17.0.15" 2025-04-15', 17],
    ['openjdk version "21" 2023-09-19', 21],
    ['java version "1.8.0_402"', 8],
    ['command not understood', 0],
  ])('%s is %i', (output, major) => {
    expect(javaMajor(output)).toBe(major);
  });
});
