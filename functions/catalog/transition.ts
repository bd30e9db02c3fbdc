// Which status of a version may follow which, and what each move changes.

import * as v from 'valibot';
import type { Promotion } from '../promotion/promotion.ts';
import {
  datesOf,
  GRACE_SECONDS_DEFAULT,
  obstacleTo,
  type Status,
  STATUSES,
  transitionEvents,
  transitionTo,
} from '../promotion/status.ts';
import type { DomainEvent } from '../platform/events.ts';
import { AppSlug, Time } from '../platform/name.ts';
import { activeVersion, type App, type CanaryAudience, faceAfter, type VersionEntry } from './app.ts';
import { subjectOfVersion, type Version } from './version.ts';
import { VersionNumber } from '../platform/version-number.ts';
import { refuse } from './problems.ts';

/** A transition of a version, with what it needs besides. */
export type VersionMove =
  | { to: 'staged' }
  | { to: 'canary'; audience: CanaryAudience }
  /** The version that was active until now, which is deprecated: at most one version is active. */
  | { to: 'active'; supersedes?: Version; graceSeconds?: number }
  | { to: 'deprecated'; graceSeconds: number }
  | { to: 'retired' };

/** A version with its app, and how it was last promoted. */
export interface Release {
  app: App;
  version: Version;
  promotion?: Promotion;
  /** How many instances use it. */
  instance_count: number;
}

export interface Moved extends Pick<Release, 'app' | 'version'> {
  superseded?: { before: Version; after: Version };
}

/** The app and the version after the move, or a refusal if the status does not allow it. */
export function moveVersion({ app, version, instance_count }: Release, move: VersionMove, now: Date): Moved {
  requireFollowing(version, move.to);
  if (move.to === 'retired') requireRetirable(version, instance_count, now);
  const at = now.toISOString();
  const after: Version = { ...version, ...datesOf(move, now), status: move.to, updated_at: at };
  const superseded = move.to === 'active' ? supersede(app, move, now) : undefined;
  const versions = { ...app.versions };
  if (superseded) enter(versions, superseded.after, {});
  enter(versions, after, move.to === 'canary' ? { canary: move.audience } : {});
  return {
    app: {
      ...app,
      ...(version.status === 'draft' && faceAfter(app, version)),
      versions,
      revision: app.revision + 1,
      updated_at: at,
    },
    version: after,
    ...(superseded && { superseded }),
  };
}

function requireFollowing({ status }: Version, to: Status): void {
  const detail = obstacleTo('version', status, to);
  if (detail) throw refuse('version.wrong_status', { detail });
}

/** A version is retired only after its grace period and its last instance, so that nobody loses what they run. */
function requireRetirable({ retire_after }: Version, instances: number, now: Date): void {
  requireUnused(instances);
  if (retire_after !== undefined && now < new Date(retire_after)) {
    throw refuse('version.wrong_status', { detail: `The grace period lasts until ${retire_after}.` });
  }
}

export function requireUnused(instances: number): void {
  if (instances === 0) return;
  const detail =
    instances === 1 ? 'One instance uses the version.' : `${instances} instances use the version.`;
  throw refuse('version.in_use', { detail });
}

function supersede(
  app: App,
  { supersedes: before, graceSeconds = GRACE_SECONDS_DEFAULT }: Extract<VersionMove, { to: 'active' }>,
  now: Date,
): Moved['superseded'] {
  if (activeVersion(app) !== before?.version)
    throw new Error(`The active version of ${app.slug} is not the one that was read.`);
  if (!before) return undefined;
  requireFollowing(before, 'deprecated');
  const dates = datesOf({ to: 'deprecated', graceSeconds }, now);
  return { before, after: { ...before, ...dates, status: 'deprecated', updated_at: now.toISOString() } };
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
export function auditVersionMove(before: Version, after: Version) {
  const { status, retire_after } = after;
  return {
    subject: subjectOfVersion(after.app_slug, after.version),
    before: { status: before.status },
    after: { status, ...(status === 'deprecated' && { retire_after }) },
  };
}

const Data = v.object({
  app_slug: AppSlug,
  app_version: VersionNumber,
  status: v.picklist(STATUSES),
  previous_status: v.picklist(STATUSES),
  /** When the grace period of a deprecated one ends. */
  retire_after: v.optional(Time),
  /** The version that took its place. */
  superseded_by: v.optional(VersionNumber),
  /** Where it was decided by itself, and not as part of a promotion. */
  reason: v.optional(v.string()),
});
type Data = v.InferOutput<typeof Data>;

export const versionTransitions = transitionEvents('apps.version', Data);

export function VersionMoved(
  before: Version,
  after: Version,
  more: Pick<Data, 'superseded_by' | 'reason'> = {},
): DomainEvent {
  const { app_slug, version, status, retire_after } = after;
  const moved = versionTransitions[transitionTo(before.status, status)];
  return moved({
    app_slug,
    app_version: version,
    status,
    previous_status: before.status,
    ...(status === 'deprecated' && { retire_after }),
    ...more,
  });
}
