import type { Catcher, Retrier } from './asl.ts';

/** What a Failure leaves in the history when it is recorded: `TaskFailed`, `TaskTimedOut`, … */
export interface FailureEvent {
  type: string;
  details?: Record<string, unknown>;
}

/** A state failed, with the name and cause that Retry, Catch and DescribeExecution see. */
export class Failure extends Error {
  error: string | undefined;
  causeText: string | undefined;
  event: FailureEvent | undefined;
  /** The cause already says where it happened, or it happened nowhere in particular. */
  isLocated = false;
  constructor(error: string | undefined, causeText?: string, event?: FailureEvent) {
    super(`${error ?? 'failed'}: ${causeText ?? ''}`);
    this.name = 'Failure';
    this.error = error;
    this.causeText = causeText;
    this.event = event;
  }
}

const TIMEOUTS = new Set<string | undefined>(['States.Timeout', 'States.HeartbeatTimeout']);

/** https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html#error-handling-error-representation */
function matches(errorEquals: string[], error: string | undefined): boolean {
  if (error === 'States.Runtime') return false;
  return errorEquals.some((wanted) => {
    if (wanted === error) return true;
    if (error === 'States.DataLimitExceeded') return false;
    if (wanted === 'States.ALL') return true;
    if (wanted === 'States.TaskFailed') return !TIMEOUTS.has(error);
    // A missed heartbeat is a kind of timeout; definitions older than its own name still catch it.
    return wanted === 'States.Timeout' && error === 'States.HeartbeatTimeout';
  });
}

export function findCatcher(catchers: Catcher[] | undefined, failure: Failure): Catcher | undefined {
  return catchers?.find((catcher) => matches(catcher.ErrorEquals, failure.error));
}

/** How long to pause before the next attempt, and the retries used then; nothing when they are used up. */
export function planRetry(
  retriers: Retrier[] | undefined,
  used: number[],
  failure: Failure,
): { pauseMs: number; used: number[] } | undefined {
  const index = retriers?.findIndex((retrier) => matches(retrier.ErrorEquals, failure.error)) ?? -1;
  const retrier = retriers?.[index];
  if (!retrier) return undefined;
  const usedHere = used[index] ?? 0;
  if (usedHere >= (retrier.MaxAttempts ?? 3)) return undefined;
  const backoffSeconds = (retrier.IntervalSeconds ?? 1) * (retrier.BackoffRate ?? 2) ** usedHere;
  const pauseMs = Math.min(backoffSeconds, retrier.MaxDelaySeconds ?? Infinity) * 1000;
  return {
    pauseMs: retrier.JitterStrategy === 'FULL' ? Math.random() * pauseMs : pauseMs,
    used: Array.from(
      { length: Math.max(used.length, index + 1) },
      (_, i) => (used[i] ?? 0) + (i === index ? 1 : 0),
    ),
  };
}
