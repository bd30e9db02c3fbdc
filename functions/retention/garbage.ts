// Images and files in the stores that no artifact needs.

import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import { AppSlug } from '../platform/name.ts';
import { REGISTER_WITHIN_SECONDS } from '../content/file.ts';
import { provenanceKeyOf, signatureKeyOf } from '../storage/repository.ts';
import type { StoredFile, StoredImage } from '../storage/stored.ts';

const DAY_SECONDS = 24 * 3600;

/** What came more recently may yet be registered; a day more, so that nobody registers a file at the very moment it goes. */
export const COLLECT_AFTER_SECONDS = REGISTER_WITHIN_SECONDS + DAY_SECONDS;

export interface Pinned {
  key: string;
  version_id: string;
}

/**
 * Images that are needed neither by an artifact nor by an index or image that is kept. Attachments are kept with their
 * image. Indexes come first, because a registry does not delete images that an index refers to.
 */
export function findUnneededImages(
  images: StoredImage[],
  needed: Iterable<string>,
  now: Date,
): StoredImage[] {
  const leadsTo = new Map<string, string[]>();
  const lead = (from: string, to: string): void => {
    const known = leadsTo.get(from);
    if (known) known.push(to);
    else leadsTo.set(from, [to]);
  };
  for (const image of images) {
    for (const member of image.members) lead(image.digest, member);
    for (const subject of subjectsOf(image)) lead(subject, image.digest);
  }
  const staying = new Set(needed);
  for (const image of images) {
    if (!isRecent(image.pushedAt, now)) continue;
    staying.add(image.digest);
    // Somebody has just signed it: they are about to register it.
    for (const subject of subjectsOf(image)) staying.add(subject);
  }
  // A set is iterated in insertion order, including items added meanwhile: this ends when nothing more is added.
  for (const digest of staying) for (const next of leadsTo.get(digest) ?? []) staying.add(next);
  const unneeded = images.filter(({ digest }) => !staying.has(digest));
  return [...unneeded.filter(isIndex), ...unneeded.filter((image) => !isIndex(image))];
}

const isIndex = ({ members }: StoredImage): boolean => members.length > 0;

/** OCI distribution 1.1, "Referrers Tag Schema": where a registry keeps no referrers, a tag names whose they are. */
const REFERRERS_TAG = /^sha256-([0-9a-f]{64})(?![0-9a-f])/;

export function subjectsOf({ subject, tags }: Pick<StoredImage, 'subject' | 'tags'>): string[] {
  const tagged = tags.flatMap((tag) => REFERRERS_TAG.exec(tag)?.[1] ?? []).map((hex) => `sha256:${hex}`);
  return subject === undefined ? tagged : [subject, ...tagged];
}

/** Object versions that are needed neither as an artifact nor as evidence of a file that is kept. */
export function findUnneededFiles(files: StoredFile[], pinned: Pinned[], now: Date): StoredFile[] {
  const recent = files.filter(({ storedAt }) => isRecent(storedAt, now));
  const stayingKeys = [...pinned, ...recent].map(({ key }) => key);
  const beside = new Set(stayingKeys.flatMap((key) => [signatureKeyOf(key), provenanceKeyOf(key)]));
  const exactly = new Set(pinned.map(({ key, version_id }) => nameVersion(key, version_id)));
  return files.filter(
    ({ key, versionId, storedAt }) =>
      !isRecent(storedAt, now) && !beside.has(key) && !exactly.has(nameVersion(key, versionId)),
  );
}

/** As many as one request takes. */
const PART = 100;

export function inParts<T>(all: T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / PART) }, (_, part) =>
    all.slice(part * PART, (part + 1) * PART),
  );
}

const nameVersion = (key: string, versionId: string): string => `${key}\n${versionId}`;

function isRecent(time: Date, now: Date): boolean {
  return now < secondsAfter(time, COLLECT_AFTER_SECONDS);
}

/** How much is removed; the audit log lists the items. */
export const GarbageCollected = event(
  'apps.artifact.collected',
  1,
  v.object({
    app_slug: AppSlug,
    repository: v.string(),
    images: v.number(),
    files: v.number(),
    bytes: v.number(),
  }),
);
