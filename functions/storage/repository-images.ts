// What a repository holds, and removing it: asked of ECR, as the registry's own API lists no manifest without a tag.

import {
  BatchDeleteImageCommand,
  BatchGetImageCommand,
  DescribeImagesCommand,
  type DescribeImagesResponse,
  type ImageDetail,
} from '@aws-sdk/client-ecr';
import * as v from 'valibot';
import { isNamed } from '../platform/aws-errors.ts';
import { ecr } from '../platform/clients.ts';
import type { StoredImage } from './stored.ts';

const PAGE = 1_000;
const IMAGES_MAX = 20_000;
/** A manifest has at most 4 MB; so many of them fit into memory. */
const MANIFESTS_AT_ONCE = 20;

/** Every manifest of a repository, with what leads from one to another; none where there is no such repository. */
export async function listImages(repository: string): Promise<StoredImage[]> {
  const details = await describeImages(repository);
  const images: StoredImage[] = [];
  for (let begin = 0; begin < details.length; begin += MANIFESTS_AT_ONCE)
    images.push(...(await readManifests(repository, details.slice(begin, begin + MANIFESTS_AT_ONCE))));
  return images;
}

async function describeImages(repository: string): Promise<ImageDetail[]> {
  const details: ImageDetail[] = [];
  let nextToken: string | undefined;
  do {
    const page = await describePage(repository, nextToken);
    details.push(...(page.imageDetails ?? []));
    if (details.length > IMAGES_MAX) throw new Error(`${repository} has more than ${IMAGES_MAX} manifests.`);
    nextToken = page.nextToken;
  } while (nextToken !== undefined);
  return details;
}

async function describePage(
  repositoryName: string,
  nextToken: string | undefined,
): Promise<DescribeImagesResponse> {
  try {
    return await ecr().send(new DescribeImagesCommand({ repositoryName, nextToken, maxResults: PAGE }));
  } catch (error) {
    if (isNamed(error, 'RepositoryNotFoundException')) return {};
    throw error;
  }
}

const Manifest = v.object({
  subject: v.optional(v.object({ digest: v.string() })),
  manifests: v.optional(v.array(v.object({ digest: v.string() })), []),
});

/** One that has gone meanwhile is left out; one that cannot be read is an error, as nobody knows what it leads to. */
async function readManifests(repositoryName: string, details: ImageDetail[]): Promise<StoredImage[]> {
  const imageIds = details.map(({ imageDigest }) => ({ imageDigest }));
  const { images = [], failures = [] } = await ecr().send(
    new BatchGetImageCommand({ repositoryName, imageIds }),
  );
  const unread = failures.find(({ failureCode }) => failureCode !== 'ImageNotFound');
  if (unread) throw new Error(`${unread.imageId?.imageDigest} cannot be read: ${unread.failureReason}`);
  const texts = new Map(images.map(({ imageId, imageManifest }) => [imageId?.imageDigest, imageManifest]));
  return details.flatMap((detail) => {
    const text = texts.get(detail.imageDigest);
    return text === undefined ? [] : [storedImage(detail, text)];
  });
}

function storedImage(detail: ImageDetail, text: string): StoredImage {
  const { subject, manifests } = v.parse(Manifest, JSON.parse(text));
  return {
    digest: detail.imageDigest ?? '',
    tags: detail.imageTags ?? [],
    // An image without a date may be new.
    pushedAt: detail.imagePushedAt ?? new Date(),
    sizeBytes: detail.imageSizeInBytes ?? Buffer.byteLength(text),
    ...(subject && { subject: subject.digest }),
    members: manifests.map(({ digest }) => digest),
  };
}

/** By one request. What an index still leads to is left, and goes after that has gone. */
export async function removeImages(repositoryName: string, digests: string[]): Promise<void> {
  const imageIds = digests.map((imageDigest) => ({ imageDigest }));
  await ecr().send(new BatchDeleteImageCommand({ repositoryName, imageIds }));
}
