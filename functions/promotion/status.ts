// The statuses that versions and artifacts share, and which may follow which.

import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import { event, type EventKind } from '../platform/events.ts';

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

/** Why a transition is not allowed, in words; undefined if it is allowed. */
export function obstacleTo(noun: string, status: Status, to: Status): string | undefined {
  const following: readonly Status[] = FOLLOWING[status];
  if (following.includes(to)) return undefined;
  return `The ${noun} is ${status}; possible next status: ${following.join(' or ') || 'none'}.`;
}

/** The default grace period of a superseded version. */
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

/** What the event of each status that is reached is called. Back from canary has one of its own. */
export const TRANSITION_EVENTS = {
  staged: 'staged',
  canary: 'canary_began',
  active: 'activated',
  deprecated: 'deprecated',
  retired: 'retired',
  back: 'rolled_back',
} as const;

type Transition = keyof typeof TRANSITION_EVENTS;

/** The events of every transition of one kind, by `apps.version` or `apps.artifact`. */
export function transitionEvents<S extends v.ObjectSchema<v.ObjectEntries, undefined>>(
  noun: string,
  schema: S,
) {
  const kinds = Object.entries(TRANSITION_EVENTS).map(([to, name]) => [
    to,
    event(`${noun}.${name}`, 1, schema),
  ]);
  return Object.fromEntries(kinds) as Record<Transition, EventKind<string, S, [data: v.InferInput<S>]>>;
}

/** Nothing ever becomes a draft. */
export const transitionTo = (from: Status, to: Status): Transition =>
  from === 'canary' && to === 'staged' ? 'back' : (to as Exclude<Status, 'draft'>);
