// Who gets a version while it is in canary.

import type { AppSlug } from '../platform/name.ts';
import type { ProjectId } from '../platform/ids.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import type { CanaryAudience } from './app.ts';

/** The projects named get it, and of all others the share asked for: the same ones each time. */
export function isInCanary(
  { percent, project_ids }: CanaryAudience,
  slug: AppSlug,
  version: VersionNumber,
  projectId: ProjectId,
): boolean {
  return project_ids.includes(projectId) || drawOf(slug, version, projectId) < percent;
}

const HASHES = 2 ** 32;

/**
 * A number from 0 up to 100 that a project draws once for a version and keeps: raising the percentage only ever adds
 * projects. Another version is another draw, so that it is not always the same projects that go first.
 */
function drawOf(slug: AppSlug, version: VersionNumber, projectId: ProjectId): number {
  return (hashOf(`${slug}\n${version}\n${projectId}`) / HASHES) * 100;
}

/** FNV-1a, which ids that differ in their last digits leave close together; murmur3's finish parts them. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
