import { AwsError, type AwsRequest, type AwsResponse } from '../wire/aws.ts';
import { escapeXml, xmlAnswer } from '../wire/wire.ts';
import type { Version, VersionMarker, Versions } from './s3-versions.ts';

const KEYS_MAX = 1000;

/** ListObjects and ListObjectsV2 of a bucket that keeps versions: the latest of each object that is not deleted. */
export function listLatest({ query }: AwsRequest, bucket: string, versions: Versions): AwsResponse {
  const isSecond = query.get('list-type') === '2';
  const asked = readAsked(query);
  const token = query.get('continuation-token');
  const start = isSecond ? (query.get('start-after') ?? '') : (query.get('marker') ?? '');
  const after = token === null ? start : Buffer.from(token, 'base64').toString('utf8');
  const page = takePage(latestOf(versions.walk(bucket, asked.prefix, { key: after })), asked, after);
  const next = page.last && (page.last.prefix ?? page.last.version.key);
  const { text } = asked;
  return listing('ListBucketResult', bucket, asked, page, [
    ...(isSecond
      ? [
          element('KeyCount', String(page.items.length)),
          token !== null && element('ContinuationToken', escapeXml(token)),
          start !== '' && element('StartAfter', text(start)),
          next !== undefined && element('NextContinuationToken', Buffer.from(next).toString('base64')),
        ]
      : [element('Marker', text(start)), next !== undefined && element('NextMarker', text(next))]),
    ...page.items.map(({ prefix, version }) =>
      prefix === undefined ? element('Contents', ...aboutBytes(version, text)) : commonPrefix(prefix, text),
    ),
  ]);
}

/** ListObjectVersions. */
export function listVersions({ query }: AwsRequest, bucket: string, versions: Versions): AwsResponse {
  const asked = readAsked(query);
  const { text } = asked;
  const after: VersionMarker = {
    key: query.get('key-marker') ?? '',
    versionId: query.get('version-id-marker') ?? undefined,
  };
  if (after.versionId !== undefined && after.key === '')
    throw new AwsError('InvalidArgument', 'A version-id marker cannot be specified without a key marker.');
  const page = takePage(versions.walk(bucket, asked.prefix, after), asked, after.key);
  return listing('ListVersionsResult', bucket, asked, page, [
    element('KeyMarker', text(after.key)),
    element('VersionIdMarker', escapeXml(after.versionId ?? '')),
    page.last && element('NextKeyMarker', text(page.last.prefix ?? page.last.version.key)),
    page.last &&
      page.last.prefix === undefined &&
      element('NextVersionIdMarker', page.last.version.version_id),
    ...page.items.map(({ prefix, version }) =>
      prefix === undefined ? aboutVersion(version, text) : commonPrefix(prefix, text),
    ),
  ]);
}

interface Asked {
  prefix: string;
  delimiter: string;
  keysMax: number;
  isEncoded: boolean;
  /** As names are written in the answer: XML cannot hold every character a key may have. */
  text: (name: string) => string;
}

/** A version, or the first one of those that a common prefix stands for. */
interface Listed {
  version: Version;
  prefix?: string;
}

interface Page {
  items: Listed[];
  /** Only where there is more to list. */
  last?: Listed;
}

function readAsked(query: URLSearchParams): Asked {
  const keysMax = query.get('max-keys') ?? String(KEYS_MAX);
  if (!/^\d{1,9}$/.test(keysMax))
    throw new AwsError('InvalidArgument', 'Provided max-keys not an integer or within integer range');
  const isEncoded = query.get('encoding-type') === 'url';
  return {
    prefix: query.get('prefix') ?? '',
    delimiter: query.get('delimiter') ?? '',
    keysMax: Math.min(Number(keysMax), KEYS_MAX),
    isEncoded,
    text: (name) => (isEncoded ? encodeURIComponent(name).replaceAll('%2F', '/') : escapeXml(name)),
  };
}

function* latestOf(all: Iterable<Version>): Iterable<Version> {
  for (const version of all) if (version.is_latest === 1 && version.object !== null) yield version;
}

function takePage(all: Iterable<Version>, { prefix, delimiter, keysMax }: Asked, after: string): Page {
  const items: Listed[] = [];
  for (const version of all) {
    const end = delimiter === '' ? -1 : version.key.indexOf(delimiter, prefix.length);
    const common = end < 0 ? undefined : version.key.slice(0, end + delimiter.length);
    const last = items.at(-1);
    // Those below one prefix stand together; the last page may have ended with it.
    if (common !== undefined && (common === last?.prefix || common === after)) continue;
    if (items.length === keysMax) return { items, ...(last && { last }) };
    items.push({ version, ...(common !== undefined && { prefix: common }) });
  }
  return { items };
}

function listing(
  root: string,
  bucket: string,
  { prefix, delimiter, keysMax, isEncoded, text }: Asked,
  page: Page,
  members: (string | false | undefined)[],
): AwsResponse {
  const all = [
    element('Name', bucket),
    element('Prefix', text(prefix)),
    delimiter !== '' && element('Delimiter', text(delimiter)),
    isEncoded && element('EncodingType', 'url'),
    element('MaxKeys', String(keysMax)),
    element('IsTruncated', String(page.last !== undefined)),
    ...members,
  ];
  const xml = all.filter((member) => member !== false && member !== undefined).join('');
  return xmlAnswer(`<${root} xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${xml}</${root}>`);
}

function aboutVersion(version: Version, text: Asked['text']): string {
  const about = [
    element('VersionId', version.version_id),
    element('IsLatest', String(version.is_latest === 1)),
  ];
  if (version.object !== null) return element('Version', ...aboutBytes(version, text), ...about);
  const { key, modified_at } = version;
  return element('DeleteMarker', element('Key', text(key)), element('LastModified', modified_at), ...about);
}

function aboutBytes({ key, modified_at, etag, size }: Version, text: Asked['text']): string[] {
  return [
    element('Key', text(key)),
    element('LastModified', modified_at),
    element('ETag', escapeXml(etag)),
    element('Size', String(size)),
    element('StorageClass', 'STANDARD'),
  ];
}

function commonPrefix(prefix: string, text: Asked['text']): string {
  return element('CommonPrefixes', element('Prefix', text(prefix)));
}

/** Of what is XML already. */
function element(name: string, ...content: string[]): string {
  return `<${name}>${content.join('')}</${name}>`;
}
