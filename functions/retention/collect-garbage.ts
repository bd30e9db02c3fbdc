import type { Actor } from '../platform/actor.ts';
import { commitDecision } from '../platform/data/change.ts';
import { secondsAfter } from '../platform/clock.ts';
import type { Context } from '../platform/context.ts';
import { findGarbage } from './find-garbage.ts';
import { GarbageCollected, inParts } from './garbage.ts';
import type { StoredFile, StoredImage } from '../storage/stored.ts';
import { registeredAfterAll } from './garbage-store.ts';
import { deleteVersion } from '../storage/object-store.ts';
import { removeImages } from '../storage/repository-images.ts';
import { claimRepository, releaseRepository, type Repository } from '../storage/keep-repository.ts';

const SWEEP: Actor = { kind: 'platform', id: 'artifact-sweep' };

/** How long an interrupted sweep may block a repository. */
const CLAIM_SECONDS = 10 * 60;
/** Work in progress then still ends before the claim expires. */
const REMOVING_SECONDS_MAX = 5 * 60;
/** A registration that began earlier may have seen content that is now removed; it has ended by then. */
const SETTLING_SECONDS = 60;

interface Removal {
  images: StoredImage[];
  files: StoredFile[];
}

/**
 * Removes unneeded content from a repository. Every removal is recorded before it happens: nothing disappears without a
 * record, and the next sweep finds what a crash left behind.
 */
export async function collectGarbage(ctx: Context, repository: Repository): Promise<void> {
  const found = await findGarbage(repository, ctx.now());
  if (found.images.length === 0 && found.files.length === 0) return;
  const endsAt = secondsAfter(ctx.now(), REMOVING_SECONDS_MAX);
  if (!(await claimRepository(repository.name, ctx.now(), CLAIM_SECONDS))) return;
  try {
    for (const part of await decideRemovals(repository, ctx.now())) {
      if (ctx.now() > endsAt) break;
      await tell(ctx, repository, part);
      await remove(repository, part);
    }
  } finally {
    await releaseRepository(repository.name, ctx.now(), SETTLING_SECONDS);
  }
}

/** Finds the garbage again while the repository is locked, and checks every digest individually. */
async function decideRemovals(repository: Repository, now: Date): Promise<Removal[]> {
  const { images, files, without } = await findGarbage(repository, now);
  const digests = images.map(({ digest }) => digest);
  const certain = without(await registeredAfterAll(repository, digests));
  return [
    ...inParts(certain).map((part) => ({ images: part, files: [] })),
    ...inParts(files).map((part) => ({ images: [], files: part })),
  ];
}

async function remove({ name }: Repository, { images, files }: Removal): Promise<void> {
  if (images.length > 0)
    await removeImages(
      name,
      images.map(({ digest }) => digest),
    );
  for (const { key, versionId } of files) await deleteVersion(key, versionId);
}

async function tell(ctx: Context, repository: Repository, { images, files }: Removal): Promise<void> {
  const { name, org_id, project_id, app_slug } = repository;
  const bytes = [...images, ...files].reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const counts = { repository: name, images: images.length, files: files.length, bytes };
  await commitDecision(ctx, 'artifacts.repository.collect', async () => ({
    subject: `repository:${name}`,
    after: {
      ...counts,
      digests: images.map(({ digest }) => digest),
      objects: files.map(({ key, versionId }) => `${key}?versionId=${versionId}`),
    },
    reason: 'Stored for a week and not needed by any artifact.',
    actor: SWEEP,
    place: { org_id, project_id },
    writes: [],
    events: [GarbageCollected({ app_slug, ...counts })],
  }));
}
