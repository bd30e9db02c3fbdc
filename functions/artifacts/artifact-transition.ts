// Which state of an artifact may follow which, and what each move changes.

import * as v from 'valibot';
import { datesOf, obstacleTo, transitionEvents, transitionTo } from '../promotion/status.ts';
import type { DomainEvent } from '../platform/events.ts';
import { Time } from '../platform/name.ts';
import {
  aboutArtifact,
  type Artifact,
  ArtifactTold,
  LIFECYCLE_STATES,
  type LifecycleState,
  subjectOfArtifact,
} from './artifact.ts';
import { requireTrusted } from './artifact-trust.ts';
import { refuse } from './problems.ts';

/** A transition of an artifact, with what it needs besides. */
export type ArtifactMove =
  { to: 'staged' | 'canary' | 'active' | 'retired' } | { to: 'deprecated'; graceSeconds: number };

/** The artifact after the move, or a refusal if the lifecycle does not allow it. */
export function moveArtifact(artifact: Artifact, move: ArtifactMove, now: Date): Artifact {
  requireFollowing(artifact, move.to);
  if (isForward(artifact, move.to)) requireTrusted(artifact);
  if (move.to === 'retired') requireGraceOver(artifact, now);
  return { ...artifact, ...datesOf(move, now), lifecycle_state: move.to, updated_at: now.toISOString() };
}

function requireFollowing({ lifecycle_state }: Artifact, to: LifecycleState): void {
  const detail = obstacleTo('artifact', lifecycle_state, to);
  if (detail) throw refuse('artifact.wrong_state', { detail });
}

/** Moves towards use need trust; moves away from it are open to an untrusted artifact too. */
const isForward = ({ lifecycle_state }: Artifact, to: LifecycleState): boolean =>
  to === 'canary' || to === 'active' || (to === 'staged' && lifecycle_state === 'draft');

function requireGraceOver({ retire_after }: Artifact, now: Date): void {
  if (retire_after === undefined || now >= new Date(retire_after)) return;
  throw refuse('artifact.wrong_state', { detail: `The grace period lasts until ${retire_after}.` });
}

/** As the audit tells a move. */
export function auditArtifactMove(before: Artifact, after: Artifact) {
  const { lifecycle_state, retire_after } = after;
  return {
    subject: subjectOfArtifact(after),
    before: { lifecycle_state: before.lifecycle_state },
    after: { lifecycle_state, ...(lifecycle_state === 'deprecated' && { retire_after }) },
  };
}

const Data = v.object({
  ...ArtifactTold.entries,
  previous_state: v.picklist(LIFECYCLE_STATES),
  /** When the grace period of a deprecated one ends. */
  retire_after: v.optional(Time),
  /** Where it was decided by itself, and not as part of a promotion. */
  reason: v.optional(v.string()),
});
type Data = v.InferOutput<typeof Data>;

export const artifactTransitions = transitionEvents('apps.artifact', Data);

export function ArtifactMoved(
  before: Artifact,
  after: Artifact,
  more: Pick<Data, 'reason'> = {},
): DomainEvent {
  const { lifecycle_state, retire_after } = after;
  const moved = artifactTransitions[transitionTo(before.lifecycle_state, lifecycle_state)];
  return moved({
    ...aboutArtifact(after),
    previous_state: before.lifecycle_state,
    ...(lifecycle_state === 'deprecated' && { retire_after }),
    ...more,
  });
}
