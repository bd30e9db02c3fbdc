// Files: what is signed of them, and how they get to where a publish intent says.

import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import type { Descriptor } from './notation.ts';
import { SigningError } from './signing-error.ts';

/** A file is bytes to the platform, whatever it means to its app. */
export const FILE_TYPE = 'application/octet-stream';

/** Reads it once, in pieces: files are larger than memory. */
export async function describeFile(path: string): Promise<Descriptor> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { mediaType: FILE_TYPE, digest: `sha256:${hash.digest('hex')}`, size };
}

/** As a publish intent for a file answers. */
export interface FileIntent {
  upload_path: string;
  signature_upload_path: string;
  provenance_upload_path: string;
  upload_headers: Record<string, string>;
}

export interface FileUpload {
  path: string;
  intent: FileIntent;
  signature: Buffer;
  provenance?: Buffer;
  fetch?: typeof fetch;
}

/** Straight to the object store, the file last: once it is there, what proves it is there as well. */
export async function uploadFile({
  path,
  intent,
  signature,
  provenance,
  ...rest
}: FileUpload): Promise<void> {
  const { fetch: send = fetch } = rest;
  await upload(send, intent.signature_upload_path, new Blob([new Uint8Array(signature)]));
  if (provenance !== undefined) {
    await upload(send, intent.provenance_upload_path, new Blob([new Uint8Array(provenance)]));
  }
  await upload(send, intent.upload_path, await openAsBlob(path), intent.upload_headers);
}

async function upload(
  send: typeof fetch,
  url: string,
  body: Blob,
  headers: Record<string, string> = {},
): Promise<void> {
  const answer = await send(url, { method: 'PUT', body, headers }).catch(() => undefined);
  await answer?.body?.cancel();
  if (answer?.ok === true) return;
  // The address is a secret for as long as it lasts: it is not repeated.
  if (answer?.status === 403) {
    const advice =
      'Create a new publish intent: an upload address is valid for minutes, and only for the digest named in the intent.';
    throw new SigningError('auth', 'The object store refused the upload (403).', advice);
  }
  const what = answer === undefined ? 'does not answer' : `refused the upload (${answer.status})`;
  throw new SigningError('failed', `The object store ${what}.`, 'Check the network, and try again.');
}
