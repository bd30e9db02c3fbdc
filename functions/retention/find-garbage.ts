import { findUnneededFiles, findUnneededImages } from './garbage.ts';
import type { StoredFile, StoredImage } from '../storage/stored.ts';
import { artifactsIn } from './garbage-store.ts';
import { listObjectVersions } from '../storage/object-store.ts';
import type { VersionMarker } from '../storage/object-versions.ts';
import { listImages } from '../storage/repository-images.ts';
import type { Repository } from '../storage/keep-repository.ts';
import { filesOf } from '../storage/repository.ts';

export interface Garbage {
  images: StoredImage[];
  files: StoredFile[];
  /** Repeats the search with these digests counted as needed. */
  without: (digests: string[]) => StoredImage[];
}

const FILES_MAX = 20_000;

/** The images and files of a repository that no artifact needs. Changes nothing. */
export async function findGarbage(repository: Repository, now: Date): Promise<Garbage> {
  const [images, files] = await Promise.all([listImages(repository.name), listFiles(repository)]);
  const judgedWith = (needed: string[]) => findUnneededImages(images, needed, now);
  // Most repositories have nothing that is old enough, whatever is registered there.
  const isClean = judgedWith([]).length === 0 && findUnneededFiles(files, [], now).length === 0;
  const artifacts = isClean ? [] : await artifactsIn(repository);
  const needed = artifacts.flatMap(({ digest, platforms = [] }) => [
    digest,
    ...platforms.map((platform) => platform.digest),
  ]);
  const pinned = artifacts.flatMap(({ object }) => object ?? []);
  return {
    images: judgedWith(needed),
    files: findUnneededFiles(files, pinned, now),
    without: (digests) => judgedWith([...needed, ...digests]),
  };
}

async function listFiles({ name, project_id, app_slug }: Repository): Promise<StoredFile[]> {
  const all: StoredFile[] = [];
  let after: VersionMarker | undefined;
  do {
    const { files, next } = await listObjectVersions(filesOf(project_id, app_slug), after);
    all.push(...files);
    if (all.length > FILES_MAX) throw new Error(`${name} has more than ${FILES_MAX} versions of files.`);
    after = next;
  } while (after);
  return all;
}
