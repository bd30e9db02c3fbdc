import { DescribeStreamCommand, DynamoDBStreamsClient, type Shard } from '@aws-sdk/client-dynamodb-streams';
import { pause } from '../lambda/pause.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Mapped, MappingsOptions } from './mappings.ts';
import { ShardReader } from './shard-reader.ts';
import { StreamBatches } from './stream-batches.ts';
import { Trouble } from './trouble.ts';

const DESCRIBE_MS = 60_000;
const IDLE_MS = 1000;

/** Follows one table's stream with the rights of the function's role: each shard on its own, parents first. */
export class StreamMapping {
  spec: Mapped;
  readonly tableName: string;
  #options: MappingsOptions;
  #checkpoints: Checkpoints;
  #createdAtMs: number;
  #trouble: Trouble;
  #stopping = new AbortController();
  #readers = new Map<string, { reader: ShardReader; reading: Promise<void> }>();
  #following: Promise<void> | undefined;
  #connection: { roleArn: string; client: DynamoDBStreamsClient } | undefined;

  constructor(spec: Mapped, options: MappingsOptions, checkpoints: Checkpoints) {
    this.spec = spec;
    this.tableName = tableOfStream(spec.sourceArn) ?? '';
    this.#options = options;
    this.#checkpoints = checkpoints;
    this.#createdAtMs = checkpoints.createdAtMs(spec.id, spec.sourceArn);
    this.#trouble = new Trouble(`${spec.id} following ${spec.sourceArn}`);
  }

  start(): void {
    this.#following ??= this.#follow();
  }

  wake(): void {
    for (const { reader } of this.#readers.values()) reader.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
    await Promise.all([...this.#readers.values()].map(({ reading }) => reading));
    this.#connection?.client.destroy();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        for (const shard of await this.#describe()) this.#startReading(shard);
        this.#trouble.over();
        const readings = [...this.#readers.values()].map(({ reading }) => reading);
        await Promise.race([...readings, pause(DESCRIBE_MS, signal)]);
      } catch (error) {
        if (!signal.aborted) await this.#trouble.meet(error, signal);
      }
    }
  }

  async #describe(): Promise<Shard[]> {
    const shards: Shard[] = [];
    let last: string | undefined;
    do {
      const { StreamDescription } = await this.#client().send(
        new DescribeStreamCommand({ StreamArn: this.spec.sourceArn, ExclusiveStartShardId: last }),
        { abortSignal: this.#stopping.signal },
      );
      shards.push(...(StreamDescription?.Shards ?? []));
      last = StreamDescription?.LastEvaluatedShardId;
    } while (last !== undefined);
    // A shard is read when its parent is done or forgotten, so that one item's changes stay in order.
    const open = shards.filter(({ ShardId = '' }) => !this.#checkpoints.find(this.spec.id, ShardId).closed);
    return open.filter(({ ParentShardId }) => !open.some(({ ShardId }) => ShardId === ParentShardId));
  }

  #startReading({ ShardId: shardId = '' }: Shard): void {
    if (this.#readers.has(shardId)) return;
    const { functions, deliver, idleMs = IDLE_MS } = this.#options;
    const shared = { shardId, spec: () => this.spec, signal: this.#stopping.signal };
    const save = (sequenceNumber: string) => this.#checkpoints.save(this.spec.id, shardId, sequenceNumber);
    const reader = new ShardReader({
      ...shared,
      client: () => this.#client(),
      after: this.#checkpoints.find(this.spec.id, shardId).sequenceNumber,
      arrivedAfterMs: this.spec.startingPosition === 'LATEST' ? this.#createdAtMs : 0,
      skipped: save,
      idleMs,
      trouble: new Trouble(`${this.spec.id} reading ${this.tableName}'s ${shardId}`),
    });
    const batches = new StreamBatches({ ...shared, functions, deliver, settled: save });
    const reading = this.#read(shardId, reader, batches).finally(() => this.#readers.delete(shardId));
    this.#readers.set(shardId, { reader, reading });
  }

  async #read(shardId: string, reader: ShardReader, batches: StreamBatches): Promise<void> {
    for (let batch = await reader.nextBatch(); batch; batch = await reader.nextBatch())
      await batches.settle(batch);
    if (!this.#stopping.signal.aborted) this.#checkpoints.close(this.spec.id, shardId);
  }

  #client(): DynamoDBStreamsClient {
    const target = this.#options.functions.get(this.spec.functionArn);
    if (!target) throw new Error(`There is no function ${this.spec.functionArn}.`);
    if (this.#connection?.roleArn !== target.roleArn) {
      const config = this.#options.principals.clientConfig(target.roleArn, target.name);
      this.#connection = { roleArn: target.roleArn, client: new DynamoDBStreamsClient(config) };
    }
    return this.#connection.client;
  }
}

/** `arn:aws:dynamodb:<region>:<account>:table/<name>/stream/<label>` */
export function tableOfStream(streamArn: string): string | undefined {
  return /^arn:aws:dynamodb:[^:]*:[^:]*:table\/([^/]+)\/stream\//.exec(streamArn)?.[1];
}
