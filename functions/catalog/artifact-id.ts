// An artifact as the version that names it knows it: its id, derived from what it is, and where its row stands. Pure.

import { hash } from 'node:crypto';
import type { Key } from '../platform/data/table.ts';
import type { ArtifactId } from '../platform/ids.ts';
import { type VersionNumber, versionSortKey } from '../platform/version-number.ts';

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
