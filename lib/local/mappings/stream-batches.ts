import { randomUUID } from 'node:crypto';
import { isPassingFault, type Deliver } from '../lambda/deliver.ts';
import type { Functions } from '../lambda/functions.ts';
import { pause } from '../lambda/pause.ts';
import type { Roughness } from '../wire/roughness.ts';
import { say } from '../wire/say.ts';
import { invokeWithBatch } from './batch.ts';
import type { Mapped } from './mappings.ts';
import { sequenceNumber, type Arrived } from './stream-event.ts';

const RETRY_DELAY_MS_MIN = 100;
const RETRY_DELAY_MS_MAX = 10_000;
const DELIVERIES_MAX = 8;

export interface StreamBatchesOptions {
  shardId: string;
  spec: () => Mapped;
  functions: Functions;
  deliver: Deliver;
  roughness: Roughness;
  /** These are dealt with, one way or the other. */
  settled: (records: Arrived[]) => void;
  signal: AbortSignal;
}

/** What is known of the records at the head of a batch that keeps failing. */
interface Failures {
  count: number;
  requestId: string;
  functionFailed: boolean;
}

/** Sees a batch through: to success, or to where failed ones go. Never out of order. */
export class StreamBatches {
  #options: StreamBatchesOptions;

  constructor(options: StreamBatchesOptions) {
    this.#options = options;
  }

  async settle(batch: Arrived[], failures = noFailures()): Promise<void> {
    const { spec, functions, roughness, settled, signal } = this.#options;
    let rest = batch;
    let delayMs = RETRY_DELAY_MS_MIN;
    while (rest.length > 0 && !signal.aborted) {
      const expired = countExpired(rest, spec().recordAgeSecondsMax);
      if (expired > 0) {
        await this.#discard(rest.slice(0, expired), 'RecordAgeExceeded', failures);
        rest = rest.slice(expired);
        continue;
      }
      const requestId = randomUUID();
      const records = rest.map(({ record }) => record);
      const outcome = await invokeWithBatch(
        functions,
        { ...spec(), requestId },
        records,
        rest.map(sequenceNumber),
      );
      if (outcome.kind === 'done' && !roughness('redelivered')) return settled(rest);
      if (signal.aborted) return;
      // The answer was lost on its way: the records come again, in other batches.
      if (outcome.kind === 'done') return this.#halve(rest, noFailures());
      if (outcome.kind === 'failed') {
        const failedAt = rest.findIndex((one) => outcome.ids.has(sequenceNumber(one)));
        settled(rest.slice(0, failedAt));
        rest = rest.slice(failedAt);
        if (spec().bisectOnError && failedAt === 0 && rest.length > 1) {
          // Splitting does not count as a retry.
          await this.#backOff(delayMs);
          return this.#halve(rest, failures);
        }
        // Those now at the head have failed once, whatever those before them did.
        failures = { count: failedAt > 0 ? 1 : failures.count + 1, requestId, functionFailed: outcome.whole };
        if (isExhausted(failures.count, spec().retriesMax)) {
          return this.#discard(rest, 'RetryAttemptsExhausted', failures);
        }
      }
      await this.#backOff(delayMs);
      delayMs = Math.min(delayMs * 2, RETRY_DELAY_MS_MAX);
    }
  }

  async #halve(records: Arrived[], failures: Failures): Promise<void> {
    const half = Math.ceil(records.length / 2);
    await this.settle(records.slice(0, half), failures);
    await this.settle(records.slice(half), failures);
  }

  async #backOff(delayMs: number): Promise<void> {
    await pause(delayMs * (0.5 + Math.random() / 2), this.#options.signal);
  }

  async #discard(records: Arrived[], condition: string, failures: Failures): Promise<void> {
    const { spec, functions, settled, signal } = this.#options;
    const { id, functionArn, onFailureArn } = spec();
    const what = `${records.length} records from ${this.#options.shardId} (${condition})`;
    if (onFailureArn === undefined) {
      say('mappings', `${id} gave up ${what}, and has no destination for them.`);
      return settled(records);
    }
    const roleArn = functions.get(functionArn)?.roleArn ?? '';
    const message = JSON.stringify(this.#onFailureMessage(records, condition, failures));
    for (let delivery = 1; !signal.aborted; delivery++) {
      try {
        await this.#options.deliver(onFailureArn, roleArn, message);
        return settled(records);
      } catch (error) {
        if (delivery === DELIVERIES_MAX || !isPassingFault(error)) {
          say(
            'mappings',
            `${id} gave up ${what}, and could not report them to ${onFailureArn}: ${String(error)}`,
          );
          return settled(records);
        }
        await this.#backOff(RETRY_DELAY_MS_MIN * 2 ** delivery);
      }
    }
  }

  #onFailureMessage(records: Arrived[], condition: string, failures: Failures): object {
    const { shardId, spec } = this.#options;
    const { functionArn, sourceArn } = spec();
    const [first, last] = [records[0], records.at(-1)];
    return {
      requestContext: {
        requestId: failures.requestId,
        functionArn,
        condition,
        approximateInvokeCount: failures.count,
      },
      ...(failures.count > 0 && {
        responseContext: {
          statusCode: 200,
          executedVersion: '$LATEST',
          functionError: failures.functionFailed ? 'Unhandled' : null,
        },
      }),
      version: '1.0',
      timestamp: new Date().toISOString(),
      DDBStreamBatchInfo: {
        shardId,
        startSequenceNumber: first && sequenceNumber(first),
        endSequenceNumber: last && sequenceNumber(last),
        approximateArrivalOfFirstRecord: first && arrival(first),
        approximateArrivalOfLastRecord: last && arrival(last),
        batchSize: records.length,
        streamArn: sourceArn,
      },
    };
  }
}

function noFailures(): Failures {
  return { count: 0, requestId: randomUUID(), functionFailed: false };
}

function arrival({ arrivedAtMs }: Arrived): string {
  return new Date(arrivedAtMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

function isExhausted(failures: number, retriesMax = -1): boolean {
  return retriesMax >= 0 && failures > retriesMax;
}

function countExpired(records: Arrived[], ageSecondsMax = -1): number {
  if (ageSecondsMax < 0) return 0;
  const oldestMs = Date.now() - ageSecondsMax * 1000;
  const young = records.findIndex(({ arrivedAtMs }) => arrivedAtMs >= oldestMs);
  return young === -1 ? records.length : young;
}
