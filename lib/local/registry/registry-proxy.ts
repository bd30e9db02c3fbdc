import { createHash } from 'node:crypto';
import {
  Agent,
  createServer,
  request as send,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { pipeline } from 'node:stream/promises';
import { forward, type EngineAddress } from '../wire/forward.ts';
import type { RegistryTokens } from './registry-tokens.ts';
import { repositoryNotFound } from './ecr-input.ts';
import { readCall } from './registry-calls.ts';
import { isFixedTag, type Repositories } from './ecr-repositories.ts';

const ANSWER_SECONDS_MAX = 30;
const MANIFEST_BYTES_MAX = 4 * 1024 * 1024;

export interface RegistryProxyOptions {
  registry: EngineAddress;
  tokens: RegistryTokens;
  repositories: Repositories;
}

/**
 * Stands in front of the registry for what ECR does and docker-registry can't:
 *
 * - Clients send ECR's password with every request, and IAM decides about each: ECR's permissions are finer than the
 *   pull and push of a registry's token. Whoever may push need not be able to read a layer.
 * - A repository exists only if it was created.
 * - Tags of an immutable repository stay where they point, but for those it excludes. The registry has no such
 *   setting and its token speaks of repositories, not tags, so the one request that moves a tag is held here until it
 *   is known to be harmless. Moves of one tag wait for each other.
 * - No layer is mounted out of another repository unless the account asks for that: the client uploads it instead.
 *
 * Everything else, blobs above all, streams through untouched.
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
  #agent: Agent;
  #tagMoves = new Map<string, Promise<void>>();

  constructor(options: RegistryProxyOptions) {
    this.#options = options;
    this.#agent = options.registry.agent ?? new Agent({ keepAlive: true });
  }

  async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { tokens, repositories } = this.#options;
    // HTTP allows a whole URL here, which the registry would follow and `decoded` would not.
    if (request.url?.startsWith('/') !== true) return refuse(response, 400, 'UNSUPPORTED', 'Send a path.');
    const path = decoded(request.url);
    const caller = tokens.whoSends(request.headers.authorization);
    if (caller === 'nobody') return challenge(request, response);
    if (caller === 'wrong') return refuse(response, 400, 'DENIED', 'Your authorization token is not valid.');
    if (caller === 'expired') return refuse(response, 403, 'DENIED', EXPIRED);
    if (path === '/v2/' || path === '/v2') return void response.writeHead(200, API_VERSION).end();

    const call = readCall(request.method ?? '', path ?? '', hasBody(request));
    if (call === 'unknown_path')
      return refuse(response, 404, 'UNSUPPORTED', 'There is nothing at this path.');
    if (call === 'unknown_method')
      return refuse(response, 405, 'UNSUPPORTED', 'The operation is unsupported.');
    const denied = tokens.reasonToDeny(caller, call);
    if (denied !== undefined) return refuse(response, 403, 'DENIED', denied);
    const repository = repositories.get(call.repository);
    if (repository === undefined)
      return refuse(response, 404, 'NAME_UNKNOWN', repositoryNotFound(call.repository).message);

    const headers = { ...request.headers, authorization: await tokens.authorizationFor(call.repository) };
    if (call.tag !== undefined && isFixedTag(repository, call.tag))
      return this.#putImmutableTag(request, response, headers, call.repository, call.tag);
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
    const authorization = await this.#options.tokens.authorizationFor(repository);
    const answer = await forward(
      { name: 'The registry', ...this.#options.registry, secondsMax: ANSWER_SECONDS_MAX },
      {
        method: 'HEAD',
        path: `/v2/${repository}/manifests/${tag}`,
        headers: { authorization, accept: MANIFEST_TYPES.join(',') },
        body: '',
      },
    );
    if (answer.status === 404) return undefined;
    const existing = answer.headers['docker-content-digest'];
    if (answer.status !== 200 || existing === undefined) {
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
    const upstream = send(this.#options.registry.url, {
      method: request.method,
      path: withoutMount(request),
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

const API_VERSION = { 'docker-distribution-api-version': 'registry/2.0' };
const EXPIRED = 'Your authorization token has expired. Reauthenticate and try again.';

/** The registry matches the path after decoding it, so it is decoded here too. */
function decoded(url: string): string | undefined {
  const [encoded = ''] = url.split('?');
  try {
    return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';

/** What a POST has beside its path names the layer to mount; without that it begins an upload. */
const withoutMount = ({ method, url }: IncomingMessage): string | undefined =>
  method === 'POST' ? url?.split('?')[0] : url;

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

/** ECR takes the password itself with every request; there is no other server that gives tokens for it. */
function challenge({ headers: { host } }: IncomingMessage, response: ServerResponse): void {
  const realm = `Basic realm="http://${host ?? ''}/",service="ecr.amazonaws.com"`;
  response.writeHead(401, { ...API_VERSION, 'www-authenticate': realm, 'content-type': 'text/plain' });
  response.end('Not Authorized\n');
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { ...API_VERSION, 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify({ errors: [{ code, message }] }));
}
