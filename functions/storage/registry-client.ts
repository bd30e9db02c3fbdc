// Reads what was pushed, over the distribution API. A registry may be slow, broken or somebody else's: every answer is
// bounded in time and bytes, and what has a digest is believed only after its bytes were hashed. Hosts read with it too:
// whoever calls it brings the login, and nothing here knows AWS.

import { hash } from 'node:crypto';
import * as v from 'valibot';
import { Digest } from '../platform/name.ts';
import { Refusal } from '../platform/errors.ts';
import { parseJson } from '../trust/strict-json.ts';
import type { Attachment } from '../trust/verification.ts';
import { refuse } from './problems.ts';

const MIB = 1024 * 1024;
const MANIFEST_BYTES_MAX = 4 * MIB;
const INDEX_BYTES_MAX = MIB;
const REQUEST_MS = 5_000;
/** All requests of one call together, so that its caller still gets an answer. */
const CALL_MS = 20_000;
const REDIRECTS_MAX = 3;
const PAGES_MAX = 5;
/** As many attached things as are looked at: nobody signs an image so often. */
export const REFERRERS_MAX = 50;

const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

const Referrer = v.object({ digest: v.string(), artifactType: v.optional(v.string()) });
type Referrer = v.InferOutput<typeof Referrer>;
const Index = v.object({ manifests: v.array(Referrer) });

/** Lists are written by clients: what stands there need not be a digest. */
export const isDigest = (text: string): boolean => v.is(Digest, text);

export interface RegistryReader {
  /** Nothing where there is no such thing; what it says it is, and its bytes, which have the digest. */
  manifest(digest: string): Promise<Attachment | undefined>;
  /** Whoever pushed it may have called a long blob short. */
  blob(digest: string, bytesMax: number): Promise<Uint8Array | 'too_long' | undefined>;
  /** Whether the repository has a layer or a config with this digest, of which nothing is read. */
  hasBlob(digest: string): Promise<boolean>;
  /** What says of itself that it belongs to the manifest. */
  referrers(digest: string): Promise<Referrer[]>;
}

/** Where the registry is, and what to show there. */
export interface RegistryLogin {
  /** `https://<host>`. */
  endpoint: string;
  /** The value of the header. */
  authorization: string;
}

/** One repository, for as long as one call of the API may take. */
export function readRepository(
  repository: string,
  { endpoint, authorization }: RegistryLogin,
): RegistryReader {
  const line: Line = { endpoint, authorization, deadline: AbortSignal.timeout(CALL_MS) };
  const base = `/v2/${repository}`;

  async function manifest(digest: string): Promise<Attachment | undefined> {
    const answer = await fetchWhole(line, `${base}/manifests/${digest}`, MANIFEST_BYTES_MAX);
    // Distribution 2 fails at a digest that is of a blob and not of a manifest, for which ECR has a 404.
    if (answer.status === 500 && (await hasBlob(digest))) return undefined;
    const found = unlessAbsent(answer);
    return found && { mediaType: mediaTypeOf(found), bytes: requireDigest(found.bytes, digest) };
  }

  async function blob(digest: string, bytesMax: number): Promise<Uint8Array | 'too_long' | undefined> {
    const answer = unlessAbsent(await fetchBounded(line, `${base}/blobs/${digest}`, bytesMax));
    if (!answer || answer.bytes === 'too_long') return answer && 'too_long';
    return requireDigest(answer.bytes, digest);
  }

  /** Not by HEAD, which takes a permission of its own at ECR. A redirection leads to a blob too. */
  async function hasBlob(digest: string): Promise<boolean> {
    const { status } = await fetchBounded(line, `${base}/blobs/${digest}`, 0);
    return status === 200;
  }

  /** Distribution 1.1, “Listing Referrers”: a page at a time. */
  async function referrers(digest: string): Promise<Referrer[]> {
    let found: Referrer[] = [];
    let path: string | undefined = `${base}/referrers/${digest}`;
    for (let page = 1; path !== undefined && page <= PAGES_MAX; page += 1) {
      const answer: Answer | undefined = unlessAbsent(await fetchWhole(line, path, INDEX_BYTES_MAX));
      if (!answer) return page === 1 ? taggedReferrers(digest) : found;
      const index = v.safeParse(Index, parseJson(answer.bytes), { abortEarly: true });
      if (!index.success) throw unavailable('The list of referrers is not valid.');
      found = found.concat(index.output.manifests);
      path = nextPage(answer, line.endpoint);
    }
    return found;
  }

  /**
   * “Referrers Tag Schema”: if the registry keeps no list, clients keep one under a tag. Its content may be anything;
   * only a corrupted transfer is the registry's fault.
   */
  async function taggedReferrers(digest: string): Promise<Referrer[]> {
    const tag = digest.replace(':', '-');
    // It is as long as a manifest may be, whoever made it so.
    const answer = unlessAbsent(await fetchWhole(line, `${base}/manifests/${tag}`, MANIFEST_BYTES_MAX));
    if (!answer) return [];
    requireDigest(answer.bytes, answer.headers.get('docker-content-digest') ?? 'none');
    const index = v.safeParse(Index, parseJson(answer.bytes), { abortEarly: true });
    return index.success ? index.output.manifests : [];
  }

  return { manifest, blob, hasBlob, referrers };
}

/** How one call speaks to the registry. */
interface Line extends RegistryLogin {
  deadline: AbortSignal;
}

interface Answer<Bytes = Uint8Array> {
  status: number;
  headers: Headers;
  bytes: Bytes;
}

type BoundedAnswer = Answer<Uint8Array | 'too_long'>;

/** Absence is an answer. Everything else but success is the registry's trouble or ours, and is worth another try. */
function unlessAbsent<A extends BoundedAnswer>(answer: A): A | undefined {
  if (answer.status === 404) return undefined;
  if (answer.status !== 200) throw unavailable(`The registry answered ${answer.status}.`);
  return answer;
}

/** Where no registry stores anything longer. */
async function fetchWhole(line: Line, path: string, bytesMax: number): Promise<Answer> {
  const { bytes, ...answer } = await fetchBounded(line, path, bytesMax);
  if (bytes === 'too_long') throw unavailable(`The registry answered with more than ${bytesMax} bytes.`);
  return { ...answer, bytes };
}

/** Blobs may lie elsewhere; the credential goes only where it was asked for. */
async function fetchBounded(
  { endpoint, authorization, deadline }: Line,
  path: string,
  bytesMax: number,
): Promise<BoundedAnswer> {
  const first = new URL(path, endpoint);
  const signal = AbortSignal.any([deadline, AbortSignal.timeout(REQUEST_MS)]);
  let url = first;
  try {
    for (let hops = 0; hops <= REDIRECTS_MAX; hops += 1) {
      const headers = {
        accept: MANIFEST_TYPES,
        'accept-encoding': 'identity',
        ...(url.origin === first.origin && { authorization }),
      };
      const response = await fetch(url, { redirect: 'manual', signal, headers });
      if (response.status < 300 || response.status >= 400) {
        const { status, headers } = response;
        return { status, headers, bytes: await readAtMost(response, bytesMax) };
      }
      await response.body?.cancel();
      url = redirected(url, response.headers.get('location'));
    }
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw unavailable(
      signal.aborted
        ? 'The registry took too long to answer.'
        : 'The registry did not answer or closed the connection.',
    );
  }
  throw unavailable('The registry redirects too often.');
}

function redirected(from: URL, location: string | null): URL {
  if (location === null || !URL.canParse(location, from.href))
    throw unavailable('The registry redirects without an address.');
  const to = new URL(location, from);
  if (to.protocol !== from.protocol) throw unavailable('The registry redirects to another protocol.');
  return to;
}

async function readAtMost(response: Response, bytesMax: number): Promise<Uint8Array | 'too_long'> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop closes the connection: what is too long is not read on.
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) return 'too_long';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function requireDigest(bytes: Uint8Array, digest: string): Uint8Array {
  if (`sha256:${hash('sha256', bytes)}` === digest) return bytes;
  throw unavailable('The answer does not have the requested digest.');
}

const mediaTypeOf = ({ headers }: Answer): string =>
  (headers.get('content-type') ?? '').split(';')[0]?.trim() ?? '';

/** RFC 8288: `<url>; rel="next"`; a page elsewhere would be somebody else's. */
function nextPage({ headers }: Answer, endpoint: string): string | undefined {
  const [, next] = /<([^<>]+)>\s*;\s*rel="?next"?/.exec(headers.get('link') ?? '') ?? [];
  if (next === undefined || !URL.canParse(next, endpoint)) return undefined;
  const { origin, pathname, search } = new URL(next, endpoint);
  return origin === new URL(endpoint).origin ? `${pathname}${search}` : undefined;
}

const unavailable = (detail: string): Refusal => refuse('registry.unavailable', { detail });
