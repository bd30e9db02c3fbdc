import { randomBytes } from 'node:crypto';
import { DeleteTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { startDynamoDbLocal } from '../lib/local/engines/dynamodb-local.ts';

/** Where a run of the tests says which engine its files share: a JVM for each would be a fifth of the run. */
const SHARED = 'TEST_DYNAMODB_URL';

export async function shareDynamoDb(): Promise<{ stop(): Promise<void> }> {
  const engine = await startDynamoDbLocal({});
  process.env[SHARED] = engine.url;
  return engine;
}

/**
 * Real DynamoDB, and the name of a table nobody else uses. `alone`, or outside of a run of the tests, with an engine of
 * one's own: in DynamoDB Local the first reader of a stream can trip over writes to tables of others.
 */
export async function openDynamoDb({ alone = false } = {}): Promise<{
  url: string;
  table: string;
  close(): Promise<void>;
}> {
  const table = `control-${randomBytes(4).toString('hex')}`;
  const shared = process.env[SHARED];
  if (alone || shared === undefined) {
    const engine = await startDynamoDbLocal({});
    return { url: engine.url, table, close: () => engine.stop() };
  }
  const client = new DynamoDBClient({
    endpoint: shared,
    region: 'us-east-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  return {
    url: shared,
    table,
    async close() {
      await client.send(new DeleteTableCommand({ TableName: table }));
      client.destroy();
    },
  };
}
