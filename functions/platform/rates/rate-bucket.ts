// One caller's bucket, as the generic cell rate algorithm keeps it: a single number, the time at which the bucket
// would be full again. Every call moves it one interval further; a call that would move it beyond the window is one
// too many.

/** So many calls at once; each comes back after an interval of its own, whole milliseconds so that none is lost. */
export interface Limit {
  quota: number;
  intervalMs: number;
}

export interface BucketLevel {
  /** How long to wait until a call passes; nothing when this one does. */
  waitMs: number;
  /** When the bucket is full again: after this call, or without it when it does not pass. */
  fullAtMs: number;
  /** How many calls may follow this one at once. */
  remaining: number;
}

/** How long an empty bucket takes to fill. */
export const windowMsOf = ({ quota, intervalMs }: Limit): number => quota * intervalMs;

/** How a call made now would stand. Spending is the caller's: several limits may have to agree first. */
export function standingOf(limit: Limit, fullAtMs: number | undefined, nowMs: number): BucketLevel {
  const windowMs = windowMsOf(limit);
  // Never further off than one window: a clock that was set back must not lock anybody out.
  const owedMs = Math.min(Math.max((fullAtMs ?? 0) - nowMs, 0), windowMs);
  const spentMs = owedMs + limit.intervalMs;
  if (spentMs > windowMs) return { waitMs: spentMs - windowMs, fullAtMs: nowMs + owedMs, remaining: 0 };
  return {
    waitMs: 0,
    fullAtMs: nowMs + spentMs,
    remaining: Math.floor((windowMs - spentMs) / limit.intervalMs),
  };
}
