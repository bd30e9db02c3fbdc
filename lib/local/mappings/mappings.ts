import type { Journal } from '../journal/journal.ts';
import { compilePattern } from './event-pattern.ts';
import type { Deliver } from '../lambda/deliver.ts';
import type { Functions } from '../lambda/functions.ts';
import { pause } from '../lambda/pause.ts';
import type { Principals } from '../iam/principals.ts';
import type { Roughness } from '../wire/roughness.ts';
import { say } from '../wire/say.ts';
import { Checkpoints } from './checkpoints.ts';
import { QueueMapping } from './queue-mapping.ts';
import { StreamMapping, tableOfStream } from './stream-mapping.ts';

const STOP_GRACE_MS = 5000;

export interface MappingSpec {
  id: string;
  functionArn: string;
  sourceArn: string;
  enabled: boolean;
  batchSize: number;
  batchWindowSeconds: number;
  /** Parsed patterns, of which a record must match one; without any, every record is sent. */
  filters: unknown[];
  reportBatchItemFailures: boolean;
  /** Queues. */
  maximumConcurrency?: number;
  /** Streams, from here on. */
  startingPosition?: 'TRIM_HORIZON' | 'LATEST';
  bisectOnError?: boolean;
  /** -1 is endless, and so is nothing. */
  retriesMax?: number;
  /** -1 is endless, and so is nothing. */
  recordAgeSecondsMax?: number;
  /** How many batches of a shard are worked on at once: one, if nothing is said. */
  parallelizationFactor?: number;
  onFailureArn?: string;
}

export interface MappingsOptions {
  functions: Functions;
  principals: Pick<Principals, 'clientConfig'>;
  journal: Journal;
  deliver: Deliver;
  /** Whether what was delivered comes again now and then. */
  roughness: Roughness;
  /** How long a stream without news is left alone, unless a write wakes its readers. */
  idleMs?: number;
}

/** A spec whose filters were found valid and made ready to use. */
export interface Mapped extends MappingSpec {
  matches: (record: unknown) => boolean;
}

/** What feeds queues and streams to functions. */
export class Mappings {
  #options: MappingsOptions;
  #checkpoints: Checkpoints;
  #mappings = new Map<string, QueueMapping | StreamMapping>();
  #started = false;

  constructor(options: MappingsOptions) {
    this.#options = options;
    this.#checkpoints = new Checkpoints(options.journal);
  }

  put(spec: MappingSpec): void {
    const mapped = checkMapping(spec);
    const known = this.#mappings.get(spec.id);
    if (known !== undefined && spec.enabled && known.spec.sourceArn === spec.sourceArn) {
      // Takes effect with the next batch. A poll under way goes on: ending it could strand what it just received.
      known.spec = mapped;
      return;
    }
    if (known !== undefined) this.#end(known);
    this.#mappings.delete(spec.id);
    if (!spec.enabled) return;
    const mapping = this.#create(mapped);
    this.#mappings.set(spec.id, mapping);
    if (this.#started) mapping.start();
  }

  keepOnly(ids: Set<string>): void {
    for (const [id, mapping] of this.#mappings) {
      if (ids.has(id)) continue;
      this.#mappings.delete(id);
      this.#end(mapping);
    }
    this.#checkpoints.keepOnly(ids);
  }

  /** Something was written to these tables: their streams have news. */
  wake(tableNames: string[]): void {
    for (const mapping of this.#mappings.values()) {
      if (mapping instanceof StreamMapping && tableNames.includes(mapping.tableName)) mapping.wake();
    }
  }

  start(): void {
    this.#started = true;
    for (const mapping of this.#mappings.values()) mapping.start();
  }

  /** A batch that isn't through in time is delivered again after the next start. */
  async stop(): Promise<void> {
    this.#started = false;
    const stopped = Promise.all([...this.#mappings.values()].map((mapping) => mapping.stop()));
    await Promise.race([stopped, pause(STOP_GRACE_MS)]);
  }

  #create(spec: Mapped): QueueMapping | StreamMapping {
    if (isQueue(spec)) return new QueueMapping(spec, this.#options);
    return new StreamMapping(spec, this.#options, this.#checkpoints);
  }

  /** In the background: what it has under way may take as long as the function does. */
  #end(mapping: QueueMapping | StreamMapping): void {
    mapping.stop().catch((error: unknown) => {
      say('mappings', `${mapping.spec.id} was removed, but did not stop cleanly: ${String(error)}`);
    });
  }
}

/** Refuses what could not be followed here. */
export function checkMapping(spec: MappingSpec): Mapped {
  if (!isQueue(spec) && tableOfStream(spec.sourceArn) === undefined) {
    throw new Error(
      `The event source mapping ${spec.id} reads ${spec.sourceArn}: only queues and table streams can be sources here.`,
    );
  }
  return { ...spec, matches: anyOf(spec) };
}

function isQueue({ sourceArn }: MappingSpec): boolean {
  return sourceArn.startsWith('arn:aws:sqs:');
}

function anyOf({ id, filters }: MappingSpec): (record: unknown) => boolean {
  const matchers = filters.map((filter) => {
    try {
      return compilePattern(filter);
    } catch (error) {
      throw new Error(`A filter of the event source mapping ${id} is invalid. ${(error as Error).message}`, {
        cause: error,
      });
    }
  });
  return (record) => matchers.length === 0 || matchers.some((matches) => matches(record));
}
