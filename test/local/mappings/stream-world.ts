import {
  CreateTableCommand,
  DeleteItemCommand,
  DynamoDBClient,
  PutItemCommand,
  type AttributeValue,
} from '@aws-sdk/client-dynamodb';
import type { DynamoDb } from '../../../lib/local/engines/dynamodb.ts';
import type { Mappings, MappingSpec } from '../../../lib/local/mappings/mappings.ts';
import type { Arrived, StreamRecord } from '../../../lib/local/mappings/stream-event.ts';
import { virtualShardOf } from '../../../lib/local/mappings/virtual-shard.ts';
import { createDynamoDbService } from '../../../lib/local/services/dynamodb.ts';
import { SMOOTH, type Roughness } from '../../../lib/local/wire/roughness.ts';
import { startTestDynamoDb } from '../../dynamodb.ts';
import { until } from '../../until.ts';
import { allow, HostedWorld } from '../lambda/hosted-world.ts';
import { type Recorder } from '../lambda/lambda-world.ts';

export interface StreamEvent {
  Records: StreamRecord[];
}

const shardOf = (place: string): number =>
  virtualShardOf({ record: { dynamodb: { Keys: { place: { S: place } } } } } as unknown as Arrived, 'place');

/** Partition keys, each in another shard. */
export const PLACES = [0, 1, 2, 3].map(
  (shard) =>
    Array.from({ length: 1000 }, (_, index) => `place-${index}`).find((place) => shardOf(place) === shard) ??
    '',
);
/** Where a test does not say otherwise, everything is in one partition, and so in one shard. */
export const [HERE = '', THERE = ''] = PLACES;

export const idsOf = ({ Records }: StreamEvent): string[] =>
  Records.map(({ dynamodb }) => (dynamodb.Keys['id'] as { S: string }).S);
export const batches = (target: Recorder): string[][] =>
  target.invocations<StreamEvent>().map(({ event }) => idsOf(event));

export const readStream = (streamArn: string) =>
  allow(['dynamodb:DescribeStream', 'dynamodb:GetShardIterator', 'dynamodb:GetRecords'], streamArn);

export function mappingSpec(
  target: Recorder,
  streamArn: string,
  more: Partial<MappingSpec> = {},
): MappingSpec {
  return {
    id: `${target.spec.name}-mapping`,
    functionArn: target.spec.arn,
    sourceArn: streamArn,
    enabled: true,
    batchSize: 100,
    batchWindowSeconds: 0,
    filters: [],
    reportBatchItemFailures: false,
    startingPosition: 'TRIM_HORIZON',
    ...more,
  };
}

/** Tables in a real engine whose streams are followed. */
export class StreamWorld extends HostedWorld {
  #database: DynamoDb | undefined;
  #client: DynamoDBClient | undefined;
  /** Those that run at the moment. */
  current: Mappings = this.mappings;

  async openStreams(): Promise<this> {
    const database = await startTestDynamoDb({ dataDir: this.dataDir });
    this.#database = database;
    const onWrite = (tableNames: string[]) => this.current.wake(tableNames);
    await this.open([createDynamoDbService({ engine: () => database, onWrite, roughness: SMOOTH })]);
    this.current.start();
    this.#client = new DynamoDBClient(this.operator());
    return this;
  }

  override async close(): Promise<void> {
    await this.current.stop();
    await this.#database?.stop();
    await super.close();
  }

  /** Stops everything, and starts again with these over the same journal. */
  async restart(
    specs: MappingSpec[] = [],
    more: { idleMs?: number; roughness?: Roughness } = {},
  ): Promise<void> {
    await this.current.stop();
    this.current = this.newMappings(more);
    for (const spec of specs) this.current.put(spec);
    this.current.start();
  }

  databasePid(): number {
    return this.#database?.pid() ?? 0;
  }

  async createTable(name: string): Promise<string> {
    const { TableDescription } = await this.#db().send(
      new CreateTableCommand({
        TableName: name,
        AttributeDefinitions: ['place', 'id'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
        KeySchema: [
          { AttributeName: 'place', KeyType: 'HASH' },
          { AttributeName: 'id', KeyType: 'RANGE' },
        ],
        BillingMode: 'PAY_PER_REQUEST',
        StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
      }),
    );
    return TableDescription?.LatestStreamArn ?? '';
  }

  async put(table: string, id: string, more: Record<string, AttributeValue> = {}): Promise<void> {
    const Item = { place: { S: HERE }, id: { S: id }, ...more };
    await this.#db().send(new PutItemCommand({ TableName: table, Item }));
  }

  async remove(table: string, id: string): Promise<void> {
    const Key = { place: { S: HERE }, id: { S: id } };
    await this.#db().send(new DeleteItemCommand({ TableName: table, Key }));
  }

  /** A table whose stream feeds a recorder, all named alike. `before` is written before the mapping exists. */
  async follow(
    name: string,
    more: Partial<MappingSpec> = {},
    options: { environment?: Record<string, string>; before?: string[]; function?: object } = {},
  ): Promise<{ target: Recorder; spec: MappingSpec }> {
    const streamArn = await this.createTable(name);
    for (const id of options.before ?? []) await this.put(name, id);
    const target = this.recorder(name, options.environment, options.function);
    this.grant(name, readStream(streamArn));
    const spec = mappingSpec(target, streamArn, more);
    this.current.put(spec);
    return { target, spec };
  }

  /** How far the slowest shard has come. */
  checkpoint(mappingId: string): number | undefined {
    const query =
      'SELECT min(CAST(sequence_number AS INTEGER)) AS lowest FROM stream_checkpoint WHERE mapping_id = ?';
    const row = this.journal.prepare(query).get(mappingId) as { lowest: number | null };
    return row.lowest ?? undefined;
  }

  /** A queue for what a mapping gives up. */
  async destination(name: string, target: Recorder, spec: MappingSpec) {
    const queue = await this.createQueue(name);
    this.grant(target.spec.name, readStream(spec.sourceArn), allow(['sqs:SendMessage'], queue.arn));
    this.current.put({ ...spec, onFailureArn: queue.arn });
    return {
      queue,
      next: async () => {
        const [message] = await until(async () => {
          const messages = await queue.receive();
          return messages.length > 0 && messages;
        });
        return JSON.parse(message?.body ?? '') as {
          DDBStreamBatchInfo: { shardId: string; batchSize: number };
        };
      },
    };
  }

  #db(): DynamoDBClient {
    if (!this.#client) throw new Error('The world is not open.');
    return this.#client;
  }
}
