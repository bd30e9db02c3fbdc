import {
  GetRecordsCommand,
  GetShardIteratorCommand,
  type DynamoDBStreamsClient,
  type GetShardIteratorCommandInput,
} from '@aws-sdk/client-dynamodb-streams';
import { pause } from '../lambda/pause.ts';
import { say } from '../wire/say.ts';
import { fittingCount } from './batch.ts';
import type { Mapped } from './mappings.ts';
import { toArrived, type Arrived } from './stream-event.ts';
import type { Trouble } from './trouble.ts';

const READ_MAX = 1000;

export interface ShardReaderOptions {
  shardId: string;
  spec: () => Mapped;
  client: () => DynamoDBStreamsClient;
  /** Where a former run left off. */
  after: string | undefined;
  /** Records that came in before this are not for the mapping. */
  arrivedAfterMs: number;
  /** Called with the last of a run of records that concern nobody. */
  skipped: (sequenceNumber: string) => void;
  trouble: Trouble;
  /** A stream without news is asked again after this, if no write wakes the reader before. */
  idleMs: number;
  signal: AbortSignal;
}

/** Reads one shard in order and cuts what passes the filters into batches. */
export class ShardReader {
  #options: ShardReaderOptions;
  #after: string | undefined;
  #iterator: string | undefined;
  #closed = false;
  #pending: Arrived[] = [];
  #isWoken = false;
  #waking = new AbortController();

  constructor(options: ShardReaderOptions) {
    this.#options = options;
    this.#after = options.after;
  }

  wake(): void {
    this.#isWoken = true;
    this.#waking.abort();
    this.#waking = new AbortController();
  }

  /** Nothing when the shard has come to its end or the reader was stopped. */
  async nextBatch(): Promise<Arrived[] | undefined> {
    const { spec, signal } = this.#options;
    const { batchSize, batchWindowSeconds } = spec();
    let windowEndsMs = Date.now() + batchWindowSeconds * 1000;
    while (!signal.aborted) {
      const count = fittingCount(this.#pending, batchSize);
      const isFull = count === batchSize || count < this.#pending.length;
      const isDue = count > 0 && (Date.now() >= windowEndsMs || this.#closed);
      if (isFull || isDue) return this.#pending.splice(0, count);
      if (this.#closed) return undefined;
      const hadNone = count === 0;
      const news = await this.#read();
      if (hadNone) windowEndsMs = Date.now() + batchWindowSeconds * 1000;
      if (!news && !this.#closed)
        await this.#rest(this.#pending.length > 0 ? windowEndsMs - Date.now() : Infinity);
    }
    return undefined;
  }

  /** True when the shard had something, be it of interest or not. */
  async #read(): Promise<boolean> {
    const { spec, client, signal, skipped, trouble } = this.#options;
    this.#isWoken = false;
    try {
      this.#iterator ??= await this.#openIterator();
      const { Records = [], NextShardIterator } = await client().send(
        new GetRecordsCommand({ ShardIterator: this.#iterator, Limit: READ_MAX }),
        { abortSignal: signal },
      );
      this.#iterator = NextShardIterator;
      this.#closed = NextShardIterator === undefined;
      trouble.over();
      if (Records.length === 0) return false;
      const arrived = Records.map((record) => toArrived(record, spec().sourceArn));
      this.#pending.push(...arrived.filter((one) => this.#isWanted(one)));
      this.#after = arrived.at(-1)?.record.dynamodb.SequenceNumber;
      if (this.#pending.length === 0 && this.#after !== undefined) skipped(this.#after);
      return true;
    } catch (error) {
      this.#iterator = undefined;
      if (!signal.aborted) await this.#recover(error as Error);
      return false;
    }
  }

  async #recover(error: Error): Promise<void> {
    const { shardId, spec, trouble, signal } = this.#options;
    switch (error.name) {
      case 'ExpiredIteratorException':
        return;
      case 'TrimmedDataAccessException':
        say(
          'mappings',
          `${spec().id} was stopped for so long that records of ${shardId} expired; it continues with the remaining records.`,
        );
        this.#after = undefined;
        return;
      default:
        return trouble.meet(error, signal);
    }
  }

  async #openIterator(): Promise<string | undefined> {
    const { client, shardId, spec, signal } = this.#options;
    const position: Pick<GetShardIteratorCommandInput, 'ShardIteratorType' | 'SequenceNumber'> =
      this.#after === undefined
        ? { ShardIteratorType: 'TRIM_HORIZON' }
        : { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: this.#after };
    const command = new GetShardIteratorCommand({
      StreamArn: spec().sourceArn,
      ShardId: shardId,
      ...position,
    });
    return (await client().send(command, { abortSignal: signal })).ShardIterator;
  }

  #isWanted({ record, arrivedAtMs }: Arrived): boolean {
    const { spec, arrivedAfterMs } = this.#options;
    return arrivedAtMs >= arrivedAfterMs && spec().matches(record);
  }

  async #rest(msMax: number): Promise<void> {
    if (this.#isWoken) return;
    const { idleMs, signal } = this.#options;
    await pause(Math.min(msMax, idleMs), AbortSignal.any([signal, this.#waking.signal]));
  }
}
