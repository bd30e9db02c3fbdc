import type { StatementSync } from 'node:sqlite';
import type { Journal } from '../journal/journal.ts';
import type { Frame } from './frame.ts';

type Status = 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'TIMED_OUT' | 'ABORTED';

export interface Execution {
  arn: string;
  machineArn: string;
  machineName: string;
  roleArn: string;
  /** The definition it started with stays its own when the machine's is replaced. */
  definitionHash: string;
  name: string;
  status: Status;
  /** JSON, as given. */
  input: string;
  output: string | null;
  error: string | null;
  cause: string | null;
  startedMs: number;
  stoppedMs: number | null;
}

export interface ExecutionEnd {
  status: Exclude<Status, 'RUNNING'>;
  stoppedMs: number;
  output?: string;
  error?: string;
  cause?: string;
}

const KEPT_MS_MAX = 90 * 24 * 60 * 60 * 1000;
const KEPT_COUNT_MAX = 10_000;

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS sfn_executions (
    arn TEXT PRIMARY KEY, machineArn TEXT NOT NULL, machineName TEXT NOT NULL, roleArn TEXT NOT NULL,
    definitionHash TEXT NOT NULL, name TEXT NOT NULL, status TEXT NOT NULL, input TEXT NOT NULL,
    output TEXT, error TEXT, cause TEXT, startedMs INTEGER NOT NULL, stoppedMs INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS sfn_executions_by_start ON sfn_executions (machineArn, startedMs DESC, arn DESC);
  CREATE INDEX IF NOT EXISTS sfn_executions_running ON sfn_executions (arn) WHERE status = 'RUNNING';
  CREATE INDEX IF NOT EXISTS sfn_executions_by_stop ON sfn_executions (stoppedMs DESC) WHERE stoppedMs IS NOT NULL;
  CREATE TABLE IF NOT EXISTS sfn_definitions (hash TEXT PRIMARY KEY, definition TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS sfn_frames (
    execution TEXT NOT NULL, path TEXT NOT NULL, frame TEXT NOT NULL, PRIMARY KEY (execution, path)
  ) STRICT;
  CREATE TABLE IF NOT EXISTS sfn_tokens (
    token TEXT PRIMARY KEY, execution TEXT NOT NULL, path TEXT NOT NULL, beatMs INTEGER NOT NULL, answer TEXT
  ) STRICT;
  CREATE INDEX IF NOT EXISTS sfn_tokens_by_execution ON sfn_tokens (execution, path);
  CREATE TABLE IF NOT EXISTS sfn_history (
    execution TEXT NOT NULL, id INTEGER NOT NULL, event TEXT NOT NULL, PRIMARY KEY (execution, id)
  ) STRICT;
`;

/** Executions, frames and definitions in the journal. Tokens and history have files of their own. */
export class Store {
  #journal: Journal;
  #statements = new Map<string, StatementSync>();

  constructor(journal: Journal) {
    this.#journal = journal;
    journal.exec(SCHEMA);
  }

  /** Runs `work` in one transaction. It must not wait for anything: the journal has one connection. */
  atomically<T>(work: () => T): T {
    this.#journal.exec('BEGIN IMMEDIATE');
    try {
      const result = work();
      this.#journal.exec('COMMIT');
      return result;
    } catch (error) {
      this.#journal.exec('ROLLBACK');
      throw error;
    }
  }

  prepare(sql: string): StatementSync {
    const known = this.#statements.get(sql);
    if (known) return known;
    const statement = this.#journal.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  insertExecution(execution: Execution, definition: string): void {
    this.prepare('INSERT OR IGNORE INTO sfn_definitions VALUES (?, ?)').run(
      execution.definitionHash,
      definition,
    );
    this.prepare(
      `INSERT INTO sfn_executions VALUES (:arn, :machineArn, :machineName, :roleArn, :definitionHash, :name,
       :status, :input, :output, :error, :cause, :startedMs, :stoppedMs)`,
    ).run({ ...execution });
  }

  execution(arn: string): Execution | undefined {
    return this.prepare('SELECT * FROM sfn_executions WHERE arn = ?').get(arn) as Execution | undefined;
  }

  runningExecutions(): Execution[] {
    return this.prepare(
      "SELECT * FROM sfn_executions WHERE status = 'RUNNING'",
    ).all() as unknown as Execution[];
  }

  /** Newest first, after the one the last page ended with. */
  listExecutions(query: {
    machineArn: string;
    status: string | undefined;
    after: { startedMs: number; arn: string } | undefined;
    limit: number;
  }): Execution[] {
    return this.prepare(
      `SELECT * FROM sfn_executions
       WHERE machineArn = :machineArn AND (:status IS NULL OR status = :status)
         AND (:startedMs IS NULL OR (startedMs, arn) < (:startedMs, :arn))
       ORDER BY startedMs DESC, arn DESC LIMIT :limit`,
    ).all({
      machineArn: query.machineArn,
      status: query.status ?? null,
      startedMs: query.after?.startedMs ?? null,
      arn: query.after?.arn ?? null,
      limit: query.limit,
    }) as unknown as Execution[];
  }

  endExecution(arn: string, end: ExecutionEnd): void {
    this.prepare(
      'UPDATE sfn_executions SET status = ?, stoppedMs = ?, output = ?, error = ?, cause = ? WHERE arn = ?',
    ).run(end.status, end.stoppedMs, end.output ?? null, end.error ?? null, end.cause ?? null, arn);
    this.prepare('DELETE FROM sfn_frames WHERE execution = ?').run(arn);
    this.prepare('DELETE FROM sfn_tokens WHERE execution = ?').run(arn);
  }

  definition(hash: string): string {
    const row = this.prepare('SELECT definition FROM sfn_definitions WHERE hash = ?').get(hash);
    if (!row) throw new Error(`The journal has an execution without its definition ${hash}.`);
    return String(row['definition']);
  }

  frame(execution: string, path: string): Frame | undefined {
    const row = this.prepare('SELECT frame FROM sfn_frames WHERE execution = ? AND path = ?').get(
      execution,
      path,
    );
    return row && (JSON.parse(String(row['frame'])) as Frame);
  }

  saveFrame(execution: string, frame: Frame): void {
    this.prepare('INSERT OR REPLACE INTO sfn_frames VALUES (?, ?, ?)').run(
      execution,
      frame.path,
      JSON.stringify(frame),
    );
  }

  deleteChildren(execution: string, parent: Frame): void {
    const below = `${parent.path}/`;
    for (const table of ['sfn_frames', 'sfn_tokens']) {
      this.prepare(`DELETE FROM ${table} WHERE execution = ? AND substr(path, 1, ?) = ?`).run(
        execution,
        below.length,
        below,
      );
    }
  }

  /** Ended executions are kept as long as on AWS, and no more of them than a small machine bears. */
  forgetOldExecutions(nowMs: number): void {
    this.atomically(() => {
      const old = this.prepare(
        `SELECT arn FROM sfn_executions WHERE stoppedMs < ?
         UNION SELECT arn FROM (SELECT arn FROM sfn_executions WHERE stoppedMs IS NOT NULL
                                ORDER BY stoppedMs DESC LIMIT -1 OFFSET ?)`,
      ).all(nowMs - KEPT_MS_MAX, KEPT_COUNT_MAX);
      for (const { arn } of old as { arn: string }[]) {
        this.prepare('DELETE FROM sfn_history WHERE execution = ?').run(arn);
        this.prepare('DELETE FROM sfn_executions WHERE arn = ?').run(arn);
      }
      this.prepare(
        'DELETE FROM sfn_definitions WHERE hash NOT IN (SELECT definitionHash FROM sfn_executions)',
      ).run();
    });
  }
}
