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
import { Plan, statementsOf } from '../../lib/local/resources/plan.ts';
import type { PolicyStatement } from '../../lib/local/wire/aws.ts';
import { readAssembly } from '../../lib/local/template/assembly.ts';
import { type Declared, Templates } from '../../lib/local/template/template.ts';
import type { Makers } from '../../lib/local/resources/kind.ts';
import { startTestDynamoDb } from '../dynamodb.ts';
import { shortName } from './synthesized.ts';
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

  const { identity } = tables.find(({ logicalId }) => logicalId.startsWith('Control')) ?? {};
  const TableName = identity?.ref ?? '';
  const functions = new Map(
    declared(lambdaFunction.type).map(({ properties: { FunctionName, Role } }) => {
      const name = shortName(FunctionName);
      const roleArn = String(Role);
      const credentials = services.principals.session(roleArn, name);
      return [name, { roleArn, client: new DynamoDBClient(services.as(credentials)) }];
    }),
  );

  async function tryAll(
    attempts: Record<string, (table: string, pk: string) => unknown>,
    name: string,
    partition: string,
  ): Promise<string[]> {
    const { client } = functions.get(name) ?? {};
    if (client === undefined) throw new Error(`There is no function ${name}.`);
    const allowed: string[] = [];
    for (const [action, attempt] of Object.entries(attempts)) {
      // As one of them: the client's types take no union of commands.
      const command = attempt(TableName, partition.replace('*', 'probe')) as GetItemCommand;
      if (await isAllowed(client.send(command))) allowed.push(action);
    }
    return allowed;
  }

  return {
    /** What the role of a function lets it do in a partition of the table. */
    reach: (name: string, partition: string) => tryAll(ON_TABLE, name, partition),
    /** The same for a partition of the index. */
    reachByIndex: (name: string, partition: string) => tryAll(ON_INDEX, name, partition),
    /** Every partition a function is granted something in, as its role says it. */
    grants: () =>
      [...functions].flatMap(([name, { roleArn }]) =>
        statementsOfRole(plan, roleArn)
          .filter(({ Condition }) => leadingKeys(Condition).length > 0)
          .flatMap(({ Resource, Condition }) => {
            const on = String(Resource).endsWith('/index/gsi1') ? 'gsi1' : 'table';
            return leadingKeys(Condition).map((partition) => ({ name, on, partition }) as const);
          }),
      ),
    /** What the roles of no function say. */
    others: () => {
      const known = new Set([...functions.values()].map(({ roleArn }) => roleArn));
      return [...plan.roles.values()]
        .filter(({ arn }) => !known.has(arn))
        .map(({ policies }) => JSON.stringify(policies));
    },
    async close(): Promise<void> {
      for (const { client } of functions.values()) client.destroy();
      operator.destroy();
      await services.close();
      await engine.stop();
    },
  };
}

export type FunctionRoles = Awaited<ReturnType<typeof openFunctionRoles>>;

const statementsOfRole = (plan: Plan, arn: string): PolicyStatement[] =>
  (plan.roles.get(arn)?.policies ?? []).flatMap(statementsOf);

const leadingKeys = (condition: unknown): string[] =>
  (condition as Record<string, Record<string, string[]>> | undefined)?.['ForAllValues:StringLike']?.[
    'dynamodb:LeadingKeys'
  ] ?? [];

async function isAllowed(answer: Promise<unknown>): Promise<boolean> {
  try {
    await answer;
    return true;
  } catch (error) {
    const { name } = error as Error;
    if (name === 'AccessDeniedException') return false;
    // Somebody else tries the same item at this moment: the request came as far as the table.
    if (/^Transaction(Canceled|Conflict)Exception$/.test(name)) return true;
    throw error;
  }
}

const keyOf = (pk: string) => ({ pk: { S: pk }, sk: { S: 'probe' } });

/** Everything a role can be let do with items, each as simple as it can be. */
const ON_TABLE = {
  GetItem: (TableName: string, pk: string) => new GetItemCommand({ TableName, Key: keyOf(pk) }),
  BatchGetItem: (table: string, pk: string) =>
    new BatchGetItemCommand({ RequestItems: { [table]: { Keys: [keyOf(pk)] } } }),
  Query: (TableName: string, pk: string) => new QueryCommand({ TableName, ...whereIs('pk', pk) }),
  PutItem: (TableName: string, pk: string) => new PutItemCommand({ TableName, Item: keyOf(pk) }),
  UpdateItem: (TableName: string, pk: string) => new UpdateItemCommand({ TableName, Key: keyOf(pk) }),
  DeleteItem: (TableName: string, pk: string) => new DeleteItemCommand({ TableName, Key: keyOf(pk) }),
  BatchWriteItem: (table: string, pk: string) =>
    new BatchWriteItemCommand({ RequestItems: { [table]: [{ PutRequest: { Item: keyOf(pk) } }] } }),
  ConditionCheckItem: (TableName: string, pk: string) =>
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
};

const ON_INDEX = {
  'gsi1.Query': (TableName: string, pk: string) =>
    new QueryCommand({ TableName, IndexName: 'gsi1', ...whereIs('gsi1pk', pk) }),
};

const whereIs = (key: string, value: string) => ({
  KeyConditionExpression: `${key} = :value`,
  ExpressionAttributeValues: { ':value': { S: value } },
});
