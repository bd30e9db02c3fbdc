// Puts a signature and a provenance beside an image, so that whoever has the image finds them.

import { setTimeout as wait } from 'node:timers/promises';
import type { Descriptor } from './notation.ts';
import {
  EMPTY,
  INDEX_TYPE,
  MANIFEST_TYPE,
  digestOf,
  indexOf,
  provenanceManifest,
  referrersTag,
  signatureManifest,
  type Referrer,
  type ReferrersIndex,
} from './oci.ts';
import type { RegistryAccess } from './registry-access.ts';
import { SigningError } from './signing-error.ts';

/** Signers of one image at the same moment write one list; more than this at once do not happen by chance. */
const ATTEMPTS_MAX = 5;
/** Longer than another signer takes from reading the list to writing it. */
const SETTLE_MS = 250;

export interface Attachment {
  registry: RegistryAccess;
  repository: string;
  /** The image. */
  subject: Descriptor;
  /** An envelope of signDescriptor. */
  signature: Buffer;
  /** An envelope of signProvenance. */
  provenance?: Buffer;
  createdAt?: Date;
  /** How long to wait before looking whether somebody wrote over the list. */
  settleMs?: number;
}

export interface Attached {
  /** Digests of the manifests. */
  signature: string;
  provenance?: string;
  /** Who keeps the list of what is about an image: the registry itself, or a tag that clients write. */
  listedBy: 'registry' | 'tag';
}

export async function attach(attachment: Attachment): Promise<Attached> {
  const { registry, repository, subject, signature, provenance, createdAt = new Date() } = attachment;
  const manifests = [
    signatureManifest(subject, signature, createdAt),
    ...(provenance === undefined ? [] : [provenanceManifest(subject, provenance, createdAt)]),
  ];
  const blobs = [EMPTY, signature, ...(provenance === undefined ? [] : [provenance])];
  for (const blob of blobs) await registry.pushBlob(repository, blob);
  const answers = [];
  for (const { bytes, referrer } of manifests) {
    const manifest = { mediaType: MANIFEST_TYPE, bytes };
    answers.push(await registry.putManifest(repository, referrer.digest, manifest));
  }
  const [made, madeOfBuild] = manifests.map(({ referrer }) => referrer);
  const isListed = answers.every((answer) => answer.isListed);
  // Both at once: where tags cannot be moved, the list is written once.
  if (!isListed) {
    await list(
      attachment,
      manifests.map(({ referrer }) => referrer),
    );
  }
  return {
    signature: made?.digest ?? '',
    ...(madeOfBuild && { provenance: madeOfBuild.digest }),
    listedBy: isListed ? 'registry' : 'tag',
  };
}

/** distribution-spec, "Pushing Manifests with Subject": the client keeps the list where the registry does not. */
async function list(attachment: Attachment, ours: Referrer[]): Promise<void> {
  const { registry, repository, subject, settleMs = SETTLE_MS } = attachment;
  const tag = referrersTag(subject.digest);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const others = await readList(registry, repository, tag);
    const added = ours.filter(({ digest }) => others.every((other) => other.digest !== digest));
    if (added.length === 0) return;
    const bytes = indexOf([...others, ...added]);
    await registry.putManifest(repository, tag, { mediaType: INDEX_TYPE, bytes }).catch((error: unknown) => {
      throw isConflict(error) ? immovable(tag) : error;
    });
    // A registry cannot be told to write only over what was read. Who read before us and writes after us has not seen
    // ours: so it is looked for once they are done.
    await wait(settleMs);
    const now = await registry.headManifest(repository, tag);
    if (now?.digest === digestOf(bytes)) return;
  }
  throw new SigningError(
    'conflict',
    `Other clients keep changing the list of signatures at ${tag}; this signature was pushed but is not listed.`,
    'Sign again when they are done.',
  );
}

async function readList(registry: RegistryAccess, repository: string, tag: string): Promise<Referrer[]> {
  const bytes = await registry.getManifest(repository, tag);
  const index = JSON.parse(bytes?.toString('utf8') ?? '{}') as Partial<ReferrersIndex>;
  return index.manifests ?? [];
}

const isConflict = (error: unknown): boolean => error instanceof SigningError && error.kind === 'conflict';

const immovable = (tag: string): SigningError =>
  new SigningError(
    'conflict',
    `This image already has a list of signatures at ${tag}, and the repository does not allow tags to be moved.`,
    'Push a new image and sign that one; give signature and provenance in one command.',
  );
