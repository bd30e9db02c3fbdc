import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  DeleteItemCommand,
  DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { table } from '../../lib/local/resources/dynamodb.ts';
import { policy, role } from '../../lib/local/resources/iam.ts';
import { identifyWith } from '../../lib/local/resources/index.ts';
import { lambdaFunction } from '../../lib/local/resources/lambda.ts';
import { Plan } from '../../lib/local/resources/plan.ts';
import { readAssembly } from '../../lib/local/template/assembly.ts';
import { type Declared, Templates } from '../../lib/local/template/template.ts';
import type { Makers } from '../../lib/local/resources/kind.ts';
import { startTestDynamoDb } from '../dynamodb.ts';
import { openAwsServices } from '../local/services/aws-services-world.ts';

/** The template's table and the roles of its functions, on the local engine, where IAM holds. */
export async function openFunctionRoles(assembly: string) {
  const engine = await startTestDynamoDb();
  const services = await openAwsServices({ dynamodb: engine });
  const operator = new DynamoDBClient(services.asOperator());
  const world = { url: services.url, streams: new Map<string, string>() };
  const stacks = readAssembly(assembly);
  const templates = new Templates(stacks, identifyWith(world));
  const declared = (kind: string): Declared[] =>
    stacks.flatMap(({ name, template }) =>
      Object.entries(template.Resources ?? {})
        .filter(([, { Type }]) => Type === kind)
        .map(([logicalId]) => templates.declared(name, logicalId)),
    );
  const tables = declared(table.type);
  for (const each of tables) await table.create?.(each, { dynamodb: operator, world } as unknown as Makers);
  const plan = new Plan();
  for (const kind of [role, policy]) for (const each of declared(kind.type)) kind.plan?.(each, plan);
  for (const each of plan.roles.values()) services.iam.putRole(each);

  return {
    control: tables.find(({ logicalId }) => logicalId.startsWith('Control'))?.identity.ref ?? '',
    roles: [...plan.roles.values()],
    functions: declared(lambdaFunction.type).map(({ properties: { FunctionName, Role } }) => {
      const name = String(FunctionName).replace('GpuaasPlatform-', '');
      const roleArn = String(Role);
      const credentials = services.principals.session(roleArn, name);
      return { name, roleArn, client: new DynamoDBClient(services.as(credentials)) };
    }),
    async close(): Promise<void> {
      operator.destroy();
      await services.close();
      await engine.stop();
    },
  };
}

type Attempt = (client: DynamoDBClient, TableName: string, pk: string) => Promise<unknown>;

const keyOf = (pk: string) => ({ pk: { S: pk }, sk: { S: 'probe' } });

/** Everything a role can be let do with items, each tried as simply as it can be. */
const ATTEMPTS = {
  GetItem: (client, TableName, pk) => client.send(new GetItemCommand({ TableName, Key: keyOf(pk) })),
  BatchGetItem: (client, TableName, pk) =>
    client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys: [keyOf(pk)] } } })),
  Query: (client, TableName, pk) =>
    client.send(
      new QueryCommand({
        TableName,
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: pk } },
      }),
    ),
  PutItem: (client, TableName, pk) => client.send(new PutItemCommand({ TableName, Item: keyOf(pk) })),
  UpdateItem: (client, TableName, pk) =>
    client.send(
      new UpdateItemCommand({
        TableName,
        Key: keyOf(pk),
        UpdateExpression: 'SET probed = :yes',
        ExpressionAttributeValues: { ':yes': { BOOL: true } },
      }),
    ),
  DeleteItem: (client, TableName, pk) => client.send(new DeleteItemCommand({ TableName, Key: keyOf(pk) })),
  BatchWriteItem: (client, TableName, pk) =>
    client.send(
      new BatchWriteItemCommand({ RequestItems: { [TableName]: [{ PutRequest: { Item: keyOf(pk) } }] } }),
    ),
  ConditionCheckItem: (client, TableName, pk) =>
    client.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          {
            ConditionCheck: {
              TableName,
              Key: keyOf(pk),
              ConditionExpression: 'attribute_not_exists(nothing_has_this)',
            },
          },
        ],
      }),
    ),
} satisfies Record<string, Attempt>;

const ON_INDEX = {
  'Query gsi1': (client, TableName, pk) =>
    client.send(
      new QueryCommand({
        TableName,
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: pk } },
      }),
    ),
} satisfies Record<string, Attempt>;

export type Action = keyof typeof ATTEMPTS | keyof typeof ON_INDEX;

/** What of all this the client is let do in a partition, the table's or the index's. */
export async function reach(
  client: DynamoDBClient,
  tableName: string,
  partition: string,
  on: 'table' | 'gsi1',
): Promise<Action[]> {
  const attempts = Object.entries(on === 'table' ? ATTEMPTS : ON_INDEX) as [Action, Attempt][];
  const pk = partition.replace('*', 'probe');
  const allowed: Action[] = [];
  for (const [action, attempt] of attempts) {
    try {
      await attempt(client, tableName, pk);
      allowed.push(action);
    } catch (error) {
      if ((error as Error).name !== 'AccessDeniedException') throw error;
    }
  }
  return allowed;
}
