import {
  CONFIG_BYTES_MAX,
  mismatchedConfig,
  type OneImage,
  readConfig,
  readManifest,
  readMember,
  requireMediaType,
} from './image.ts';
import { isDigest, readRepository, REFERRERS_MAX, type RegistryReader } from '../storage/registry-client.ts';
import { logIn } from '../storage/own-registry-login.ts';
import { imageUri } from '../storage/repository.ts';
import { refuse } from './problems.ts';
import type { FoundImage, PlatformImage } from './stored-content.ts';

/** The image somebody wants to register, as it lies in the registry: every manifest and config of it, by its digest. */
export async function findImage(
  { repository, digest }: { repository: string; digest: string },
  statedType: string | undefined,
): Promise<FoundImage> {
  const registry = readRepository(repository, await logIn());
  const manifest = await registry.manifest(digest);
  if (!manifest) throw (await registry.hasBlob(digest)) ? partOfImage() : absentImage(repository, digest);
  const found = readManifest(manifest);
  requireMediaType(manifest.mediaType, statedType);
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
    referrers: await findReferrers(registry, digest),
  };
}

/** As the list of them says; what each is worth is seen when it is verified. */
async function findReferrers(registry: RegistryReader, digest: string): Promise<FoundImage['referrers']> {
  const listed = await registry.referrers(digest);
  return listed
    .filter((each) => isDigest(each.digest))
    .slice(0, REFERRERS_MAX)
    .map((each) => ({
      digest: each.digest,
      artifact_type: each.artifactType?.slice(0, TYPE_CHARACTERS_MAX) ?? '',
    }));
}

/** RFC 6838 §4.2 has 127 on either side of the slash. */
const TYPE_CHARACTERS_MAX = 255;

async function findPlatform(
  registry: RegistryReader,
  found: { digest: string; image: OneImage; platform?: string },
): Promise<PlatformImage> {
  const config = await registry.blob(found.image.config.digest, CONFIG_BYTES_MAX);
  if (!config) throw absent('The config of the image');
  if (config === 'too_long') throw mismatchedConfig();
  return readConfig(config, found);
}

const absent = (what: string) => refuse('artifact.absent', { detail: `${what} is not in the registry.` });

const absentImage = (repository: string, digest: string) =>
  refuse('artifact.absent', {
    detail: `${imageUri(repository, digest)} is not in the registry. Push the image first. A file is registered with the artifact_kind blob.`,
  });

const partOfImage = () =>
  refuse('artifact.unfit', {
    detail:
      'This digest is of a layer or a config in the repository, not of an image manifest. Use the digest that docker push printed, or that skopeo inspect shows.',
  });
