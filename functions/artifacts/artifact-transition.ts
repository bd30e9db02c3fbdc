// Which state of an artifact may follow which, and what each move changes. Rules only; nothing here knows AWS.

import { datesOf, eventOfMove, FOLLOWING } from '../catalog/transition.ts';
import { refuse } from '../platform/errors.ts';
import type { DomainEvent } from '../platform/events.ts';
import { aboutArtifact, type Artifact, type LifecycleState, subjectOfArtifact } from './artifact.ts';
import { requireTrusted } from './artifact-trust.ts';

export type Move =
  { to: 'staged' | 'canary' | 'active' | 'retired' } | { to: 'deprecated'; graceSeconds: number };

/** The artifact after the move, or the refusal of a move that is not drawn. */
export function moveArtifact(artifact: Artifact, move: Move, now: Date): Artifact {
  requireFollowing(artifact, move.to);
  if (isForward(artifact, move.to)) requireTrusted(artifact);
  if (move.to === 'retired') requireGraceOver(artifact, now);
  return { ...artifact, ...datesOf(move, now), lifecycle_state: move.to, updated_at: now.toISOString() };
}

function requireFollowing({ lifecycle_state }: Artifact, to: LifecycleState): void {
  const following: readonly LifecycleState[] = FOLLOWING[lifecycle_state];
  if (following.includes(to)) return;
  const detail = `The artifact is ${lifecycle_state}; from there it can become ${following.join(' or ') || 'nothing else'}.`;
  throw refuse('artifact.wrong_state', { detail });
}

/** Towards being used; what leads away from that is open to what lost its trust too. */
const isForward = ({ lifecycle_state }: Artifact, to: LifecycleState): boolean =>
  to === 'canary' || to === 'active' || (to === 'staged' && lifecycle_state === 'draft');

function requireGraceOver({ retire_after }: Artifact, now: Date): void {
  if (retire_after === undefined || now >= new Date(retire_after)) return;
  throw refuse('artifact.wrong_state', { detail: `Its grace period lasts until ${retire_after}.` });
}

/** As the audit tells a move. */
export function auditMove(before: Artifact, after: Artifact) {
  const { lifecycle_state, retire_after } = after;
  return {
    subject: subjectOfArtifact(after),
    before: { lifecycle_state: before.lifecycle_state },
    after: { lifecycle_state, ...(lifecycle_state === 'deprecated' && { retire_after }) },
  };
}

export function ArtifactMoved(
  before: Artifact,
  after: Artifact,
  more: Record<string, unknown> = {},
): DomainEvent {
  const { lifecycle_state, retire_after } = after;
  return {
    type: eventOfMove('artifact', before.lifecycle_state, lifecycle_state),
    version: 1,
    data: {
      ...aboutArtifact(after),
      previous_state: before.lifecycle_state,
      ...(lifecycle_state === 'deprecated' && { retire_after }),
      ...more,
    },
  };
}
