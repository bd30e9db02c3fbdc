import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { dynamo } from '../functions/platform/clients.ts';
import { startDynamoDbLocal } from '../lib/local/engines/dynamodb-local.ts';

const TABLE = 'control';

export interface ControlTable {
  stop(): Promise<void>;
  /** DynamoDB requests the functions have made so far. */
  count(): number;
}

/** A control table of the test's own in real DynamoDB, and the environment in which functions find it. */
export async function startControlTable(): Promise<ControlTable> {
  const engine = await startDynamoDbLocal({});
  Object.assign(process.env, {
    CONTROL_TABLE: TABLE,
    AWS_ENDPOINT_URL: engine.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
  await createControlTable(TABLE);
  let requests = 0;
  const countRequests = { step: 'initialize', name: 'countRequests', override: true } as const;
  dynamo().middlewareStack.add((next) => (args) => ((requests += 1), next(args)), countRequests);
  return { stop: () => engine.stop(), count: () => requests };
}

/** One more in the same DynamoDB; functions use the one the environment names. */
export async function createControlTable(
  name: string,
  client: Pick<DynamoDBClient, 'send'> = new DynamoDBClient({}),
): Promise<void> {
  const text = (name: string) => ({ AttributeName: name, AttributeType: 'S' as const });
  const schema = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map(text),
      KeySchema: schema('pk', 'sk'),
      GlobalSecondaryIndexes: [
        { IndexName: 'gsi1', KeySchema: schema('gsi1pk', 'gsi1sk'), Projection: { ProjectionType: 'ALL' } },
      ],
    }),
  );
}
