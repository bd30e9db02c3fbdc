import { CreateTableCommand, DynamoDBClient, PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { REGION } from '../../../lib/local/wire/aws.ts';
import type { DynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import { Expiry } from '../../../lib/local/schedules/expiry.ts';
import { startTestDynamoDb } from '../../dynamodb.ts';

const YEAR_SECONDS = 365 * 24 * 60 * 60;

let database: DynamoDb;
let client: DynamoDBClient;

beforeAll(async () => {
  database = await startTestDynamoDb();
  client = newClient();
});

afterAll(async () => {
  await database?.stop();
});

function newClient(): DynamoDBClient {
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  return new DynamoDBClient({ endpoint: database.url, region: REGION, credentials, maxAttempts: 1 });
}

async function createTable(TableName: string, items: Record<string, string | number>): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        { AttributeName: 'pk', AttributeType: 'S' },
        { AttributeName: 'sk', AttributeType: 'S' },
      ],
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
  for (const [sk, expires] of Object.entries(items)) await put(TableName, sk, expires);
}

async function put(TableName: string, sk: string, expires: string | number): Promise<void> {
  const value = typeof expires === 'number' ? { N: String(expires) } : { S: expires };
  await client.send(
    new PutItemCommand({ TableName, Item: { pk: { S: 'p' }, sk: { S: sk }, expires: value } }),
  );
}

async function left(TableName: string): Promise<string[]> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName }));
  return Items.map((item) => item['sk']?.S ?? '').sort();
}

test('what has expired goes, what has not stays, and so does what only looks like a date', async () => {
  const now = Math.floor(Date.now() / 1000);
  await createTable('things', {
    expired: now - 1,
    future: now + 60,
    milliseconds: Date.now() - 1000,
    ancient: now - 6 * YEAR_SECONDS,
    zero: 0,
    text: String(now - 1),
  });
  const expiry = new Expiry(client);
  expiry.replace(new Map([['things', 'expires']]));
  await expiry.sweep();
  expect(await left('things')).toEqual(['ancient', 'future', 'milliseconds', 'text', 'zero']);
});

test('what is given more time while the sweep is under way stays', async () => {
  const now = Math.floor(Date.now() / 1000);
  await createTable('renewed', { expired: now - 1, renewed: now - 1 });
  const late = newClient();
  late.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName === 'DeleteItemCommand') await put('renewed', 'renewed', now + 60);
        return next(args);
      },
    { step: 'initialize' },
  );
  const expiry = new Expiry(late);
  expiry.replace(new Map([['renewed', 'expires']]));
  await expiry.sweep();
  expect(await left('renewed')).toEqual(['renewed']);
});

test('a table that is read in many pages is swept to its end', async () => {
  const expired = Math.floor(Date.now() / 1000) - 1;
  await createTable('long', { a: expired, b: expired, c: expired });
  const byOne = newClient();
  byOne.middlewareStack.add(
    (next, { commandName }) =>
      (args) =>
        next(commandName === 'ScanCommand' ? { ...args, input: { ...args.input, Limit: 1 } } : args),
    { step: 'initialize' },
  );
  const expiry = new Expiry(byOne);
  expiry.replace(new Map([['long', 'expires']]));
  await expiry.sweep();
  expect(await left('long')).toEqual([]);
});

test('a table the template no longer lets expire is left alone', async () => {
  await createTable('kept', { expired: Math.floor(Date.now() / 1000) - 1 });
  const expiry = new Expiry(client);
  expiry.replace(new Map([['kept', 'expires']]));
  expiry.replace(new Map());
  await expiry.sweep();
  expect(await left('kept')).toEqual(['expired']);
});

test('a table that cannot be swept does not keep the others from it', async () => {
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    await createTable('swept', { expired: Math.floor(Date.now() / 1000) - 1 });
    const expiry = new Expiry(client);
    expiry.replace(
      new Map([
        ['absent', 'expires'],
        ['swept', 'expires'],
      ]),
    );
    await expiry.sweep();
    expect(await left('swept')).toEqual([]);
    expect(output.mock.calls.join()).toMatch(/expiry +absent could not be swept, the next sweep tries again/);
  } finally {
    output.mockRestore();
  }
});

test('a sweep under way ends when the engine stops, without complaint', async () => {
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  try {
    const expiry = new Expiry(client);
    expiry.replace(new Map([['things', 'expires']]));
    const sweeping = expiry.sweep();
    await expiry.stop();
    await sweeping;
    expect(output).not.toHaveBeenCalled();
  } finally {
    output.mockRestore();
  }
});
