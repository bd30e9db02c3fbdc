import { type Refusal, refuse } from '../errors.ts';

/**
 * Checks If-Match against the current version. Returns the refusal for the write, which may meet a concurrent change:
 * only a caller who sent If-Match gets `precondition.failed`.
 */
export function requireVersion(
  current: { version: number },
  ifMatch: number | undefined,
): Refusal | undefined {
  if (ifMatch === undefined) return undefined;
  if (ifMatch !== current.version) throw refuse('precondition.failed');
  return refuse('precondition.failed');
}
