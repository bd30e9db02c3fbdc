import { randomBytes } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  type _Record,
  DescribeStreamCommand,
  DynamoDBStreamsClient,
  GetRecordsCommand,
  type GetRecordsCommandOutput,
  GetShardIteratorCommand,
  type ShardIteratorType,
} from '@aws-sdk/client-dynamodb-streams';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { startDynamoDb, type DynamoDbEngine } from '../../lib/local/engines/dynamodb.ts';
import { createControlTable } from '../control-table.ts';
import { openAwsServices } from '../local/services/aws-services-world.ts';

/** An engine as functions meet it: behind the front door. */
export async function openEngine(options: { engine: DynamoDbEngine; dataDir?: string }) {
  const engine = await startDynamoDb(options);
  const services = await openAwsServices({ dynamodb: engine });
  return {
    pid: () => engine.pid(),
    services,
    client: DynamoDBDocumentClient.from(new DynamoDBClient(services.asOperator())),
    streams: new DynamoDBStreamsClient(services.asOperator()),
    async close(): Promise<void> {
      await services.close();
      await engine.stop();
    },
  };
}

export type OpenedEngine = Awaited<ReturnType<typeof openEngine>>;

/** A table like the control table, with a stream of whole images. */
export async function createContractTable(
  client: Pick<DynamoDBClient, 'send'>,
): Promise<{ table: string; streamArn: string }> {
  const table = `contract-${randomBytes(4).toString('hex')}`;
  const stream = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } as const;
  return { table, streamArn: await createControlTable(table, client, stream) };
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
