import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import type { Checkpoints } from './checkpoints.ts';
import type { Mapped, MappingsOptions } from './mappings.ts';
import { ShardReader } from './shard-reader.ts';
import { sequenceNumber, type Arrived } from './stream-event.ts';
import { Trouble } from './trouble.ts';
import { isAfter, VIRTUAL_SHARDS, VirtualShard, virtualShardOf } from './virtual-shard.ts';

const IDLE_MS = 1000;
/** What is kept in memory at most. Only beyond that does a shard that lags hold up the others. */
const PENDING_MAX = 20_000;

export interface SplitShardOptions extends MappingsOptions {
  shardId: string;
  spec: () => Mapped;
  client: () => DynamoDBStreamsClient;
  checkpoints: Checkpoints;
  /** The attribute that is the table's partition key. */
  hashKey: string;
  /** Records that came in before this are not for the mapping. */
  arrivedAfterMs: number;
  /** When everything stops. */
  stopping: AbortSignal;
}

/** A shard of the engine: read once, and split into several that know nothing of each other. */
export class SplitShard {
  #options: SplitShardOptions;
  #failing = new AbortController();
  #shards: VirtualShard[];
  #reader: ShardReader;

  constructor(options: SplitShardOptions) {
    this.#options = options;
    const { shardId, spec, client, idleMs = IDLE_MS } = options;
    const signal = AbortSignal.any([options.stopping, this.#failing.signal]);
    const names = Array.from({ length: VIRTUAL_SHARDS }, (_, index) => `${shardId}-${index}`);
    const positions = names.map((name) => options.checkpoints.find(spec().id, name).sequenceNumber);
    this.#shards = names.map(
      (name, index) =>
        new VirtualShard({
          ...options,
          shardId: name,
          after: positions[index],
          save: (position) => options.checkpoints.save(spec().id, name, position),
          signal,
        }),
    );
    this.#reader = new ShardReader({
      shardId,
      spec,
      client,
      after: lowest(positions),
      take: (records) => this.#handOut(records),
      hasRoom: () => this.#shards.reduce((sum, { pendingCount }) => sum + pendingCount, 0) < PENDING_MAX,
      idleMs,
      trouble: new Trouble(`${spec().id} reading ${shardId}`),
      signal,
    });
  }

  wake(): void {
    this.#reader.wake();
  }

  /** Returns when the shard has come to its end and everything is dealt with, or when it was stopped. */
  async run(): Promise<void> {
    const { stopping, checkpoints, spec, shardId } = this.#options;
    const work = [this.#read(), ...this.#shards.map((shard) => shard.run())];
    try {
      await Promise.all(work);
    } finally {
      // What one could not do, none goes on with: they begin again where each left off.
      this.#failing.abort();
      await Promise.allSettled(work);
    }
    if (!stopping.aborted) checkpoints.close(spec().id, shardId);
  }

  async #read(): Promise<void> {
    await this.#reader.read();
    for (const shard of this.#shards) shard.end();
  }

  #handOut(records: Arrived[]): void {
    const { spec, arrivedAfterMs, hashKey } = this.#options;
    const last = records.at(-1);
    if (!last) return;
    const wanted = records.filter(
      ({ record, arrivedAtMs }) => arrivedAtMs >= arrivedAfterMs && spec().matches(record),
    );
    const byShard = Map.groupBy(wanted, (one) => virtualShardOf(one, hashKey));
    for (const [index, shard] of this.#shards.entries())
      shard.take(byShard.get(index) ?? [], sequenceNumber(last));
  }
}

/** Where the slowest left off; nothing when one of them never began. */
function lowest(positions: (string | undefined)[]): string | undefined {
  return positions.reduce((low, one) =>
    one === undefined || low === undefined || isAfter(one, low) ? low : one,
  );
}
