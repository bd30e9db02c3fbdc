import { randomBytes } from 'node:crypto';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  chooseDynamoDb,
  DYNAMODB_ENGINES,
  DYNAMODB_TRAITS,
  startDynamoDb,
  type DynamoDb,
  type DynamoDbConnection,
} from '../lib/local/engines/dynamodb.ts';

/** Where a run of the tests says which engine its files share. */
const SHARED = 'TEST_DYNAMODB_URL';

/** `DYNAMODB=aws npm test` asks AWS's own DynamoDB Local for a second opinion; left out, it is the platform's choice. */
export const ENGINE_ASKED = DYNAMODB_ENGINES.find((name) => name === process.env['DYNAMODB']);
const TEST_ENGINE = chooseDynamoDb(ENGINE_ASKED);

/** For all files of a run, whichever part of it asks first. */
export async function shareDynamoDb(): Promise<{ stop(): Promise<void> } | undefined> {
  if (process.env[SHARED] !== undefined) return undefined;
  const engine = await startTestDynamoDb();
  process.env[SHARED] = engine.url;
  return engine;
}

/** An engine of one's own, to be killed, or to keep its tables in a folder. */
export function startTestDynamoDb(options: { dataDir?: string } = {}): Promise<DynamoDb> {
  return startDynamoDb({ engine: TEST_ENGINE, ...options });
}

/**
 * Real DynamoDB, and the name of a table nobody else uses. `alone`, or outside of a run of the tests, with an engine of
 * one's own: in DynamoDB Local the first reader of a stream can trip over writes to tables of others.
 */
export async function openDynamoDb({ alone = false } = {}): Promise<
  DynamoDbConnection & { table: string; close(): Promise<void> }
> {
  const table = `control-${randomBytes(4).toString('hex')}`;
  const url = process.env[SHARED];
  if (alone || url === undefined) {
    const engine = await startTestDynamoDb();
    return { ...engine, table, close: () => engine.stop() };
  }
  const client = new DynamoDBClient({
    endpoint: url,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  return {
    ...DYNAMODB_TRAITS[TEST_ENGINE],
    url,
    table,
    async close() {
      await client.send(new DeleteTableCommand({ TableName: table }));
      client.destroy();
    },
  };
}
