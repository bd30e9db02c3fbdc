// A version never outranks its artifacts: what must hold of them before it moves on.

import * as v from 'valibot';
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

export function requireBound({ artifacts }: Pick<Version, 'artifacts'>): void {
  const unbound = artifacts.filter(({ digest }) => digest === undefined);
  refuseUnready(unbound.map((artifact) => `${nameArtifact(artifact)} has no digest yet.`));
}

/** Of the artifacts as they were found, in the order the version lists them. */
export function requireReady(
  { app_slug, artifacts }: Pick<Version, 'app_slug' | 'artifacts'>,
  found: (ArtifactState | undefined)[],
  to: Rank,
): void {
  refuseUnready(
    artifacts.flatMap((artifact, index) => shortcomingOf(app_slug, artifact, found[index], to) ?? []),
  );
}

function refuseUnready(shortcomings: string[]): void {
  if (shortcomings.length > 0) throw refuse('version.artifacts_unready', { detail: shortcomings.join(' ') });
}

function shortcomingOf(
  slug: AppSlug,
  artifact: ExpectedArtifact,
  found: ArtifactState | undefined,
  to: Rank,
): string | undefined {
  const name = nameArtifact(artifact);
  if (artifact.digest === undefined) return `${name} has no digest yet.`;
  if (!found) return `${name} is not registered.`;
  if (found.app_slug !== slug) return `${name} is registered for another app.`;
  if (found.trust_state !== 'verified') return `${name} is ${found.trust_state}.`;
  const sufficient: readonly Status[] = SUFFICIENT[to];
  if (!sufficient.includes(found.lifecycle_state)) return `${name} is ${found.lifecycle_state}, not ${to}.`;
  return undefined;
}

/** The message of a failed write condition, which does not tell what exactly is missing. */
export function describeUnready(artifact: ExpectedArtifact, to: Rank): string {
  return `${nameArtifact(artifact)} must be registered with its digest, verified, and at least ${to}.`;
}

function nameArtifact({ name, variant }: ExpectedArtifact): string {
  return variant === undefined ? `The artifact “${name}”` : `The artifact “${name}” for ${variant}`;
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
