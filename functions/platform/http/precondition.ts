import { type Refusal, refuse } from '../errors.ts';

/**
 * Holds a caller to the version they said they saw. What comes back is the refusal for the moment of writing, when
 * somebody else may have been quicker: only who asked for a version is told that it has passed.
 */
export function requireVersion(
  current: { version: number },
  ifMatch: number | undefined,
): Refusal | undefined {
  if (ifMatch === undefined) return undefined;
  if (ifMatch !== current.version) throw refuse('precondition.failed');
  return refuse('precondition.failed');
}
