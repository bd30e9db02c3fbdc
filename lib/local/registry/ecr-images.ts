import { ACCOUNT, AwsError } from '../wire/aws.ts';
import { forward } from '../wire/forward.ts';
import { noteDeletion } from './registry-garbage.ts';
import { MANIFEST_TYPES } from './registry-proxy.ts';
import { RegistryStorage, type StoredManifest } from './registry-storage.ts';
import type { Registry } from './registry.ts';
import type { RegistryTokens } from './registry-tokens.ts';
import { imageIds, page, type EcrInput, type ImageId } from './ecr-input.ts';

const ANSWER_SECONDS_MAX = 30;

interface Manifest {
  text: string;
  mediaType: string;
}

/** ECR's view of the images in the real registry. The caller has made sure that the repository exists. */
export class Images {
  #registry: Registry;
  #tokens: RegistryTokens;
  #storage: RegistryStorage;

  constructor(registry: Registry, tokens: RegistryTokens) {
    this.#registry = registry;
    this.#tokens = tokens;
    this.#storage = new RegistryStorage(registry.storageDir);
  }

  isEmpty(repository: string): boolean {
    return this.#storage.list(repository).length === 0;
  }

  deleteAll(repository: string): void {
    this.#storage.removeRepository(repository);
    noteDeletion(this.#registry.storageDir);
  }

  list(repository: string, input: EcrInput): unknown {
    const { items, nextToken } = this.#page(repository, input);
    const ids = items.flatMap(({ digest, tags }): ImageId[] =>
      tags.length === 0
        ? [{ imageDigest: digest }]
        : tags.map((tag) => ({ imageDigest: digest, imageTag: tag })),
    );
    return { imageIds: ids, nextToken };
  }

  async describe(repository: string, input: EcrInput): Promise<unknown> {
    const named = input.imageIds && imageIds(input.imageIds).map((id) => this.#existing(repository, id));
    const { items, nextToken } = named ? { items: named } : this.#page(repository, input);
    const details = items.map(async (image) =>
      detail(repository, image, await this.#manifest(repository, image.digest)),
    );
    return { imageDetails: await Promise.all(details), nextToken };
  }

  async get(repository: string, input: EcrInput): Promise<unknown> {
    const images: unknown[] = [];
    const failures: unknown[] = [];
    for (const id of imageIds(input.imageIds)) {
      const image = this.#find(repository, id);
      if (image === undefined) {
        failures.push(failure(id));
        continue;
      }
      const { text, mediaType } = await this.#manifest(repository, image.digest);
      images.push({
        registryId: ACCOUNT,
        repositoryName: repository,
        imageId: { imageDigest: image.digest, imageTag: id.imageTag },
        imageManifest: text,
        imageManifestMediaType: mediaType,
      });
    }
    return { images, failures };
  }

  async delete(repository: string, input: EcrInput): Promise<unknown> {
    const deleted: ImageId[] = [];
    const failures: unknown[] = [];
    for (const id of imageIds(input.imageIds)) {
      const image = this.#find(repository, id);
      if (image === undefined) {
        failures.push(failure(id));
        continue;
      }
      await this.#deleteOne(repository, image, id);
      deleted.push({ imageDigest: image.digest, imageTag: id.imageTag });
    }
    return { imageIds: deleted, failures };
  }

  #page(repository: string, input: EcrInput): { items: StoredManifest[]; nextToken?: string } {
    const wanted = input.filter?.tagStatus ?? 'ANY';
    const all = this.#storage
      .list(repository)
      .filter(({ tags }) => wanted === 'ANY' || (wanted === 'TAGGED') === tags.length > 0);
    return page(all, ({ digest }) => digest, input);
  }

  /** A digest and a tag together must agree. */
  #find(repository: string, { imageDigest, imageTag }: ImageId): StoredManifest | undefined {
    return this.#storage
      .list(repository)
      .filter(({ digest }) => imageDigest === undefined || imageDigest === digest)
      .find(({ tags }) => imageTag === undefined || tags.includes(imageTag));
  }

  #existing(repository: string, id: ImageId): StoredManifest {
    const image = this.#find(repository, id);
    if (image !== undefined) return image;
    const asked = `{imageDigest:'${id.imageDigest ?? 'null'}', imageTag:'${id.imageTag ?? 'null'}'}`;
    const message = `The image with imageId ${asked} does not exist within the repository with name '${repository}' in the registry with id '${ACCOUNT}'`;
    throw new AwsError('ImageNotFoundException', message);
  }

  /** By tag, the image goes with its last tag; by digest, all its tags go with it. */
  async #deleteOne(repository: string, image: StoredManifest, id: ImageId): Promise<void> {
    if (id.imageTag !== undefined && id.imageDigest === undefined && image.tags.length > 1) {
      return this.#storage.removeTag(repository, id.imageTag);
    }
    await this.#call('DELETE', repository, image.digest);
    noteDeletion(this.#registry.storageDir);
  }

  async #manifest(repository: string, digest: string): Promise<Manifest> {
    const { body, headers } = await this.#call('GET', repository, digest);
    return { text: body.toString('utf8'), mediaType: headers['content-type'] ?? '' };
  }

  async #call(method: 'GET' | 'DELETE', repository: string, digest: string) {
    const authorization = await this.#tokens.authorizationFor(repository);
    const answer = await forward(
      { name: 'The registry', ...this.#registry.inner, secondsMax: ANSWER_SECONDS_MAX },
      {
        method,
        path: `/v2/${repository}/manifests/${digest}`,
        headers: { authorization, accept: MANIFEST_TYPES.join(',') },
        body: '',
      },
    ).catch(() => undefined);
    if (answer === undefined || answer.status >= 300) {
      const message = answer ? `answered ${answer.status}` : 'is not answering';
      throw new AwsError('ServerException', `The registry ${message}.`, 500);
    }
    return answer;
  }
}

function failure(imageId: ImageId): unknown {
  return { imageId, failureCode: 'ImageNotFound', failureReason: 'Requested image not found' };
}

function detail(repository: string, { digest, tags, pushedAt }: StoredManifest, manifest: Manifest): unknown {
  const content = JSON.parse(manifest.text) as {
    config?: { mediaType: string; size: number };
    layers?: { size: number }[];
  };
  const sizes = [content.config, ...(content.layers ?? [])].map((part) => part?.size ?? 0);
  return {
    registryId: ACCOUNT,
    repositoryName: repository,
    imageDigest: digest,
    imageTags: tags.length > 0 ? tags : undefined,
    // An index has no layers of its own, and ECR's figure for one can't be had without reading its members.
    imageSizeInBytes: content.layers && sizes.reduce((sum, size) => sum + size, 0),
    imagePushedAt: pushedAt.getTime() / 1000,
    imageManifestMediaType: manifest.mediaType,
    artifactMediaType: content.config?.mediaType,
  };
}
