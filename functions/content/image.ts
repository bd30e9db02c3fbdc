// What an image must be for the platform to run it, told from its manifests and configs alone: no layer is read. OCI
// image specification 1.1 and Docker's schema 2, which say the same in other words.

import * as v from 'valibot';
import { Digest } from '../platform/name.ts';
import { type Refusal } from '../platform/errors.ts';
import type { PlatformImage } from './stored-content.ts';
import { parseJson } from '../trust/strict-json.ts';
import type { Attachment, Descriptor } from '../trust/verification.ts';
import { refuse } from './problems.ts';

const LAYERS_MAX = 127;
const IMAGE_BYTES_MAX = 100 * 1024 ** 3;
const PLATFORMS_MAX = 10;
const MEMBERS_MAX = 50;
const PORTS_MAX = 100;
const USER_CHARACTERS_MAX = 256;
export const CONFIG_BYTES_MAX = 1024 * 1024;

const IMAGE_TYPES = new Set([
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
]);
const INDEX_TYPES = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);

const CONFIG_TYPES = new Set([
  'application/vnd.oci.image.config.v1+json',
  'application/vnd.docker.container.image.v1+json',
]);
/** Not those that a host would have to fetch elsewhere, nor encrypted ones. */
const LAYER_TYPE =
  /^application\/vnd\.(?:oci\.image\.layer\.v1\.tar(?:\+(?:gzip|zstd))?|docker\.image\.rootfs\.diff\.tar(?:\.(?:gzip|zstd))?)$/;

const fold = (name: string): string => name.toUpperCase().toLowerCase();

/**
 * The engines that run images are written in Go, which takes a member's name in any case. Here each has one spelling:
 * otherwise a member could be hidden from us and seen by them.
 */
function spelled<T extends v.ObjectEntries>(entries: T) {
  const known = new Set(Object.keys(entries).map(fold));
  return v.pipe(
    v.looseObject(entries),
    v.check((object) =>
      Object.keys(object).every((name) => Object.hasOwn(entries, name) || !known.has(fold(name))),
    ),
  );
}

const Part = spelled({
  mediaType: v.string(),
  digest: Digest,
  size: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** Where else it may be had. */
  urls: v.optional(v.array(v.string())),
});

const Word = v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9_.-]{0,31}$/));
const Platform = spelled({ os: Word, architecture: Word, variant: v.optional(Word) });
type Platform = v.InferOutput<typeof Platform>;

const Manifest = spelled({
  schemaVersion: v.literal(2),
  mediaType: v.optional(v.string()),
  artifactType: v.optional(v.string()),
  config: Part,
  layers: v.array(Part),
  manifests: v.optional(v.never()),
});

const Index = spelled({
  schemaVersion: v.literal(2),
  mediaType: v.optional(v.string()),
  artifactType: v.optional(v.string()),
  manifests: v.pipe(
    v.array(spelled({ ...Part.pipe[0].entries, platform: v.optional(Platform) })),
    v.maxLength(MEMBERS_MAX),
  ),
  config: v.optional(v.never()),
  layers: v.optional(v.never()),
});

const Config = spelled({
  os: v.string(),
  architecture: Word,
  variant: v.optional(v.string()),
  config: v.nullish(
    spelled({
      User: v.nullish(v.pipe(v.string(), v.regex(/^[ -~]*$/), v.maxLength(USER_CHARACTERS_MAX))),
      Env: v.nullish(v.array(v.string())),
      ExposedPorts: v.nullish(
        v.record(v.pipe(v.string(), v.regex(/^\d{1,5}(?:-\d{1,5})?(?:\/(?:tcp|udp|sctp))?$/)), v.unknown()),
      ),
    }),
  ),
});

/** An image of one platform, before its config is read. */
export interface OneImage {
  kind: 'image';
  config: Descriptor;
  sizeBytes: number;
}

/** Several of them under one name: a host takes the one of its own kind. */
export interface ManyImages {
  kind: 'index';
  members: (Descriptor & { platform: string })[];
}

/** What a manifest describes, once all that can be known without its config is right. */
export function readManifest({ mediaType, bytes }: Attachment): OneImage | ManyImages {
  if (IMAGE_TYPES.has(mediaType)) return readOne(mediaType, bytes);
  if (INDEX_TYPES.has(mediaType)) return readMany(mediaType, bytes);
  throw unfit(
    `Expected an OCI or Docker schema 2 image manifest or index, not ${nameType(mediaType)}. Push the image with docker push or skopeo copy.`,
  );
}

/** One member of an index is one image, and not another index. */
export function readMember({ mediaType, bytes }: Attachment, expected: Descriptor): OneImage {
  if (mediaType !== expected.mediaType || bytes.length !== expected.size)
    throw mismatched(`The index describes ${expected.digest} with a different media type or size.`);
  const image = readManifest({ mediaType, bytes });
  if (image.kind === 'image') return image;
  throw unfit(
    `The index lists ${expected.digest}, which is another index (${mediaType}). Expected images. ${INDEX_HINT}`,
  );
}

/** What a caller said it is; of content that was read, so its type is one of those above. */
export function requireMediaType(found: string, said: string | undefined): void {
  if (said !== undefined && said !== found)
    throw mismatched(
      `The media type of the content is ${found}. Omit media_type from the request, or send this one.`,
    );
}

export function readConfig(
  bytes: Uint8Array,
  { digest, image, platform }: { digest: string; image: OneImage; platform?: string },
): PlatformImage {
  if (bytes.length !== image.config.size) throw mismatchedConfig();
  const parsed = v.safeParse(Config, parseJson(bytes), { abortEarly: true });
  if (!parsed.success) throw unfit('The image config cannot be read.');
  const { os, architecture, variant, config } = parsed.output;
  if (os !== 'linux') throw unfit(`Expected an image for linux, not for ${nameWord(os)}.`);
  const found = nameOf({ os, architecture, variant });
  if (platform !== undefined && !isSamePlatform(found, platform))
    throw mismatched(`The index lists an image for ${platform} that is built for ${found}.`);
  requireHarmless(config?.Env ?? []);
  const ports = Object.keys(config?.ExposedPorts ?? {});
  if (ports.length > PORTS_MAX) throw unfit(`Expected at most ${PORTS_MAX} exposed ports.`);
  return {
    platform: platform ?? found,
    digest,
    size_bytes: image.sizeBytes,
    user: config?.User ?? '',
    exposed_ports: ports,
  };
}

/** The dynamic linker obeys these before a program begins: whoever sets one runs code in every process. */
function requireHarmless(variables: string[]): void {
  const name = variables
    .map((variable) => /^LD_\w*/.exec(variable)?.[0])
    .find((found) => found !== undefined);
  if (name !== undefined)
    throw unfit(
      `The environment of the image sets ${name.slice(0, 60)}, which controls the dynamic linker. Remove it: configure library paths with ldconfig, or set the variable in the script that starts the program.`,
    );
}

function readOne(mediaType: string, bytes: Uint8Array): OneImage {
  const parsed = v.safeParse(Manifest, parseJson(bytes), { abortEarly: true });
  if (!parsed.success) throw unfit('The content is not a valid image manifest.');
  const { config, layers, artifactType } = parsed.output;
  requireOwnType(parsed.output, mediaType);
  if (artifactType !== undefined || !CONFIG_TYPES.has(config.mediaType))
    throw unfit(
      `The content is an attachment to an image (${nameType(artifactType ?? config.mediaType)}), not an image. Use the digest that docker push printed.`,
    );
  if (layers.length === 0 || layers.length > LAYERS_MAX)
    throw unfit(`Expected 1 to ${LAYERS_MAX} layers, not ${layers.length}.`);
  const odd = layers.find((layer) => !LAYER_TYPE.test(layer.mediaType) || layer.urls !== undefined);
  if (odd)
    throw unfit(
      `Expected layers stored in this registry, as plain or compressed tar; ${odd.digest} is ${nameType(odd.mediaType)}${odd.urls === undefined ? '' : ' stored elsewhere'}.`,
    );
  if (config.size > CONFIG_BYTES_MAX) throw unfit(`Expected a config of at most ${CONFIG_BYTES_MAX} bytes.`);
  const sizeBytes = layers.reduce((sum, { size }) => sum + size, config.size);
  if (sizeBytes > IMAGE_BYTES_MAX) throw unfit(`Expected at most ${IMAGE_BYTES_MAX} bytes in all layers.`);
  return { kind: 'image', config: describe(config), sizeBytes };
}

function readMany(mediaType: string, bytes: Uint8Array): ManyImages {
  const parsed = v.safeParse(Index, parseJson(bytes), { abortEarly: true });
  if (!parsed.success)
    throw unfit(`The content is not a valid image index of at most ${MEMBERS_MAX} entries. ${INDEX_HINT}`);
  requireOwnType(parsed.output, mediaType);
  if (parsed.output.artifactType !== undefined)
    throw unfit(
      `The index is of ${nameType(parsed.output.artifactType)} and lists something other than images. ${INDEX_HINT}`,
    );
  const members = parsed.output.manifests.flatMap(({ platform, ...member }) => {
    if (platform === undefined)
      throw unfit(
        `The index lists ${member.digest} without a platform. Expected one for each image. ${INDEX_HINT}`,
      );
    return isAttestation(platform) ? [] : [{ ...describe(member), platform: nameOf(platform) }];
  });
  if (members.length === 0 || members.length > PLATFORMS_MAX)
    throw unfit(
      `Expected an index of images for 1 to ${PLATFORMS_MAX} platforms. Found images: ${members.length}, attestations: ${parsed.output.manifests.length - members.length}. ${INDEX_HINT}`,
    );
  const platforms = members.map(({ platform }) => platform);
  const twice = platforms.find((platform, index) => platforms.indexOf(platform) < index);
  if (twice !== undefined)
    throw unfit(`The index lists several images for ${twice}. Expected one for each platform. ${INDEX_HINT}`);
  return { kind: 'index', members };
}

/** Builders put what they say of an image into its index, under a platform no host has. */
const isAttestation = ({ os, architecture }: Platform): boolean =>
  os === 'unknown' && architecture === 'unknown';

function requireOwnType({ mediaType }: { mediaType?: string }, said: string): void {
  // An index read as an image, or the other way round, would be two things under one digest.
  if (mediaType !== undefined && mediaType !== said)
    throw mismatched('The media type in the manifest differs from the one the registry reports.');
}

const describe = ({ mediaType, digest, size }: Descriptor): Descriptor => ({ mediaType, digest, size });

const nameOf = ({ os, architecture, variant }: { os: string; architecture: string; variant?: string }) =>
  [os, architecture, ...(variant ? [variant] : [])].join('/');

/** A config often does not tell the variant. */
const isSamePlatform = (found: string, stated: string): boolean =>
  found === stated || stated.startsWith(`${found}/`);

/** For who built an index and meant one image. */
const INDEX_HINT =
  'Register the digest of one of its images instead, or build again with docker buildx build --provenance=false --sbom=false.';

/** Publishers write these; only what looks as it should is repeated. */
const nameType = (mediaType: string): string =>
  /^[a-z]+\/[\w.+-]{1,100}$/.test(mediaType) ? mediaType : 'an unknown type';
const nameWord = (word: string): string => (v.is(Word, word) ? word : 'an unknown system');

const because =
  (code: 'artifact.unfit' | 'artifact.mismatched') =>
  (detail: string): Refusal =>
    refuse(code, { detail });
const unfit = because('artifact.unfit');
const mismatched = because('artifact.mismatched');

export const mismatchedConfig = (): Refusal =>
  mismatched('The size of the image config differs from the size in the manifest.');
