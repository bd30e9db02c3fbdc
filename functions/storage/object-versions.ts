// What S3 tells of the versions of objects. Rules only; nothing here asks it.

import type { ListObjectVersionsCommandOutput } from '@aws-sdk/client-s3';
import type { StoredFile } from './stored.ts';

/** Where a page ended and the next begins. */
export interface VersionMarker {
  key: string;
  versionId: string;
}

export interface ObjectVersionPage {
  files: StoredFile[];
  next?: VersionMarker;
}

type Listing = Omit<ListObjectVersionsCommandOutput, '$metadata'>;

export function readVersions(listing: Listing, prefix: string): ObjectVersionPage {
  const { DeleteMarkers = [], Versions = [], IsTruncated, NextKeyMarker, NextVersionIdMarker } = listing;
  // The mark of a deletion has no bytes.
  const marks = DeleteMarkers.map((mark) => ({ ...mark, Size: 0 }));
  const files = [...marks, ...Versions].map(({ Key, VersionId, LastModified, Size }) => ({
    key: required(Key),
    versionId: required(VersionId),
    storedAt: required(LastModified),
    sizeBytes: required(Size),
  }));
  if (files.some(({ key }) => !key.startsWith(prefix)))
    throw new Error('The listing does not match the request.');
  if (!required(IsTruncated)) return { files };
  return { files, next: { key: required(NextKeyMarker), versionId: required(NextVersionIdMarker) } };
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('The listing is incomplete.');
  return value;
}
