import {
  FILE_MEDIA_TYPE,
  type FileAsked,
  requireDigestible,
  requireFileSize,
  requireOwnSource,
  requireRecent,
  requireSameDigest,
} from './file.ts';
import type { FoundFile } from './stored-content.ts';
import { digestObject, headObject } from '../storage/object-store.ts';
import { fileUri } from '../storage/repository.ts';
import { refuse } from './problems.ts';

/**
 * The file somebody wants to register, as it lies in the store now: this version of the object and no later one. Its
 * digest is the one S3 checked at the upload, or is computed here.
 */
export async function findFile(asked: FileAsked, now: Date): Promise<FoundFile> {
  const key = requireOwnSource(asked);
  const object = await headObject(key);
  if (object === undefined) throw absent(key);
  const { versionId, sizeBytes, storedAt } = object;
  requireRecent(storedAt, now);
  requireFileSize(sizeBytes);
  if (object.digest === undefined) requireDigestible(sizeBytes);
  const digest = object.digest ?? (await digestObject(key, object));
  if (digest === undefined) throw absent(key);
  requireSameDigest(digest, asked.digest);
  return {
    source_uri: fileUri(key),
    media_type: FILE_MEDIA_TYPE,
    size_bytes: sizeBytes,
    object: { key, version_id: versionId },
  };
}

const absent = (key: string) =>
  refuse('artifact.absent', {
    detail: `No file was uploaded to ${fileUri(key)}. Upload it first. An image is registered with the artifact_kind oci.`,
  });
