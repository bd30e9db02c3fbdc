import { randomBytes } from 'node:crypto';
import { CreateTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  type _Record,
  DescribeStreamCommand,
  type DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
  type ShardIteratorType,
} from '@aws-sdk/client-dynamodb-streams';

/** A table keyed as the control table is, with an index and a stream of whole images. */
export async function createContractTable(
  client: Pick<DynamoDBClient, 'send'>,
): Promise<{ table: string; streamArn: string }> {
  const table = `contract-${randomBytes(4).toString('hex')}`;
  const schema = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  const { TableDescription } = await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk', 'gsi1pk', 'gsi1sk'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S',
      })),
      KeySchema: schema('pk', 'sk'),
      GlobalSecondaryIndexes: [
        { IndexName: 'gsi1', KeySchema: schema('gsi1pk', 'gsi1sk'), Projection: { ProjectionType: 'ALL' } },
      ],
      StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
    }),
  );
  return { table, streamArn: TableDescription?.LatestStreamArn ?? '' };
}

export async function openIterator(
  streams: DynamoDBStreamsClient,
  StreamArn: string,
  ShardIteratorType: ShardIteratorType,
  SequenceNumber?: string,
): Promise<string> {
  const { StreamDescription } = await streams.send(new DescribeStreamCommand({ StreamArn }));
  const [shard, ...others] = StreamDescription?.Shards ?? [];
  if (shard === undefined || others.length > 0) throw new Error('The stream should have one shard.');
  const position = { ShardId: shard.ShardId, ShardIteratorType, SequenceNumber };
  const { ShardIterator } = await streams.send(new GetShardIteratorCommand({ StreamArn, ...position }));
  return ShardIterator ?? '';
}

/** Everything from there on that is in the stream now, and where to go on. */
export async function readOn(
  streams: DynamoDBStreamsClient,
  iterator: string,
): Promise<{ records: _Record[]; next: string }> {
  const records: _Record[] = [];
  let next: string | undefined = iterator;
  for (;;) {
    const page: GetRecordsCommandOutput = await streams.send(
      new GetRecordsCommand({ ShardIterator: next, Limit: 100 }),
    );
    next = page.NextShardIterator;
    records.push(...(page.Records ?? []));
    if ((page.Records ?? []).length === 0 || next === undefined) return { records, next: next ?? '' };
  }
}
