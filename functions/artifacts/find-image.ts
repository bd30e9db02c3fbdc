import { refuse } from '../platform/errors.ts';
import type { Artifact, PlatformImage } from './artifact.ts';
import {
  CONFIG_BYTES_MAX,
  type OneImage,
  readConfig,
  readManifest,
  readMember,
  requireMediaType,
} from './image.ts';
import { readRepository, type RegistryReader } from './registry-client.ts';
import { imageUri } from './repository.ts';

/** What registration records of an image. */
type FoundImage = Required<Pick<Artifact, 'source_uri' | 'media_type' | 'size_bytes' | 'platforms'>>;

/** The image somebody wants to register, as it lies in the registry: every manifest and config of it, by its digest. */
export async function findImage(
  { repository, digest }: Pick<Artifact, 'repository' | 'digest'>,
  statedType: string | undefined,
): Promise<FoundImage> {
  const registry = await readRepository(repository);
  const manifest = await registry.manifest(digest);
  if (!manifest) throw absent(imageUri(repository, digest));
  requireMediaType(manifest.mediaType, statedType);
  const found = readManifest(manifest);
  const platforms =
    found.kind === 'image'
      ? [await findPlatform(registry, { digest, image: found })]
      : await Promise.all(
          found.members.map(async ({ platform, ...member }) => {
            const content = await registry.manifest(member.digest);
            if (!content) throw absent(`The image for ${platform}`);
            return findPlatform(registry, {
              digest: member.digest,
              image: readMember(content, member),
              platform,
            });
          }),
        );
  return {
    source_uri: imageUri(repository, digest),
    media_type: manifest.mediaType,
    size_bytes: manifest.bytes.length,
    platforms,
  };
}

async function findPlatform(
  registry: RegistryReader,
  found: { digest: string; image: OneImage; platform?: string },
): Promise<PlatformImage> {
  const config = await registry.blob(found.image.config.digest, CONFIG_BYTES_MAX);
  if (!config) throw absent('The config of the image');
  return readConfig(config, found);
}

const absent = (what: string) => refuse('artifact.absent', { detail: `${what} is not there.` });
