import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

export interface StoredManifest {
  digest: string;
  tags: string[];
  pushedAt: Date;
}

/**
 * The registry's own folders, for the three things its HTTP API can't do: list manifests that no tag points
 * at, take one tag off an image that has others, and drop a repository.
 */
export class RegistryStorage {
  #repositoriesDir: string;

  constructor(storageDir: string) {
    this.#repositoriesDir = join(storageDir, 'docker', 'registry', 'v2', 'repositories');
  }

  /** By digest. */
  list(repository: string): StoredManifest[] {
    const tags = this.#tags(repository);
    const revisions = join(this.#manifestsDir(repository), 'revisions', 'sha256');
    return entries(revisions).flatMap((hex) => {
      const link = join(revisions, hex, 'link');
      const digest = readLink(link);
      if (digest === undefined) return [];
      const own = tags.filter((tag) => tag.digest === digest).map((tag) => tag.name);
      return [{ digest, tags: own, pushedAt: statSync(link).mtime }];
    });
  }

  removeTag(repository: string, tag: string): void {
    rmSync(join(this.#manifestsDir(repository), 'tags', tag), { recursive: true, force: true });
  }

  removeRepository(repository: string): void {
    // Not the folder itself: `team/app` lies inside the folder of `team`.
    for (const part of ['_manifests', '_layers', '_uploads']) {
      rmSync(join(this.#repositoriesDir, repository, part), { recursive: true, force: true });
    }
  }

  #tags(repository: string): { name: string; digest: string }[] {
    const folder = join(this.#manifestsDir(repository), 'tags');
    return entries(folder).flatMap((name) => {
      const digest = readLink(join(folder, name, 'current', 'link'));
      return digest === undefined ? [] : [{ name, digest }];
    });
  }

  #manifestsDir(repository: string): string {
    return join(this.#repositoriesDir, repository, '_manifests');
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

/** Deleting a manifest removes its link and leaves the folder. */
function readLink(file: string): string | undefined {
  try {
    const digest = readFileSync(file, 'utf8');
    return digest.startsWith('sha256:') ? digest : undefined;
  } catch {
    return undefined;
  }
}
