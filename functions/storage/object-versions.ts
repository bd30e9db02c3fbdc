// What S3 tells of the versions of objects, read from its XML. Rules only; nothing here knows AWS's clients.

import type { StoredFile } from '../retention/garbage.ts';

/** Where a page ended and the next begins. */
export interface VersionMarker {
  key: string;
  versionId: string;
}

export interface VersionPage {
  files: StoredFile[];
  next?: VersionMarker;
}

const ENTRY = /<(Version|DeleteMarker)>(.*?)<\/\1>/gs;

/** ListObjectVersions with `encoding-type=url`, so that keys have no character XML would have to escape. */
export function readVersions(xml: string): VersionPage {
  if (!xml.includes('</ListVersionsResult>')) throw new Error('The listing is incomplete.');
  const files = [...xml.matchAll(ENTRY)].map(([, , entry = '']) => ({
    key: readKey(entry, 'Key'),
    versionId: read(entry, 'VersionId'),
    storedAt: new Date(read(entry, 'LastModified')),
    // The mark of a deletion has none.
    sizeBytes: Number(find(entry, 'Size') ?? 0),
  }));
  if (read(xml, 'IsTruncated') !== 'true') return { files };
  return { files, next: { key: readKey(xml, 'NextKeyMarker'), versionId: read(xml, 'NextVersionIdMarker') } };
}

const find = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];

function read(xml: string, name: string): string {
  const value = find(xml, name);
  if (value === undefined) throw new Error(`The listing has no ${name} where one is needed.`);
  return value;
}

/** A blank is a plus sign there, and a plus sign is encoded. */
const readKey = (xml: string, name: string): string =>
  decodeURIComponent(read(xml, name).replaceAll('+', ' '));
