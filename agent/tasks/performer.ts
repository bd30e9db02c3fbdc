// What it takes to carry out tasks of one kind, and what those who do it are given.

import type { TrustDocument, WorkloadStatus } from '../../functions/tasks/agent-api.ts';
import type { Task, TaskFailure, TaskKind, TaskResult } from '../../functions/tasks/task.ts';

/** One line of JSON; values that may be secret never get here. */
export type Log = (
  level: 'info' | 'warn' | 'error',
  message: string,
  about?: Record<string, unknown>,
) => void;

export interface TaskContext<K extends TaskKind = TaskKind> {
  task: Task<K>;
  /** Aborted when the deadline has passed or the agent stops; what was begun is then left for the next run to finish. */
  signal: AbortSignal;
  /**
   * Written to the journal before the effect it names. After a crash the task is performed again from the start, so every
   * step must find out whether its effect is there already. Long work is also reported as progress by its last step.
   */
  step: (name: string, about?: Record<string, string | number | boolean>) => void;
  /** Written to the journal together with the outcome, if the task succeeds: both are there afterwards, or neither. */
  withOutcome: (write: () => void) => void;
  now(): Date;
  log: Log;
}

export type Performer<K extends TaskKind = TaskKind> = (ctx: TaskContext<K>) => Promise<TaskResult>;
export type Performers = { [K in TaskKind]: Performer<K> };

/** The task was not done, for a reason of the closed list; what was begun is undone unless it is `left_behind`. */
export class TaskFailed extends Error {
  readonly code: TaskFailure;
  readonly result: TaskResult | undefined;

  constructor(code: TaskFailure, detail: string, result?: TaskResult) {
    super(detail);
    this.name = code;
    this.code = code;
    this.result = result;
  }
}

/** What performers need of the platform, over the node's own channel. */
export interface PlatformChannel {
  /** For `docker pull`; kept until shortly before it expires. */
  pullCredentials(
    repositories: string[],
  ): Promise<{ registry_host: string; username: string; password: string }>;
  /**
   * Verified with the host key; at least of this revision. A change that is not known here yet is fetched, and so is that
   * one of these images was assigned since; it may still be missing then.
   */
  trust(revision: number, images?: { repository: string; digest: string }[]): Promise<TrustDocument>;
  /** The value behind a one-time handle. `fetchId` must be kept in the journal first. */
  secret(handle: string, fetchId: string): Promise<Uint8Array>;
  /** A compact JWS (ES256, `kid` is the node's id) by the node's key. */
  sign(payload: object): Promise<string>;
  /** Kept and sent again until it arrives; a later one of the same workload replaces an earlier one. */
  tellWorkload(workloadId: string, status: WorkloadStatus): void;
}

/** What the agent remembers of a workload: the spec it was asked for, by which fence, and whether it is to be there. */
export interface WorkloadRecord {
  workload_id: string;
  fence: number;
  desired: 'present' | 'stopped' | 'absent';
  kind: 'oci' | 'compose';
  /** The payload of the launch, as JSON. It holds handles, which are spent, and no secret. */
  payload: string;
}

/** The part of the journal that performers use. Every call is durable when it returns. */
export interface WorkloadJournal {
  putWorkload(record: WorkloadRecord): void;
  getWorkload(workloadId: string): WorkloadRecord | undefined;
  listWorkloads(): WorkloadRecord[];
  /** Only after the receipt was written. */
  forgetWorkload(workloadId: string): void;
  /** The id under which a handle is fetched: the same again after a crash. */
  fetchIdOf(handle: string): string;
}
