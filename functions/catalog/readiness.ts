// A version never outranks its artifacts: what must hold of them before it moves on.

import * as v from 'valibot';
import type { InputFault, Refusal } from '../platform/errors.ts';
import { refuse } from './problems.ts';
import type { ExpectedArtifact, Version } from './version.ts';
import type { Key } from '../platform/data/table.ts';
import { type ArtifactId, textOf } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import { type VersionNumber, versionSortKey } from '../platform/version-number.ts';
import { type Status, STATUSES } from '../promotion/status.ts';
import { hash } from 'node:crypto';

/** A registered artifact, as far as versions ask. */
export const ArtifactState = v.object({
  app_slug: textOf<AppSlug>(),
  lifecycle_state: v.picklist(STATUSES),
  trust_state: v.picklist(['unverified', 'verified', 'revoked']),
});
export type ArtifactState = v.InferOutput<typeof ArtifactState>;

/** The artifact states that allow a version to reach each status. Other statuses need nothing. */
export const SUFFICIENT = {
  staged: ['staged', 'canary', 'active'],
  canary: ['canary', 'active'],
  active: ['active'],
} as const satisfies Partial<Record<Status, readonly Status[]>>;

export type Rank = keyof typeof SUFFICIENT;

/** The id under which an expected artifact is registered; undefined until the manifest names its digest. */
export function boundIdOf(
  { version }: Pick<Version, 'version'>,
  { name, variant, repository, digest }: ExpectedArtifact,
): ArtifactId | undefined {
  if (repository === undefined || digest === undefined) return undefined;
  return artifactIdOf({ repository, app_version: version, artifact_name: name, variant, digest });
}

/** What an artifact lacks, and what to do about it. */
type Shortcoming = Pick<InputFault, 'detail' | 'hint'>;

export function requireBound(version: Pick<Version, 'version' | 'artifacts'>): void {
  const unready = refusalOf(
    version.artifacts.map((artifact) =>
      artifact.digest === undefined ? unbound(version, artifact) : undefined,
    ),
  );
  if (unready) throw unready;
}

type Needing = Pick<Version, 'app_slug' | 'version' | 'artifacts'>;

export function requireReady(version: Needing, found: (ArtifactState | undefined)[], to: Rank): void {
  const unready = findUnready(version, found, to);
  if (unready) throw unready;
}

/** Of the artifacts as they were found, in the order the version lists them. */
export function findUnready(
  version: Needing,
  found: (ArtifactState | undefined)[],
  to: Rank,
): Refusal | undefined {
  return refusalOf(
    version.artifacts.map((artifact, index) => shortcomingOf(version, artifact, found[index], to)),
  );
}

/** One entry for each artifact, pointing into the version. */
function refusalOf(shortcomings: (Shortcoming | undefined)[]): Refusal | undefined {
  const faults = shortcomings.flatMap((each, index) =>
    each ? [{ pointer: `/artifacts/${index}`, ...each }] : [],
  );
  if (faults.length === 0) return undefined;
  const detail = faults.map((fault) => fault.detail).join(' ');
  return refuse('version.artifacts_unready', { detail, faults });
}

function shortcomingOf(
  version: Needing,
  artifact: ExpectedArtifact,
  found: ArtifactState | undefined,
  to: Rank,
): Shortcoming | undefined {
  if (artifact.digest === undefined) return unbound(version, artifact);
  const name = nameArtifact(version, artifact);
  const sufficient: readonly Status[] = SUFFICIENT[to];
  if (!found) return { detail: `${name} is not registered.`, hint: 'Push it there and register it.' };
  if (found.app_slug !== version.app_slug)
    return { detail: `${name} is registered for another app.`, hint: 'Publish it for this app.' };
  if (found.trust_state !== 'verified')
    return {
      detail: `${name} is ${found.trust_state}.`,
      hint: 'Sign it and verify it, or publish another one.',
    };
  if (!sufficient.includes(found.lifecycle_state))
    return { detail: `${name} is ${found.lifecycle_state}, not ${to}.`, hint: 'Promote the artifact first.' };
  return undefined;
}

const unbound = (version: Pick<Version, 'version'>, artifact: ExpectedArtifact): Shortcoming => ({
  detail: `${nameArtifact(version, artifact)} has no digest yet.`,
  hint: 'Push it, and register the manifest again with the digest the registry returned.',
});

/** What it is called, and where it is looked for. */
function nameArtifact(
  { version }: Pick<Version, 'version'>,
  { name, variant, repository, digest }: ExpectedArtifact,
): string {
  const called = variant === undefined ? `“${name}”` : `“${name}” for ${variant}`;
  const image = [repository, digest].filter((part) => part !== undefined).join('@');
  return `The artifact ${called} (${image === '' ? '' : `${image}, `}version ${version})`;
}

/** What an artifact is: these bytes under this name, for this version, in this repository. */
export interface ArtifactIdentity {
  repository: string;
  app_version: VersionNumber;
  artifact_name: string;
  variant?: string;
  digest: string;
}

/**
 * Derived from what it names, so that registering it twice is registering it once, and a version that names the same
 * finds it without looking. A UUID of version 8: RFC 9562 leaves its bits to us.
 */
export function artifactIdOf({
  repository,
  app_version,
  artifact_name,
  variant = '',
  digest,
}: ArtifactIdentity): ArtifactId {
  const name = [repository, versionSortKey(app_version), artifact_name, variant, digest].join('\n');
  const hex = hash('sha256', name).slice(0, 32);
  const clock = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `${clock}${hex.slice(17, 20)}`,
    hex.slice(20),
  ].join('-');
}

export const artifactKey = (id: ArtifactId): Key => ({ pk: `ARTIFACT#${id}`, sk: 'ARTIFACT' });
