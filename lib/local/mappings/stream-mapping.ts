import { DescribeStreamCommand, DynamoDBStreamsClient, type Shard } from '@aws-sdk/client-dynamodb-streams';
import { pause } from '../lambda/pause.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { Mapped, MappingsOptions } from './mappings.ts';
import { SplitShard } from './split-shard.ts';
import { Trouble } from './trouble.ts';

const DESCRIBE_MS = 60_000;

interface Described {
  shards: Shard[];
  hashKey: string;
}

/** Follows one table's stream with the rights of the function's role: each shard on its own, parents first. */
export class StreamMapping {
  spec: Mapped;
  readonly tableName: string;
  #options: MappingsOptions;
  #checkpoints: Checkpoints;
  #createdAtMs: number;
  #trouble: Trouble;
  #stopping = new AbortController();
  #readings = new Map<string, { shard: SplitShard; reading: Promise<void> }>();
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
    for (const { shard } of this.#readings.values()) shard.wake();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#following;
    await Promise.all([...this.#readings.values()].map(({ reading }) => reading));
    this.#connection?.client.destroy();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const { shards, hashKey } = await this.#describe();
        for (const { ShardId = '' } of shards) this.#startReading(ShardId, hashKey);
        this.#trouble.over();
        const readings = [...this.#readings.values()].map(({ reading }) => reading);
        await Promise.race([...readings, pause(DESCRIBE_MS, signal)]);
      } catch (error) {
        if (!signal.aborted) await this.#trouble.meet(error, signal);
      }
    }
  }

  async #describe(): Promise<Described> {
    const shards: Shard[] = [];
    let hashKey = '';
    let last: string | undefined;
    do {
      const { StreamDescription } = await this.#client().send(
        new DescribeStreamCommand({ StreamArn: this.spec.sourceArn, ExclusiveStartShardId: last }),
        { abortSignal: this.#stopping.signal },
      );
      shards.push(...(StreamDescription?.Shards ?? []));
      const key = StreamDescription?.KeySchema?.find(({ KeyType }) => KeyType === 'HASH');
      hashKey = key?.AttributeName ?? '';
      last = StreamDescription?.LastEvaluatedShardId;
    } while (last !== undefined);
    // A shard is read when its parent is done or forgotten, so that one item's changes stay in order.
    const open = shards.filter(({ ShardId = '' }) => !this.#checkpoints.find(this.spec.id, ShardId).closed);
    const isChild = ({ ParentShardId }: Shard) => open.some(({ ShardId }) => ShardId === ParentShardId);
    return { shards: open.filter((shard) => !isChild(shard)), hashKey };
  }

  #startReading(shardId: string, hashKey: string): void {
    if (this.#readings.has(shardId)) return;
    const shard = new SplitShard({
      ...this.#options,
      shardId,
      hashKey,
      spec: () => this.spec,
      client: () => this.#client(),
      checkpoints: this.#checkpoints,
      arrivedAfterMs: this.spec.startingPosition === 'LATEST' ? this.#createdAtMs : 0,
      stopping: this.#stopping.signal,
    });
    const reading = shard.run().finally(() => this.#readings.delete(shardId));
    this.#readings.set(shardId, { shard, reading });
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
