// Which status of a version may follow which, and what each move changes. Rules only; nothing here knows AWS.

import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import { type DomainEvent, event } from '../platform/events.ts';
import { Slug, Time } from '../platform/name.ts';
import {
  activeVersion,
  type App,
  type CanaryAudience,
  VERSION_STATUSES,
  type VersionEntry,
  type VersionStatus,
} from './app.ts';
import { subjectOfVersion, type Version } from './version.ts';
import { VersionNumber } from '../platform/version-number.ts';
import { refuse } from './problems.ts';

/** Every move there is. Nothing else ever happens to a status. */
export const FOLLOWING = {
  draft: ['staged'],
  staged: ['canary'],
  canary: ['active', 'staged'],
  active: ['deprecated'],
  deprecated: ['retired'],
  retired: [],
} as const satisfies Record<VersionStatus, readonly VersionStatus[]>;

/** How long a version that was superseded is kept for those who still use it, when nobody says otherwise. */
export const GRACE_SECONDS_DEFAULT = 7 * 24 * 3600;
export const GRACE_SECONDS_MAX = 14 * 24 * 3600;
export const GraceSeconds = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(GRACE_SECONDS_MAX));

export type Move =
  | { to: 'staged' }
  | { to: 'canary'; audience: CanaryAudience }
  /** The version that was active until now goes with it: there is never more than one. */
  | { to: 'active'; supersedes?: Version }
  | { to: 'deprecated'; graceSeconds: number }
  | { to: 'retired' };

/** An app and one of its versions, as they are or as they will be. */
export interface Release {
  app: App;
  version: Version;
}

export interface Moved extends Release {
  superseded?: { before: Version; after: Version };
}

/** The app and the version after the move, or the refusal of a move that is not drawn. */
export function moveVersion({ app, version }: Release, move: Move, now: Date): Moved {
  requireFollowing(version, move.to);
  if (move.to === 'retired') requireRetirable(version, now);
  const at = now.toISOString();
  const after: Version = { ...version, ...datesOf(move, now), status: move.to, updated_at: at };
  const superseded = move.to === 'active' ? supersede(app, move.supersedes, now) : undefined;
  const versions = { ...app.versions };
  if (superseded) enter(versions, superseded.after, {});
  enter(versions, after, move.to === 'canary' ? { canary: move.audience } : {});
  return {
    app: { ...app, versions, revision: app.revision + 1, updated_at: at },
    version: after,
    ...(superseded && { superseded }),
  };
}

function requireFollowing({ status }: Version, to: VersionStatus): void {
  const following: readonly VersionStatus[] = FOLLOWING[status];
  if (following.includes(to)) return;
  const detail = `The version is ${status}; from there it can become ${following.join(' or ') || 'nothing else'}.`;
  throw refuse('version.wrong_status', { detail });
}

/** Nobody may lose what they run: a version goes only after its grace period and its last instance. */
function requireRetirable({ instance_count, retire_after }: Version, now: Date): void {
  requireUnused({ instance_count });
  if (retire_after !== undefined && now < new Date(retire_after)) {
    throw refuse('version.wrong_status', { detail: `Its grace period lasts until ${retire_after}.` });
  }
}

export function requireUnused({ instance_count }: Pick<Version, 'instance_count'>): void {
  if (instance_count === 0) return;
  const detail = instance_count === 1 ? 'One instance uses it.' : `${instance_count} instances use it.`;
  throw refuse('version.in_use', { detail });
}

function supersede(app: App, before: Version | undefined, now: Date): Moved['superseded'] {
  if (activeVersion(app) !== before?.version)
    throw new Error(`${app.slug} has another active version than was read.`);
  if (!before) return undefined;
  requireFollowing(before, 'deprecated');
  const dates = datesOf({ to: 'deprecated', graceSeconds: GRACE_SECONDS_DEFAULT }, now);
  return { before, after: { ...before, ...dates, status: 'deprecated', updated_at: now.toISOString() } };
}

type Dates = Pick<Version, 'activated_at' | 'deprecated_at' | 'retire_after' | 'retired_at'>;

/** When what happened, of a version or an artifact. */
export function datesOf(
  { to, graceSeconds = 0 }: { to: VersionStatus; graceSeconds?: number },
  now: Date,
): Dates {
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

// A retired version leaves the app's row: it is told by its own.
function enter(
  versions: App['versions'],
  { version, status, internal }: Version,
  more: Partial<VersionEntry>,
): void {
  if (status === 'retired') delete versions[version];
  else versions[version] = { status, internal, ...more };
}

/** As the audit tells a move. */
export function auditMove(before: Version, after: Version) {
  const { status, retire_after } = after;
  return {
    subject: subjectOfVersion(after.app_slug, after.version),
    before: { status: before.status },
    after: { status, ...(status === 'deprecated' && { retire_after }) },
  };
}

const Told = v.object({
  app_slug: Slug,
  app_version: VersionNumber,
  status: v.picklist(VERSION_STATUSES),
  previous_status: v.picklist(VERSION_STATUSES),
  /** When the grace period of a deprecated one ends. */
  retire_after: v.optional(Time),
  /** The version that took its place. */
  superseded_by: v.optional(VersionNumber),
  /** Where it was decided by itself, and not as part of a promotion. */
  reason: v.optional(v.string()),
});
type Told = v.InferOutput<typeof Told>;

export const VersionStaged = event('apps.version.staged', 1, Told);
export const VersionCanaryBegan = event('apps.version.canary_began', 1, Told);
export const VersionActivated = event('apps.version.activated', 1, Told);
export const VersionDeprecated = event('apps.version.deprecated', 1, Told);
export const VersionRetired = event('apps.version.retired', 1, Told);
export const VersionRolledBack = event('apps.version.rolled_back', 1, Told);

type Reached = Exclude<VersionStatus, 'draft'>;

/** The kind of event for each status that is reached. Back from canary is told as that. */
export type KindsOfMoves<T> = Record<Reached | 'back', (told: T) => DomainEvent>;

const KINDS: KindsOfMoves<Told> = {
  staged: VersionStaged,
  canary: VersionCanaryBegan,
  active: VersionActivated,
  deprecated: VersionDeprecated,
  retired: VersionRetired,
  back: VersionRolledBack,
};

/** What a move of a version or an artifact is told as. */
export function kindOfMove<T>(kinds: KindsOfMoves<T>, from: VersionStatus, to: VersionStatus) {
  const isBack = from === 'canary' && to === 'staged';
  return kinds[isBack ? 'back' : (to as Reached)];
}

export function VersionMoved(
  before: Version,
  after: Version,
  more: Pick<Told, 'superseded_by' | 'reason'> = {},
): DomainEvent {
  const { app_slug, version, status, retire_after } = after;
  const moved = kindOfMove(KINDS, before.status, status);
  return moved({
    app_slug,
    app_version: version,
    status,
    previous_status: before.status,
    ...(status === 'deprecated' && { retire_after }),
    ...more,
  });
}
