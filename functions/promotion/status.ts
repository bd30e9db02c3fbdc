// The statuses that versions and artifacts share, and which may follow which. Rules only; nothing here knows AWS.

import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import type { DomainEvent } from '../platform/events.ts';

/** `draft → staged → canary → active → deprecated → retired`, and back from canary to staged. */
export const STATUSES = ['draft', 'staged', 'canary', 'active', 'deprecated', 'retired'] as const;
export type Status = (typeof STATUSES)[number];

/** Every transition there is. Nothing else ever happens to a status. */
export const FOLLOWING = {
  draft: ['staged'],
  staged: ['canary'],
  canary: ['active', 'staged'],
  active: ['deprecated'],
  deprecated: ['retired'],
  retired: [],
} as const satisfies Record<Status, readonly Status[]>;

/** Why a transition is not drawn, in words; nothing where it is. */
export function obstacleTo(noun: string, status: Status, to: Status): string | undefined {
  const following: readonly Status[] = FOLLOWING[status];
  if (following.includes(to)) return undefined;
  return `The ${noun} is ${status}; possible next status: ${following.join(' or ') || 'none'}.`;
}

/** How long what was superseded is kept for those who still use it, when nobody says otherwise. */
export const GRACE_SECONDS_DEFAULT = 7 * 24 * 3600;
export const GRACE_SECONDS_MAX = 14 * 24 * 3600;
export const GraceSeconds = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(GRACE_SECONDS_MAX));

interface Dates {
  activated_at?: string;
  deprecated_at?: string;
  retire_after?: string;
  retired_at?: string;
}

/** The dates a transition sets. */
export function datesOf({ to, graceSeconds = 0 }: { to: Status; graceSeconds?: number }, now: Date): Dates {
  const at = now.toISOString();
  switch (to) {
    case 'active':
      return { activated_at: at };
    case 'deprecated':
      return { deprecated_at: at, retire_after: secondsAfter(now, graceSeconds).toISOString() };
    case 'retired':
      return { retired_at: at };
    default:
      return {};
  }
}

type Reached = Exclude<Status, 'draft'>;

/** The event for each status that is reached. Back from canary has one of its own. */
export type TransitionEvents<T> = Record<Reached | 'back', (data: T) => DomainEvent>;

export function transitionEvent<T>(events: TransitionEvents<T>, from: Status, to: Status) {
  const isBack = from === 'canary' && to === 'staged';
  return events[isBack ? 'back' : (to as Reached)];
}
