import { randomUUID } from 'node:crypto';
import { AwsError } from '../wire/aws.ts';
import type { Journal } from '../journal/journal.ts';
import { say } from '../wire/say.ts';
import { isPassingFault, type Deliver } from './deliver.ts';
import type { FunctionSpec, Invocation } from './functions.ts';
import { WORKERS_MAX } from './pool.ts';

const THROTTLED_DELAY_MS = 1000;
const DELIVERIES_MAX = 6;
const TIMER_MS_MAX = 2 ** 31 - 1;

interface Row {
  id: string;
  function_name: string;
  payload: Uint8Array;
  received_at_ms: number;
  invoke_count: number;
  /** The on-failure record, once the function has had its last chance. */
  undelivered: string | null;
  delivery_count: number;
}

export interface AsyncInvocationsOptions {
  journal: Journal;
  deliver: Deliver;
  retryDelaysMs: number[];
  find: (functionName: string) => FunctionSpec | undefined;
  invoke: (functionName: string, payload: Buffer, requestId: string) => Promise<Invocation>;
}

/**
 * Invocations nobody waits for. Each is a row in the journal until the function succeeded or its failure was
 * delivered; a process that dies in between leaves the row, and the next one takes it up.
 */
export class AsyncInvocations {
  #options: AsyncInvocationsOptions;
  #journal: Journal;
  #running = new Map<string, { functionName: string; attempt: Promise<void> }>();
  #timer: NodeJS.Timeout | undefined;
  #state: 'new' | 'started' | 'stopped' = 'new';

  constructor(options: AsyncInvocationsOptions) {
    this.#options = options;
    this.#journal = options.journal;
    this.#journal.exec(`
      CREATE TABLE IF NOT EXISTS async_invocation (
        id TEXT PRIMARY KEY, function_name TEXT NOT NULL, payload BLOB NOT NULL, received_at_ms INTEGER NOT NULL,
        due_at_ms INTEGER NOT NULL, invoke_count INTEGER NOT NULL DEFAULT 0,
        undelivered TEXT, delivery_count INTEGER NOT NULL DEFAULT 0
      ) STRICT;
      CREATE INDEX IF NOT EXISTS async_invocation_due ON async_invocation (function_name, due_at_ms);`);
  }

  add(functionName: string, payload: Buffer): void {
    const now = Date.now();
    this.#journal
      .prepare(
        'INSERT INTO async_invocation (id, function_name, payload, received_at_ms, due_at_ms) VALUES (?, ?, ?, ?, ?)',
      )
      .run(randomUUID(), functionName, payload, now, now);
    this.#startDue();
  }

  start(): void {
    this.#state = 'started';
    this.#startDue();
  }

  /** Resolves when nothing runs any more; what was cut short stays in the journal. */
  async stop(): Promise<void> {
    this.#state = 'stopped';
    clearTimeout(this.#timer);
    await Promise.all([...this.#running.values()].map(({ attempt }) => attempt));
  }

  #startDue(): void {
    if (this.#state !== 'started') return;
    const now = Date.now();
    const due = this.#journal
      .prepare('SELECT DISTINCT function_name FROM async_invocation WHERE due_at_ms <= ?')
      .all(now) as unknown as { function_name: string }[];
    for (const { function_name } of due)
      for (const row of this.#takeDue(function_name, now)) this.#begin(row);
    this.#wakeUpForNext(now);
  }

  /** As many as the function has workers, so that a backlog waits on disk and not in memory. */
  #takeDue(functionName: string, now: number): Row[] {
    const rows = this.#journal
      .prepare(
        'SELECT * FROM async_invocation WHERE function_name = ? AND due_at_ms <= ? ORDER BY due_at_ms LIMIT ?',
      )
      .all(functionName, now, 2 * WORKERS_MAX) as unknown as Row[];
    const running = [...this.#running.values()].filter((run) => run.functionName === functionName).length;
    return rows.filter((row) => !this.#running.has(row.id)).slice(0, WORKERS_MAX - running);
  }

  #begin(row: Row): void {
    const attempt = this.#attempt(row).finally(() => {
      this.#running.delete(row.id);
      this.#startDue();
    });
    this.#running.set(row.id, { functionName: row.function_name, attempt });
  }

  #wakeUpForNext(now: number): void {
    clearTimeout(this.#timer);
    const { next } = this.#journal
      .prepare('SELECT MIN(due_at_ms) AS next FROM async_invocation WHERE due_at_ms > ?')
      .get(now) as { next: number | null };
    if (next === null) return;
    this.#timer = setTimeout(() => this.#startDue(), Math.min(next - now, TIMER_MS_MAX)).unref();
  }

  async #attempt(row: Row): Promise<void> {
    const spec = this.#options.find(row.function_name);
    if (!spec) {
      say(
        'functions',
        `${row.function_name} no longer exists: its waiting invocation ${row.id} was dropped.`,
      );
      return this.#forget(row);
    }
    if (row.undelivered !== null) return this.#deliver(row, spec, row.undelivered);
    if (Date.now() - row.received_at_ms > spec.asyncAgeSecondsMax * 1000) {
      return this.#giveUp(row, spec, 'EventAgeExceeded');
    }
    let invocation: Invocation;
    try {
      invocation = await this.#options.invoke(spec.name, Buffer.from(row.payload), row.id);
    } catch (error) {
      // Neither a throttled function nor a stopping engine has seen the event: it costs no attempt.
      if (!(error instanceof AwsError)) throw error;
      return this.#postpone(row, THROTTLED_DELAY_MS);
    }
    if (invocation.ok) return this.#forget(row);
    // Ended with the engine, not by its own fault.
    if (this.#state === 'stopped') return;
    row.invoke_count++;
    if (row.invoke_count > spec.asyncRetriesMax)
      return this.#giveUp(row, spec, 'RetriesExhausted', invocation);
    const { retryDelaysMs } = this.#options;
    this.#postpone(row, retryDelaysMs[row.invoke_count - 1] ?? retryDelaysMs.at(-1) ?? 0);
  }

  async #giveUp(row: Row, spec: FunctionSpec, condition: string, last?: Invocation): Promise<void> {
    if (spec.asyncOnFailureArn === undefined) {
      say(
        'functions',
        `${spec.name} failed invocation ${row.id} for good (${condition}), and has no destination.`,
      );
      return this.#forget(row);
    }
    // On record before it is sent: a restart must deliver it, not run the function once more.
    const record = onFailureRecord(row, spec, condition, last);
    this.#journal
      .prepare('UPDATE async_invocation SET undelivered = ?, invoke_count = ? WHERE id = ?')
      .run(record, row.invoke_count, row.id);
    await this.#deliver(row, spec, record);
  }

  async #deliver(row: Row, spec: FunctionSpec, record: string): Promise<void> {
    try {
      if (spec.asyncOnFailureArn !== undefined) {
        await this.#options.deliver(spec.asyncOnFailureArn, spec.roleArn, record);
      }
      this.#forget(row);
    } catch (error) {
      row.delivery_count++;
      const reason = `${spec.name} could not send invocation ${row.id} to ${spec.asyncOnFailureArn}: ${String(error)}`;
      if (row.delivery_count >= DELIVERIES_MAX || !isPassingFault(error)) {
        say('functions', `${reason}. It is lost.`);
        return this.#forget(row);
      }
      if (row.delivery_count === 1) say('functions', `${reason}. Trying again.`);
      this.#postpone(row, THROTTLED_DELAY_MS * 2 ** row.delivery_count);
    }
  }

  #postpone(row: Row, delayMs: number): void {
    this.#journal
      .prepare('UPDATE async_invocation SET due_at_ms = ?, invoke_count = ?, delivery_count = ? WHERE id = ?')
      .run(Date.now() + delayMs, row.invoke_count, row.delivery_count, row.id);
  }

  #forget(row: Row): void {
    this.#journal.prepare('DELETE FROM async_invocation WHERE id = ?').run(row.id);
  }
}

function onFailureRecord(row: Row, spec: FunctionSpec, condition: string, last?: Invocation): string {
  const answered = last && {
    responseContext: { statusCode: 200, executedVersion: '$LATEST', functionError: 'Unhandled' },
    responsePayload: JSON.parse(last.payload.toString('utf8')) as unknown,
  };
  return JSON.stringify({
    version: '1.0',
    timestamp: new Date().toISOString(),
    requestContext: {
      requestId: row.id,
      functionArn: `${spec.arn}:$LATEST`,
      condition,
      approximateInvokeCount: row.invoke_count,
    },
    requestPayload: parsed(row.payload),
    ...answered,
  });
}

function parsed(payload: Uint8Array): unknown {
  return payload.length === 0 ? {} : (JSON.parse(Buffer.from(payload).toString('utf8')) as unknown);
}
