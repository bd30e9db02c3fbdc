import { isDenied, isTransient } from '../aws-errors.ts';
import { Conflict } from '../data/commit.ts';
import { Refusal } from '../errors.ts';

/** A no for now: the same work may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return error.kind.retryable;
  return error instanceof Conflict || isTransient(error);
}

/** Nothing is wrong with the work itself: what it needs is away, busy, or not ours until a grant is put right. */
export function isOutage(error: unknown): boolean {
  return isPassing(error) || isDenied(error);
}
