// A file as an artifact: where it must lie, how large it may be, what a signature of it is about.

import { secondsAfter } from '../platform/clock.ts';
import type { ProjectId } from '../platform/ids.ts';
import type { AppSlug } from '../platform/name.ts';
import type { VersionNumber } from '../platform/version-number.ts';
import { fileUri, objectKeyOf } from '../storage/repository.ts';
import { refuse } from './problems.ts';

/** The descriptor a file is signed under has this type, whatever is in it. */
export const FILE_MEDIA_TYPE = 'application/octet-stream';

/** A file that is not registered in this time is about to be removed. */
export const REGISTER_WITHIN_SECONDS = 6 * 24 * 3600;

/** As much as one upload can carry. */
export const FILE_BYTES_MAX = 5 * 1024 ** 3;

/** As much as is read to compute a digest while somebody waits for the answer. */
const DIGESTED_BYTES_MAX = 512 * 1024 ** 2;

/** Which file is meant: its name, the digest it must have, and where its publisher says it lies. */
export interface FileAsked {
  project_id: ProjectId;
  app_slug: AppSlug;
  app_version: VersionNumber;
  artifact_name: string;
  variant?: string;
  digest: string;
  source_uri?: string;
}

/** The key of the object. There is one place for a file of this name, and it is in its own project. */
export function requireOwnSource(asked: FileAsked): string {
  const key = objectKeyOf(asked);
  if (asked.source_uri !== undefined && asked.source_uri !== fileUri(key)) {
    throw refuse('artifact.foreign_source', { detail: `The source_uri of this file is ${fileUri(key)}.` });
  }
  return key;
}

export function requireFileSize(sizeBytes: number): void {
  if (sizeBytes === 0) throw refuse('artifact.unfit', { detail: 'The file is empty.' });
  if (sizeBytes > FILE_BYTES_MAX)
    throw refuse('artifact.unfit', { detail: `The file is larger than ${FILE_BYTES_MAX} bytes.` });
}

/** A file that was not registered in time may be removed at any moment. */
export function requireRecent(storedAt: Date, now: Date): void {
  if (now < secondsAfter(storedAt, REGISTER_WITHIN_SECONDS)) return;
  throw refuse('artifact.absent', {
    detail: `The file was uploaded at ${storedAt.toISOString()} and not registered in time. Upload it again.`,
  });
}

/** Only where the store knows no digest of the whole. */
export function requireDigestible(sizeBytes: number): void {
  if (sizeBytes <= DIGESTED_BYTES_MAX) return;
  throw refuse('artifact.unfit', {
    detail: `A file larger than ${DIGESTED_BYTES_MAX} bytes must be uploaded with an x-amz-checksum-sha256 header. Name its digest in the publish intent.`,
  });
}

export function requireSameDigest(found: string, asked: string): void {
  if (found !== asked)
    throw refuse('artifact.mismatched', { detail: `The stored file has the digest ${found}.` });
}

const VERSIONS_EACH_MAX = 10;

/**
 * Of all versions ever uploaded next to a file: the newest, because signatures are renewed, and those uploaded closest
 * in time to the file itself. Newest first.
 */
export function chooseVersions<T extends { storedAt: Date }>(versions: T[], fileStoredAt: Date): T[] {
  const distance = ({ storedAt }: T): number => Math.abs(storedAt.getTime() - fileStoredAt.getTime());
  const newestFirst = versions.toSorted((one, other) => other.storedAt.getTime() - one.storedAt.getTime());
  // The store tells time by the second: of several in one, the first came with the file.
  const nearestFirst = newestFirst.toReversed().toSorted((one, other) => distance(one) - distance(other));
  const chosen = new Set([
    ...newestFirst.slice(0, VERSIONS_EACH_MAX),
    ...nearestFirst.slice(0, VERSIONS_EACH_MAX),
  ]);
  return newestFirst.filter((version) => chosen.has(version));
}
