import { table } from '../../lib/local/resources/dynamodb.ts';
import { policy, role } from '../../lib/local/resources/iam.ts';
import { identifyWith } from '../../lib/local/resources/index.ts';
import { lambdaFunction } from '../../lib/local/resources/lambda.ts';
import { Plan, statementsOf } from '../../lib/local/resources/plan.ts';
import { Iam } from '../../lib/local/iam/iam.ts';
import { type Body, dynamoDbAccess } from '../../lib/local/services/dynamodb-access.ts';
import { PartitionKeys } from '../../lib/local/services/dynamodb-keys.ts';
import { type TableDescription, TableSchemas } from '../../lib/local/services/dynamodb-schemas.ts';
import { AwsError, type PolicyStatement, type Principal } from '../../lib/local/wire/aws.ts';
import { readAssembly } from '../../lib/local/template/assembly.ts';
import { type Declared, Templates } from '../../lib/local/template/template.ts';
import { shortName } from './synthesized.ts';

/**
 * The template's table and the roles of its functions, asked as the front door asks: which permissions a request needs,
 * and whether IAM gives them to the role. Thousands are asked, so none is sent.
 */
export async function openFunctionRoles(assembly: string) {
  const world = { url: 'http://127.0.0.1:1', streams: new Map<string, string>() };
  const stacks = readAssembly(assembly);
  const templates = new Templates(stacks, identifyWith(world));
  const declared = (kind: string): Declared[] =>
    stacks.flatMap(({ name, template }) =>
      Object.entries(template.Resources ?? {})
        .filter(([, { Type }]) => Type === kind)
        .map(([logicalId]) => templates.declared(name, logicalId)),
    );
  const tables = declared(table.type);
  // Those who read a stream are granted it by its ARN.
  for (const { identity } of tables) {
    const arn = String(identity.attributes?.['Arn']);
    world.streams.set(arn, `${arn}/stream/first`);
  }
  const control = tables.find(({ logicalId }) => logicalId.startsWith('Control'));
  if (control === undefined) throw new Error('There is no control table.');
  const TableName = control.identity.ref;
  const schemas = new TableSchemas(() => Promise.resolve(control.properties as TableDescription));
  await schemas.learn([TableName]);
  const keys = new PartitionKeys(schemas);
  const plan = new Plan();
  for (const kind of [role, policy]) for (const each of declared(kind.type)) kind.plan?.(each, plan);
  const iam = new Iam();
  for (const each of plan.roles.values()) iam.putRole(each);

  const functions = new Map(
    declared(lambdaFunction.type).map(({ properties: { FunctionName, Role } }): [string, FunctionRole] => {
      const name = shortName(FunctionName);
      const roleArn = String(Role);
      return [name, { kind: 'role', arn: `${roleArn}/${name}`, roleArn, sessionName: name }];
    }),
  );

  function isAllowed(principal: Principal, operation: string, body: Body): boolean {
    try {
      for (const access of dynamoDbAccess(operation, body, keys)) iam.authorize(principal, access);
      return true;
    } catch (error) {
      if (error instanceof AwsError && error.code === 'AccessDeniedException') return false;
      throw error;
    }
  }

  function tryAll(attempts: Record<string, Attempt>, name: string, partition: string): string[] {
    const principal = functions.get(name);
    if (principal === undefined) throw new Error(`There is no function ${name}.`);
    return Object.entries(attempts)
      .filter(([, attempt]) => isAllowed(principal, ...attempt(TableName, partition.replace('*', 'probe'))))
      .map(([action]) => action);
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
  };
}

export type FunctionRoles = Awaited<ReturnType<typeof openFunctionRoles>>;
type FunctionRole = Extract<Principal, { kind: 'role' }>;
/** The operation and its body, as they are sent. */
type Attempt = (table: string, pk: string) => [operation: string, body: Body];

const statementsOfRole = (plan: Plan, arn: string): PolicyStatement[] =>
  (plan.roles.get(arn)?.policies ?? []).flatMap(statementsOf);

const leadingKeys = (condition: unknown): string[] =>
  (condition as Record<string, Record<string, string[]>> | undefined)?.['ForAllValues:StringLike']?.[
    'dynamodb:LeadingKeys'
  ] ?? [];

const keyOf = (pk: string) => ({ pk: { S: pk }, sk: { S: 'probe' } });

/** Everything a role can be let do with items, each as simple as it can be. */
const ON_TABLE: Record<string, Attempt> = {
  GetItem: (TableName, pk) => ['GetItem', { TableName, Key: keyOf(pk) }],
  BatchGetItem: (table, pk) => ['BatchGetItem', { RequestItems: { [table]: { Keys: [keyOf(pk)] } } }],
  Query: (TableName, pk) => ['Query', { TableName, ...whereIs('pk', pk) }],
  PutItem: (TableName, pk) => ['PutItem', { TableName, Item: keyOf(pk) }],
  UpdateItem: (TableName, pk) => ['UpdateItem', { TableName, Key: keyOf(pk) }],
  DeleteItem: (TableName, pk) => ['DeleteItem', { TableName, Key: keyOf(pk) }],
  BatchWriteItem: (table, pk) => [
    'BatchWriteItem',
    { RequestItems: { [table]: [{ PutRequest: { Item: keyOf(pk) } }] } },
  ],
  ConditionCheckItem: (TableName, pk) => [
    'TransactWriteItems',
    {
      TransactItems: [
        {
          ConditionCheck: {
            TableName,
            Key: keyOf(pk),
            ConditionExpression: 'attribute_not_exists(nothing_has_this)',
          },
        },
      ],
    },
  ],
};

const ON_INDEX: Record<string, Attempt> = {
  'gsi1.Query': (TableName, pk) => ['Query', { TableName, IndexName: 'gsi1', ...whereIs('gsi1pk', pk) }],
};

const whereIs = (key: string, value: string) => ({
  KeyConditionExpression: `${key} = :value`,
  ExpressionAttributeValues: { ':value': { S: value } },
});
