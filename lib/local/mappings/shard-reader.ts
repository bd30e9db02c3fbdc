import {
  GetRecordsCommand,
  GetShardIteratorCommand,
  type DynamoDBStreamsClient,
  type GetShardIteratorCommandInput,
} from '@aws-sdk/client-dynamodb-streams';
import { say } from '../wire/say.ts';
import { Bell } from './bell.ts';
import type { Mapped } from './mappings.ts';
import { sequenceNumber, toArrived, type Arrived } from './stream-event.ts';
import type { Trouble } from './trouble.ts';

const READ_MAX = 1000;

export interface ShardReaderOptions {
  shardId: string;
  spec: () => Mapped;
  client: () => DynamoDBStreamsClient;
  /** Where a former run left off. */
  after: string | undefined;
  /** Gets everything that is read, in order. */
  take: (records: Arrived[]) => void;
  /** Whether more can be taken. */
  hasRoom: () => boolean;
  trouble: Trouble;
  /** A stream without news is asked again after this, if no write wakes the reader before. */
  idleMs: number;
  signal: AbortSignal;
}

/** Reads one shard of the engine in order. */
export class ShardReader {
  #options: ShardReaderOptions;
  #after: string | undefined;
  #iterator: string | undefined;
  #isAtEnd = false;
  #bell = new Bell();

  constructor(options: ShardReaderOptions) {
    this.#options = options;
    this.#after = options.after;
  }

  wake(): void {
    this.#bell.ring();
  }

  /** Returns when the shard has come to its end or the reader was stopped. */
  async read(): Promise<void> {
    const { hasRoom, idleMs, signal } = this.#options;
    while (!signal.aborted && !this.#isAtEnd) {
      const hasNews = hasRoom() && (await this.#readSome());
      if (!hasNews && !this.#isAtEnd) await this.#bell.wait(idleMs, signal);
    }
  }

  async #readSome(): Promise<boolean> {
    const { spec, client, take, signal, trouble } = this.#options;
    try {
      this.#iterator ??= await this.#openIterator();
      const { Records = [], NextShardIterator } = await client().send(
        new GetRecordsCommand({ ShardIterator: this.#iterator, Limit: READ_MAX }),
        { abortSignal: signal },
      );
      this.#iterator = NextShardIterator;
      this.#isAtEnd = NextShardIterator === undefined;
      trouble.over();
      const arrived = Records.map((record) => toArrived(record, spec().sourceArn));
      const last = arrived.at(-1);
      if (!last) return false;
      take(arrived);
      this.#after = sequenceNumber(last);
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
}
