import {
  CreateTableCommand,
  DescribeTableCommand,
  ResourceNotFoundException,
  UpdateTableCommand,
  type AttributeDefinition,
  type DynamoDBClient,
  type GlobalSecondaryIndex,
  type KeySchemaElement,
  type StreamSpecification,
  type TableDescription,
} from '@aws-sdk/client-dynamodb';
import { ACCOUNT, REGION } from '../wire/aws.ts';
import type { Declared } from '../template/template.ts';
import { physicalName, type ResourceKind } from './kind.ts';

interface TableProperties {
  AttributeDefinitions: AttributeDefinition[];
  KeySchema: KeySchemaElement[];
  GlobalSecondaryIndexes?: GlobalSecondaryIndex[];
  StreamSpecification?: { StreamViewType: StreamSpecification['StreamViewType'] };
  TimeToLiveSpecification?: { AttributeName: string; Enabled: boolean };
}

const tableName = (resource: Omit<Declared, 'identity'>): string => physicalName(resource, 'TableName', 255);
const tableArn = (name: string): string => `arn:aws:dynamodb:${REGION}:${ACCOUNT}:table/${name}`;

export const table: ResourceKind = {
  type: 'AWS::DynamoDB::Table',
  honoured: [
    'TableName',
    'AttributeDefinitions',
    'KeySchema',
    'GlobalSecondaryIndexes',
    'StreamSpecification',
    'TimeToLiveSpecification',
  ],
  ignored: [
    'BillingMode',
    'ProvisionedThroughput',
    'OnDemandThroughput',
    'PointInTimeRecoverySpecification',
    'ContributorInsightsSpecification',
    'DeletionProtectionEnabled',
    'SSESpecification',
    'TableClass',
    'Tags',
  ],
  identify(resource, world) {
    const name = tableName(resource);
    const arn = tableArn(name);
    const streamArn = (): string => {
      const stream = world.streams.get(arn);
      if (stream === undefined)
        throw new Error(
          `${resource.stack}/${resource.logicalId} has no stream, but something asks for its ARN.`,
        );
      return stream;
    };
    return { ref: name, attributes: { Arn: arn, StreamArn: streamArn } };
  },
  async create(resource, makers) {
    const name = resource.identity.ref;
    const wanted = resource.properties as unknown as TableProperties;
    const existing = await describe(makers.dynamodb, name);
    const made =
      existing === undefined
        ? await create(makers.dynamodb, name, wanted)
        : await adjust(makers.dynamodb, name, wanted, existing);
    if (made.LatestStreamArn !== undefined) makers.world.streams.set(tableArn(name), made.LatestStreamArn);
  },
  plan({ properties, identity }, plan) {
    const { TimeToLiveSpecification: expiry } = properties as unknown as TableProperties;
    if (expiry?.Enabled === true) plan.expiries.set(identity.ref, expiry.AttributeName);
  },
};

async function describe(dynamodb: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    return (await dynamodb.send(new DescribeTableCommand({ TableName: name }))).Table;
  } catch (error) {
    if (error instanceof ResourceNotFoundException) return undefined;
    throw error;
  }
}

async function create(
  dynamodb: DynamoDBClient,
  name: string,
  wanted: TableProperties,
): Promise<TableDescription> {
  const stream = wanted.StreamSpecification;
  const { TableDescription } = await dynamodb.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: wanted.AttributeDefinitions,
      KeySchema: wanted.KeySchema,
      GlobalSecondaryIndexes: wanted.GlobalSecondaryIndexes?.map(withoutThroughput),
      StreamSpecification: stream && { StreamEnabled: true, StreamViewType: stream.StreamViewType },
    }),
  );
  return TableDescription ?? {};
}

/** A table outlives the template it was made from: what was added since is added to it, a changed key is refused. */
async function adjust(
  dynamodb: DynamoDBClient,
  name: string,
  wanted: TableProperties,
  existing: TableDescription,
): Promise<TableDescription> {
  const key = (schema: KeySchemaElement[] = []): string =>
    schema.map((part) => `${part.KeyType}=${part.AttributeName}`).join();
  if (key(existing.KeySchema) !== key(wanted.KeySchema)) {
    throw new Error(
      `The table ${name} has a different key in the data folder than in the template. Start with --fresh to create it again.`,
    );
  }
  let latest = existing;
  const update = async (
    input: Omit<ConstructorParameters<typeof UpdateTableCommand>[0], 'TableName'>,
  ): Promise<void> => {
    latest =
      (await dynamodb.send(new UpdateTableCommand({ TableName: name, ...input }))).TableDescription ?? latest;
  };
  const present = new Set(existing.GlobalSecondaryIndexes?.map((index) => index.IndexName));
  for (const index of wanted.GlobalSecondaryIndexes ?? []) {
    if (present.has(index.IndexName)) continue;
    const { IndexName, KeySchema, Projection } = index;
    await update({
      AttributeDefinitions: wanted.AttributeDefinitions,
      GlobalSecondaryIndexUpdates: [{ Create: { IndexName, KeySchema, Projection } }],
    });
  }
  const view = wanted.StreamSpecification?.StreamViewType;
  if (view !== undefined && existing.StreamSpecification?.StreamEnabled !== true) {
    await update({ StreamSpecification: { StreamEnabled: true, StreamViewType: view } });
  }
  return latest;
}

function withoutThroughput({ IndexName, KeySchema, Projection }: GlobalSecondaryIndex): GlobalSecondaryIndex {
  return { IndexName, KeySchema, Projection };
}
