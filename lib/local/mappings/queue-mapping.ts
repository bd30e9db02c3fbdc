import { randomUUID } from 'node:crypto';
import {
  ChangeMessageVisibilityBatchCommand,
  DeleteMessageBatchCommand,
  GetQueueAttributesCommand,
  ReceiveMessageCommand,
  SQSClient,
  type Message,
} from '@aws-sdk/client-sqs';
import type { SQSRecord } from 'aws-lambda';
import type { FunctionSpec } from '../lambda/functions.ts';
import { pause } from '../lambda/pause.ts';
import { WORKERS_MAX } from '../lambda/pool.ts';
import { queueUrl } from '../lambda/queue-url.ts';
import { fittingCount, invokeWithBatch, type BatchOutcome } from './batch.ts';
import type { Mapped, MappingsOptions } from './mappings.ts';
import { filterable, toQueueRecord } from './queue-event.ts';
import { Trouble } from './trouble.ts';

const POLL_SECONDS = 20;
const RECEIVE_MAX = 10;
const REFUSED_DELAY_MS_MIN = 100;
const REFUSED_DELAY_MS_MAX = 2000;
/** Messages a throttled function could not take come back this soon. */
const RETURN_SECONDS = 1;

interface Connection {
  client: SQSClient;
  url: string;
  roleArn: string;
  visibilitySeconds: number;
}

/** Polls one queue with the rights of the function's role and hands it batches, several at a time. */
export class QueueMapping {
  spec: Mapped;
  #options: MappingsOptions;
  #polls: Trouble;
  #answers: Trouble;
  #stopping = new AbortController();
  #connection: Connection | undefined;
  #batches = new Set<Promise<void>>();
  #polling: Promise<void> | undefined;

  constructor(spec: Mapped, options: MappingsOptions) {
    this.spec = spec;
    this.#options = options;
    this.#polls = new Trouble(`${spec.id} polling ${spec.sourceArn}`);
    this.#answers = new Trouble(`${spec.id} answering ${spec.sourceArn}`);
  }

  start(): void {
    this.#polling ??= this.#poll();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#polling;
    await Promise.all(this.#batches);
    this.#connection?.client.destroy();
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const target = this.#target();
        const connection = await this.#connect(target);
        const batchesMax = this.#batchesMax(target);
        while (this.#batches.size >= batchesMax) await Promise.race(this.#batches);
        const messages = await this.#gather(connection);
        this.#polls.over();
        if (messages.length > 0) this.#begin(connection, target, messages);
      } catch (error) {
        if (signal.aborted) return;
        this.#connection = undefined;
        await this.#polls.meet(error, signal);
      }
    }
  }

  #batchesMax({ reservedConcurrency = WORKERS_MAX }: FunctionSpec): number {
    const { maximumConcurrency = WORKERS_MAX } = this.spec;
    return Math.max(1, Math.min(maximumConcurrency, reservedConcurrency, WORKERS_MAX));
  }

  #target(): FunctionSpec {
    const target = this.#options.functions.get(this.spec.functionArn);
    if (!target) throw new Error(`There is no function ${this.spec.functionArn}.`);
    return target;
  }

  async #connect({ roleArn, name, timeoutSeconds }: FunctionSpec): Promise<Connection> {
    if (this.#connection?.roleArn === roleArn) return this.#connection;
    const config = this.#options.principals.clientConfig(roleArn, name);
    const client = new SQSClient(config);
    const url = queueUrl(config.endpoint, this.spec.sourceArn);
    const { Attributes } = await client.send(
      new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['VisibilityTimeout'] }),
      { abortSignal: this.#stopping.signal },
    );
    const visibilitySeconds = Number(Attributes?.['VisibilityTimeout'] ?? 30);
    if (visibilitySeconds < timeoutSeconds) {
      // AWS refuses to create such a mapping.
      throw new Error(
        `Queue visibility timeout: ${visibilitySeconds} seconds is less than Function timeout: ${timeoutSeconds} seconds.`,
      );
    }
    this.#connection = { client, url, roleArn, visibilitySeconds };
    return this.#connection;
  }

  /** What one poll finds and, with a batch window, what comes in until the window closes or the batch is full. */
  async #gather(connection: Connection): Promise<Message[]> {
    const { batchSize, batchWindowSeconds } = this.spec;
    const messages = await this.#receive(connection, POLL_SECONDS, batchSize);
    const windowEndsMs = Date.now() + batchWindowSeconds * 1000;
    while (messages.length > 0 && messages.length < batchSize && Date.now() < windowEndsMs) {
      const secondsLeft = Math.ceil((windowEndsMs - Date.now()) / 1000);
      try {
        messages.push(
          ...(await this.#receive(
            connection,
            Math.min(secondsLeft, POLL_SECONDS),
            batchSize - messages.length,
          )),
        );
      } catch {
        // What is here already must not wait for the queue to recover.
        break;
      }
    }
    return messages;
  }

  async #receive({ client, url }: Connection, waitSeconds: number, countMax: number): Promise<Message[]> {
    const command = new ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: Math.min(countMax, RECEIVE_MAX),
      WaitTimeSeconds: waitSeconds,
      MessageAttributeNames: ['All'],
      MessageSystemAttributeNames: ['All'],
    });
    const { Messages } = await client.send(command, { abortSignal: this.#stopping.signal });
    return Messages ?? [];
  }

  #begin(connection: Connection, target: FunctionSpec, messages: Message[]): void {
    const { visibilitySeconds } = connection;
    const holdSeconds = Math.max(visibilitySeconds - target.timeoutSeconds, visibilitySeconds / 2);
    const batch = this.#work(connection, messages, Date.now() + holdSeconds * 1000)
      .catch((error: unknown) => this.#answers.meet(error, this.#stopping.signal))
      .finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
  }

  async #work(connection: Connection, messages: Message[], holdUntilMs: number): Promise<void> {
    const { spec } = this;
    const records = messages.map((message) => toQueueRecord(message, spec.sourceArn));
    const unwanted = records.filter((record) => !spec.matches(filterable(record)));
    await this.#delete(connection, unwanted);
    let rest = records.filter((record) => !unwanted.includes(record));
    while (rest.length > 0) {
      const batch = rest.slice(0, fittingCount(rest, spec.batchSize));
      rest = rest.slice(batch.length);
      await this.#deliver(connection, batch, holdUntilMs);
    }
  }

  async #deliver(connection: Connection, batch: SQSRecord[], holdUntilMs: number): Promise<void> {
    const { signal } = this.#stopping;
    const ids = batch.map((record) => record.messageId);
    let delayMs = REFUSED_DELAY_MS_MIN;
    for (;;) {
      const outcome = await invokeWithBatch(
        this.#options.functions,
        { ...this.spec, requestId: randomUUID() },
        batch,
        ids,
      );
      // Messages may come again though the function was done with them: the answer was lost on its way.
      const isLost = outcome.kind === 'done' && this.#options.roughness('redelivered');
      if (isLost) return this.#giveBack(connection, batch);
      if (outcome.kind !== 'refused') return this.#delete(connection, handled(batch, outcome));
      // Each receive counts towards the dead-letter queue: hold on to the batch while it is still ours.
      if (signal.aborted || Date.now() + delayMs > holdUntilMs) return this.#giveBack(connection, batch);
      await pause(delayMs, signal);
      delayMs = Math.min(delayMs * 2, REFUSED_DELAY_MS_MAX);
    }
  }

  async #delete({ client, url }: Connection, records: SQSRecord[]): Promise<void> {
    for (let at = 0; at < records.length; at += RECEIVE_MAX) {
      const Entries = records
        .slice(at, at + RECEIVE_MAX)
        .map(({ receiptHandle }, index) => ({ Id: String(index), ReceiptHandle: receiptHandle }));
      await client.send(new DeleteMessageBatchCommand({ QueueUrl: url, Entries }));
      this.#answers.over();
    }
  }

  async #giveBack({ client, url }: Connection, records: SQSRecord[]): Promise<void> {
    for (let at = 0; at < records.length; at += RECEIVE_MAX) {
      const Entries = records.slice(at, at + RECEIVE_MAX).map(({ receiptHandle }, index) => ({
        Id: String(index),
        ReceiptHandle: receiptHandle,
        VisibilityTimeout: RETURN_SECONDS,
      }));
      const command = new ChangeMessageVisibilityBatchCommand({ QueueUrl: url, Entries });
      // A role that may not do this loses nothing: the messages come back when their time is up.
      await client.send(command).catch(() => undefined);
    }
  }
}

function handled(batch: SQSRecord[], outcome: Exclude<BatchOutcome, { kind: 'refused' }>): SQSRecord[] {
  return outcome.kind === 'done' ? batch : batch.filter((record) => !outcome.ids.has(record.messageId));
}
