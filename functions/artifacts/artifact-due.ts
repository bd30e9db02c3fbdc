// When the platform looks at an artifact again by itself, and what it keeps.

import { secondsAfter } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import type { ArtifactId } from '../platform/ids.ts';
import { aboutArtifact, type Artifact, ArtifactTold } from './artifact.ts';

const DAY_SECONDS = 24 * 3600;

/** A draft that is not promoted in this time is removed. */
export const DRAFT_SECONDS_MAX = 30 * DAY_SECONDS;
/** Trust is verified again this often, even if nothing is known to have changed. */
export const VERIFY_EVERY_SECONDS = DAY_SECONDS;
/** An artifact that lost its trust is tried sooner: a policy may be corrected, or a signature attached. */
export const VERIFY_LOST_EVERY_SECONDS = 3600;

/** The row beside an artifact that says when it is due. */
export interface Due extends Pick<Artifact, 'lifecycle_state' | 'trust_state'> {
  artifact_id: ArtifactId;
  due_at: string;
  /** The revision of policies and revocations it was last verified against. */
  trust_revision?: number;
  /** When it was last tried without success. */
  tried_at?: string;
}

/** Nothing where there is nothing left to look after. */
export function dueAt(artifact: Artifact): string | undefined {
  return [forgetAt(artifact), verifyAt(artifact)].filter((at) => at !== undefined).sort()[0];
}

/** What may be due. */
export type DueTask = 'forget' | 'verify';

/** What is to be done about an artifact now; both, if a draft turns out to be in use. */
export function dueTasks(artifact: Artifact, trustRevision: number, now: Date): DueTask[] {
  const isDue = (at: string | undefined): boolean => at !== undefined && new Date(at) <= now;
  const isStale = isWatched(artifact) && (artifact.verification?.trust_revision ?? 0) < trustRevision;
  return [
    ...(isDue(forgetAt(artifact)) ? (['forget'] as const) : []),
    ...(isStale || isDue(verifyAt(artifact)) ? (['verify'] as const) : []),
  ];
}

/**
 * Which of them to take, so many at most: those whose time has come, and those that were judged by what no longer
 * holds. What was tried in vain comes after all others, so that one that cannot be helped keeps none waiting.
 */
export function chooseDue(all: Due[], trustRevision: number, now: Date, most: number): Due[] {
  return all
    .filter(
      (due) => new Date(due.due_at) <= now || (isWatched(due) && (due.trust_revision ?? 0) < trustRevision),
    )
    .sort((a, b) => compare(a.tried_at ?? '', b.tried_at ?? '') || compare(a.due_at, b.due_at))
    .slice(0, most);
}

function forgetAt({ lifecycle_state, trust_state, created_at }: Artifact): string | undefined {
  if (lifecycle_state !== 'draft' || trust_state === 'revoked') return undefined;
  return after(created_at, DRAFT_SECONDS_MAX);
}

function verifyAt(artifact: Artifact): string | undefined {
  if (!isWatched(artifact)) return undefined;
  const { trust_state, verification, updated_at } = artifact;
  const since = verification?.at ?? updated_at;
  if (trust_state !== 'verified') return after(since, VERIFY_LOST_EVERY_SECONDS);
  const again = after(since, VERIFY_EVERY_SECONDS);
  const { valid_until = again } = verification ?? {};
  return valid_until < again ? valid_until : again;
}

/** A draft that was never verified waits for its team; a revoked artifact stays revoked. */
function isWatched({
  lifecycle_state,
  trust_state,
}: Pick<Artifact, 'lifecycle_state' | 'trust_state'>): boolean {
  if (lifecycle_state === 'retired' || trust_state === 'revoked') return false;
  return lifecycle_state !== 'draft' || trust_state === 'verified';
}

const after = (time: string, seconds: number): string => secondsAfter(new Date(time), seconds).toISOString();

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const ArtifactForgotten = event('apps.artifact.forgotten', 1, ArtifactTold, aboutArtifact);
