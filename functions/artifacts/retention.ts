// When the platform looks at an artifact again by itself, and what it keeps. Rules only; nothing here knows AWS.

import { secondsAfter } from '../platform/clock.ts';
import type { Artifact } from './artifact.ts';

const DAY_SECONDS = 24 * 3600;

/** A draft nobody took further is forgotten. */
export const DRAFT_SECONDS_MAX = 30 * DAY_SECONDS;
/** Trust is looked at again this often, even where nothing is known to have changed. */
const VERIFY_EVERY_SECONDS = DAY_SECONDS;
/** What lost its trust may get it back: a policy is mended, a signature attached. */
const VERIFY_LOST_EVERY_SECONDS = 3600;

/** Nothing where there is nothing left to look after. */
export function dueAt(artifact: Artifact): string | undefined {
  const { lifecycle_state, trust_state, verification, created_at, updated_at } = artifact;
  if (lifecycle_state === 'retired' || trust_state === 'revoked') return undefined;
  if (lifecycle_state === 'draft') return after(created_at, DRAFT_SECONDS_MAX);
  const since = verification?.at ?? updated_at;
  if (trust_state !== 'verified') return after(since, VERIFY_LOST_EVERY_SECONDS);
  const again = after(since, VERIFY_EVERY_SECONDS);
  const { valid_until = again } = verification ?? {};
  return valid_until < again ? valid_until : again;
}

const after = (time: string, seconds: number): string => secondsAfter(new Date(time), seconds).toISOString();
