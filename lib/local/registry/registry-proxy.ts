import { createHash } from 'node:crypto';
import {
  Agent,
  createServer,
  request as forward,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { RegistryTokens } from './registry-tokens.ts';
import { repositoryNotFound } from './ecr-input.ts';
import { isFixedTag, type Repositories } from './ecr-repositories.ts';

const MANIFEST_BYTES_MAX = 4 * 1024 * 1024;

export interface RegistryProxyOptions {
  registryPort: number;
  tokens: RegistryTokens;
  repositories: Repositories;
}

/**
 * Stands in front of the registry for the three things ECR does and docker-registry can't:
 *
 * - Tags of an immutable repository stay where they point, but for those it excludes. The registry has no such
 *   setting and its token speaks of repositories, not tags, so the one request that moves a tag is held here until it
 *   is known to be harmless. Moves of one tag wait for each other.
 * - A caller may push without being allowed to pull. The registry insists on both for every upload request,
 *   so such a request gets a token with both, for itself alone; the client never holds one.
 * - A repository exists only if it was created, and of one that does not it says so to everybody who is logged in.
 *
 * Everything else, blobs above all, streams through untouched, and the registry decides.
 */
export function createRegistryProxy(options: RegistryProxyOptions): Server {
  const proxy = new RegistryProxy(options);
  const server = createServer((request, response) => {
    proxy.serve(request, response).catch(() => {
      const message = 'The registry is not answering; try again in a moment.';
      if (response.headersSent) response.destroy();
      else refuse(response, 503, 'UNAVAILABLE', message, { 'retry-after': '1' });
    });
  });
  // A layer may take longer to upload than Node grants a request by default.
  server.requestTimeout = 0;
  return server;
}

class RegistryProxy {
  #options: RegistryProxyOptions;
  #agent = new Agent({ keepAlive: true });
  #tagMoves = new Map<string, Promise<void>>();

  constructor(options: RegistryProxyOptions) {
    this.#options = options;
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // HTTP allows a whole URL here, which the registry would follow and `readTarget` would not.
    if (request.url?.startsWith('/') !== true) return refuse(response, 400, 'UNSUPPORTED', 'Send a path.');
    const target = readTarget(request.url);
    const headers = { ...request.headers };
    const caller = target && (await this.#options.tokens.read(request.headers.authorization));
    if (target !== undefined && caller !== undefined) {
      const repository = this.#options.repositories.get(target.repository);
      if (repository === undefined) {
        return refuse(response, 404, 'NAME_UNKNOWN', repositoryNotFound(target.repository).message);
      }
      const actions = caller.access.get(target.repository) ?? [];
      if (UPLOAD_METHODS.has(request.method ?? '') && actions.includes('push')) {
        if (!actions.includes('pull')) {
          const access = new Map(caller.access).set(target.repository, [...actions, 'pull']);
          headers.authorization = `Bearer ${await this.#options.tokens.mint(access, caller.subject)}`;
        }
        if (request.method === 'PUT' && target.tag !== undefined && isFixedTag(repository, target.tag)) {
          return this.#putImmutableTag(request, response, headers, target.repository, target.tag);
        }
      }
    }
    await this.#send(request, response, headers, request);
  }

  async #putImmutableTag(
    request: IncomingMessage,
    response: ServerResponse,
    headers: IncomingMessage['headers'],
    repository: string,
    tag: string,
  ): Promise<void> {
    const manifest = await readAll(request, MANIFEST_BYTES_MAX);
    if (manifest === undefined) {
      return refuse(response, 413, 'SIZE_INVALID', `A manifest has at most ${MANIFEST_BYTES_MAX} bytes.`);
    }
    await this.#oneAtATime(`${repository}:${tag}`, async () => {
      const existing = await this.#digestOf(repository, tag);
      if (existing !== undefined && existing !== digest(manifest)) {
        const message = `The image tag '${tag}' already exists in the '${repository}' repository and cannot be overwritten because the repository is immutable.`;
        return refuse(response, 400, 'TAG_INVALID', message);
      }
      await this.#send(request, response, headers, manifest);
    });
  }

  async #digestOf(repository: string, tag: string): Promise<string | undefined> {
    const token = await this.#options.tokens.mint(new Map([[repository, ['pull']]]), 'registry-proxy');
    const answer = await fetch(
      `http://127.0.0.1:${this.#options.registryPort}/v2/${repository}/manifests/${tag}`,
      {
        method: 'HEAD',
        headers: { authorization: `Bearer ${token}`, accept: MANIFEST_TYPES.join(',') },
      },
    );
    if (answer.status === 404) return undefined;
    const existing = answer.headers.get('docker-content-digest');
    if (answer.status !== 200 || existing === null) {
      throw new Error(`The registry answered ${answer.status} when asked for ${repository}:${tag}.`);
    }
    return existing;
  }

  #send(
    request: IncomingMessage,
    response: ServerResponse,
    headers: IncomingMessage['headers'],
    body: IncomingMessage | Buffer,
  ): Promise<void> {
    const upstream = forward({
      host: '127.0.0.1',
      port: this.#options.registryPort,
      method: request.method,
      path: request.url,
      headers: Buffer.isBuffer(body) ? withLength(headers, body.length) : headers,
      agent: this.#agent,
    });
    response.once('close', () => upstream.destroy());
    return new Promise((resolve, reject) => {
      upstream.on('error', reject);
      upstream.once('response', (answer) => {
        // The registry may refuse before it has read the body: then its answer counts, not the broken pipe.
        upstream.off('error', reject).on('error', () => undefined);
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        pipeline(answer, response).then(resolve, reject);
      });
      if (Buffer.isBuffer(body)) upstream.end(body);
      else body.pipe(upstream);
    });
  }

  async #oneAtATime(tag: string, move: () => Promise<void>): Promise<void> {
    const before = this.#tagMoves.get(tag) ?? Promise.resolve();
    const mine = before.then(move);
    const settled = mine.catch(() => undefined);
    this.#tagMoves.set(tag, settled);
    await mine.finally(() => {
      if (this.#tagMoves.get(tag) === settled) this.#tagMoves.delete(tag);
    });
  }
}

export const MANIFEST_TYPES = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

/** Uploads, and the HEAD by which a client asks whether an upload is needed at all. */
const UPLOAD_METHODS = new Set(['HEAD', 'POST', 'PATCH', 'PUT']);

/** The registry matches the path after decoding it, so it is decoded here too. */
function readTarget(url: string): { repository: string; tag?: string } | undefined {
  const [encoded = ''] = url.split('?');
  let path: string;
  try {
    path = decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
  const [, repository, kind, rest] = /^\/v2\/(.+)\/(manifests|blobs)\/(.*)$/.exec(path) ?? [];
  if (repository === undefined || rest === undefined) return undefined;
  return kind === 'manifests' && !rest.includes(':') ? { repository, tag: rest } : { repository };
}

function digest(manifest: Buffer): string {
  return `sha256:${createHash('sha256').update(manifest).digest('hex')}`;
}

function withLength(headers: IncomingMessage['headers'], length: number): IncomingMessage['headers'] {
  const { 'transfer-encoding': _, ...rest } = headers;
  return { ...rest, 'content-length': String(length) };
}

async function readAll(request: IncomingMessage, bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ errors: [{ code, message }] }));
}
