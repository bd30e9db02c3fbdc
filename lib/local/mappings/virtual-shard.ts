import { createHash } from 'node:crypto';
import { fittingCount } from './batch.ts';
import { Bell } from './bell.ts';
import type { Mapped } from './mappings.ts';
import { StreamBatches, type StreamBatchesOptions } from './stream-batches.ts';
import { sequenceNumber, type Arrived } from './stream-event.ts';

/** The engine has one shard; AWS has one for each partition of the table, and there is no order between them. */
export const VIRTUAL_SHARDS = 4;

/** Records of one partition key are in one shard. */
export function virtualShardOf({ record }: Arrived, hashKey: string): number {
  const value = JSON.stringify(record.dynamodb.Keys[hashKey]);
  return createHash('sha256').update(value).digest().readUInt32BE() % VIRTUAL_SHARDS;
}

export const isAfter = (number: string, other: string | undefined): boolean =>
  other === undefined || BigInt(number) > BigInt(other);

export interface VirtualShardOptions extends Omit<StreamBatchesOptions, 'settled'> {
  spec: () => Mapped;
  /** Everything up to here was dealt with in a former run. */
  after: string | undefined;
  /** Everything up to here is dealt with. */
  save: (sequenceNumber: string) => void;
}

/**
 * Some of the partition keys of a shard, on their own: batched, tried again, given up and checkpointed without regard
 * to the others. Batches are worked on one after the other, or as many at once as the mapping's parallelization factor
 * says; then the records of one item stay in order:
 * https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html#dynamodb-polling-and-batching
 */
export class VirtualShard {
  #options: VirtualShardOptions;
  #batches: StreamBatches;
  #pending: Arrived[] = [];
  /** What was read and not dealt with, oldest first, each with what was read before it. */
  #outstanding = new Map<string, string | undefined>();
  #readTo: string | undefined;
  #saved: string | undefined;
  #windowEndsMs = 0;
  #isAtEnd = false;
  #busyItems = new Set<string>();
  #underWay = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;
  #bell = new Bell();

  constructor(options: VirtualShardOptions) {
    this.#options = options;
    this.#readTo = this.#saved = options.after;
    this.#batches = new StreamBatches({ ...options, settled: (records) => this.#settled(records) });
  }

  get pendingCount(): number {
    return this.#pending.length;
  }

  /** Records of this shard in order, and how far its reader has come, whosever records those were. */
  take(records: Arrived[], readTo: string): void {
    // The reader began where the slowest of its shards left off: this one may know some already.
    const fresh = records.filter((one) => isAfter(sequenceNumber(one), this.#readTo));
    if (this.#pending.length === 0) this.#openWindow();
    for (const one of fresh) {
      this.#outstanding.set(sequenceNumber(one), this.#readTo);
      this.#readTo = sequenceNumber(one);
      this.#pending.push(one);
    }
    if (isAfter(readTo, this.#readTo)) this.#readTo = readTo;
    this.#checkpoint();
    this.#bell.ring();
  }

  /** No more records will come. */
  end(): void {
    this.#isAtEnd = true;
    this.#bell.ring();
  }

  /** Returns when the shard has come to its end and everything is dealt with, or when it was stopped. */
  async run(): Promise<void> {
    const { signal } = this.#options;
    while (!signal.aborted && this.#failure === undefined) {
      const batch = this.#nextBatch();
      if (batch) this.#begin(batch);
      else if (this.#isAtEnd && this.#outstanding.size === 0) break;
      else await this.#bell.wait(this.#waitMs(), signal);
    }
    await Promise.all(this.#underWay);
    if (this.#failure) throw this.#failure.error;
  }

  #nextBatch(): Arrived[] | undefined {
    const { batchSize, parallelizationFactor = 1 } = this.#options.spec();
    if (this.#underWay.size >= parallelizationFactor) return undefined;
    const free = this.#pending.filter((one) => !this.#busyItems.has(itemOf(one)));
    const count = fittingCount(free, batchSize);
    const isFull = count === batchSize || count < free.length;
    const isDue = this.#isAtEnd || Date.now() >= this.#windowEndsMs;
    if (count === 0 || !(isFull || isDue)) return undefined;
    const batch = new Set(free.slice(0, count));
    this.#pending = this.#pending.filter((one) => !batch.has(one));
    this.#openWindow();
    return [...batch];
  }

  #begin(batch: Arrived[]): void {
    const items = new Set(batch.map(itemOf));
    for (const item of items) this.#busyItems.add(item);
    const work = this.#batches
      .settle(batch)
      .catch((error: unknown) => void (this.#failure = { error }))
      .finally(() => {
        for (const item of items) this.#busyItems.delete(item);
        this.#underWay.delete(work);
        this.#bell.ring();
      });
    this.#underWay.add(work);
  }

  #settled(records: Arrived[]): void {
    for (const one of records) this.#outstanding.delete(sequenceNumber(one));
    this.#checkpoint();
  }

  /** As far as everything is dealt with: a crash must redeliver whatever is not. */
  #checkpoint(): void {
    const oldest = this.#outstanding.values().next();
    const dealtWith = oldest.done ? this.#readTo : oldest.value;
    if (dealtWith === undefined || dealtWith === this.#saved) return;
    this.#options.save(dealtWith);
    this.#saved = dealtWith;
  }

  #openWindow(): void {
    this.#windowEndsMs = Date.now() + this.#options.spec().batchWindowSeconds * 1000;
  }

  #waitMs(): number {
    const ms = this.#windowEndsMs - Date.now();
    return this.#pending.length > 0 && ms > 0 ? ms : Infinity;
  }
}

/** The engines name the attributes of a key in any order. */
const itemOf = ({ record }: Arrived): string =>
  JSON.stringify(Object.entries(record.dynamodb.Keys).sort(([a], [b]) => (a < b ? -1 : 1)));
