import { SigningError } from '../signing/signing-error.ts';
import type { Answering } from './streams.ts';

export interface SignOptions extends Answering {
  key?: string;
  kmsKey?: string;
  chain: string;
  provenance?: string;
  expires?: string;
  output?: string;
  registryUser?: string;
  registryPasswordStdin?: boolean;
  intent?: string;
}

export interface ImageName {
  host: string;
  repository: string;
  digest: string;
}

/** `registry.example.com/team/app@sha256:…`, or nothing when it is no image's name but a file's. */
export function readImageName(what: string): ImageName | undefined {
  const [, host, repository, digest] = /^([^/@\s]+)\/([^@\s]+)@(sha256:[0-9a-f]{64})$/.exec(what) ?? [];
  if (host === undefined || repository === undefined || digest === undefined) return undefined;
  // A tag beside the digest says nothing: what is signed is the digest.
  return { host, repository: repository.replace(/:[\w.-]+$/, ''), digest };
}

const UNIT_MS: Record<string, number> = { h: 60 * 60 * 1000, d: 24 * 60 * 60 * 1000 };

/** `90d`, `12h`. */
export function readExpiry(expires: string | undefined, now: Date): Date | undefined {
  if (expires === undefined) return undefined;
  const [, count, unit = ''] = /^(\d{1,5})([hd])$/.exec(expires) ?? [];
  const lasts = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (lasts > 0) return new Date(now.getTime() + lasts);
  throw new SigningError('usage', `“${expires}” is not a duration.`, 'Write hours or days: --expires 90d');
}

/** What cannot go together is told before anything is read or sent. */
export function requireSense(options: SignOptions, isImage: boolean): void {
  if ((options.key === undefined) === (options.kmsKey === undefined)) {
    throw new SigningError(
      'usage',
      'Exactly one key is needed.',
      'Give --key with a file, or --kms-key with the id of a key in KMS.',
    );
  }
  const misplaced = isImage
    ? options.intent !== undefined && '--intent'
    : (options.registryUser !== undefined && '--registry-user') ||
      (options.registryPasswordStdin === true && '--registry-password-stdin');
  if (misplaced !== false) {
    const [this_, other] = isImage ? ['an image', 'files'] : ['a file', 'images'];
    throw new SigningError(
      'usage',
      `This is ${this_}, and ${misplaced} is for ${other}.`,
      isImage
        ? 'Leave it out.'
        : 'Name an image as <registry>/<repository>@sha256:<digest>, or leave it out.',
    );
  }
}
