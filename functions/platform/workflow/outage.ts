import { isDenied, isTransient } from '../aws-errors.ts';
import { Conflict } from '../data/commit.ts';
import { Refusal } from '../errors.ts';

/** A temporary refusal: the same work may succeed in a moment. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return error.kind.retryable;
  return error instanceof Conflict || isTransient(error);
}

/** Nothing is wrong with the work itself: a service it needs is unavailable or busy, or a permission is missing. */
export function isOutage(error: unknown): boolean {
  return isPassing(error) || isDenied(error);
}
