import {
  CreateTableCommand,
  DeleteTableCommand,
  DynamoDBClient,
  type StreamSpecification,
} from '@aws-sdk/client-dynamodb';
import { dynamo } from '../functions/platform/clients.ts';
import { openDynamoDb } from './dynamodb.ts';
import { countRepeats, testRoughness } from './rough.ts';
import { beStrict } from './strict-dynamodb.ts';
import { until } from './until.ts';

export interface ControlTable {
  stop(): Promise<void>;
  /** An empty one in its place: what tests before have left is not read again and again. */
  renew(): Promise<void>;
  /** Waits until the index shows everything the functions wrote. */
  indexed(): Promise<void>;
  /** DynamoDB requests the functions have made so far, without those that chance had them make again. */
  count(): number;
  /** How often they met a transaction of somebody else so far. */
  conflicts(): number;
}

/**
 * A control table of the test's own in real DynamoDB, and the environment in which functions find it. Who counts the
 * requests asks for `SMOOTH`.
 */
export async function startControlTable({ roughness = testRoughness() } = {}): Promise<ControlTable> {
  const dynamodb = await openDynamoDb();
  Object.assign(process.env, {
    AUTHORIZATION_CACHE_SECONDS: '5',
    CONTROL_TABLE: dynamodb.table,
    AWS_ENDPOINT_URL: dynamodb.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  });
  await createControlTable(dynamodb.table);
  const { happens, repeats } = countRepeats(roughness);
  const strict = beStrict(dynamo(), new DynamoDBClient({}), happens);
  let requests = 0;
  const countRequests = { step: 'initialize', name: 'countRequests', override: true } as const;
  dynamo().middlewareStack.add((next) => (args) => ((requests += 1), next(args)), countRequests);
  return {
    stop: () => dynamodb.close(),
    async renew() {
      const TableName = dynamodb.table;
      await new DynamoDBClient({}).send(new DeleteTableCommand({ TableName }));
      await createControlTable(TableName);
    },
    count: () => requests - repeats(),
    indexed: () => until(() => !strict.isBehind).then(() => undefined),
    conflicts: () => strict.conflicts,
  };
}

/** One more in the same DynamoDB; functions use the one the environment names. Answers with its stream, if it has one. */
export async function createControlTable(
  name: string,
  client: Pick<DynamoDBClient, 'send'> = new DynamoDBClient({}),
  StreamSpecification?: StreamSpecification,
): Promise<string> {
  const text = (name: string) => ({ AttributeName: name, AttributeType: 'S' as const });
  const schema = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  const { TableDescription } = await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map(text),
      KeySchema: schema('pk', 'sk'),
      GlobalSecondaryIndexes: [
        { IndexName: 'gsi1', KeySchema: schema('gsi1pk', 'gsi1sk'), Projection: { ProjectionType: 'ALL' } },
      ],
      StreamSpecification,
    }),
  );
  return TableDescription?.LatestStreamArn ?? '';
}
