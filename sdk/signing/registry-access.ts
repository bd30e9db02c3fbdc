// A client of an OCI registry (distribution-spec 1.1) that pushes what belongs to an image.

import { setTimeout as wait } from 'node:timers/promises';
import type { Descriptor } from './notation.ts';
import { digestOf, INDEX_TYPE, MANIFEST_TYPE } from './oci.ts';
import { SigningError } from './signing-error.ts';

export interface RegistryAccess {
  /** What a tag or digest stands for; nothing when the registry has no such manifest. */
  headManifest(repository: string, reference: string): Promise<Descriptor | undefined>;
  /** Its bytes, of which the digest was checked; nothing when the registry has no such manifest. */
  getManifest(repository: string, reference: string): Promise<Buffer | undefined>;
  /** Whether the repository has a layer or a config with this digest. */
  hasBlob(repository: string, digest: string): Promise<boolean>;
  pushBlob(repository: string, bytes: Buffer): Promise<void>;
  /** Tells whether the registry lists it by itself with what it is about. */
  putManifest(
    repository: string,
    reference: string,
    manifest: { mediaType: string; bytes: Buffer },
  ): Promise<{ isListed: boolean }>;
}

export interface RegistryOptions {
  /** `registry.example.com`, `127.0.0.1:5000`. */
  host: string;
  credentials?: { username: string; password: string };
  fetch?: typeof fetch;
  /** How long to wait before the second and the third try. */
  retryMs?: number;
}

const ATTEMPTS_MAX = 3;
const RETRY_MS = 500;
const RETRY_AFTER_MS_MAX = 10_000;
const ANSWER_MS_MAX = 30_000;
/** The distribution specification lets a registry refuse larger ones. */
const MANIFEST_BYTES_MAX = 4 * 1024 * 1024;

const MANIFEST_TYPES = [
  MANIFEST_TYPE,
  INDEX_TYPE,
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
];

const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])(?::\d+)?$/;

interface Call {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  url: string;
  repository: string;
  headers?: Record<string, string>;
  body?: Buffer;
}

export function openRegistry(options: RegistryOptions): RegistryAccess {
  const client = new RegistryClient(options);
  const at = (repository: string, rest: string) => `${client.base}/v2/${repository}/${rest}`;
  const accept = MANIFEST_TYPES.join(', ');

  async function hasBlob(repository: string, digest: string): Promise<boolean> {
    const url = at(repository, `blobs/${digest}`);
    return (await client.call({ method: 'HEAD', url, repository })).status === 200;
  }

  return {
    hasBlob,

    async headManifest(repository, reference) {
      const url = at(repository, `manifests/${reference}`);
      const answer = await client.call({ method: 'HEAD', url, repository, headers: { accept } });
      if (answer.status === 404) return undefined;
      // Distribution 2 fails at a digest that is of a blob and not of a manifest.
      if (answer.status === 500 && (await hasBlob(repository, reference))) return undefined;
      await client.expect(answer, [200], `look at ${repository}@${reference}`);
      return readDescriptor(answer, reference);
    },

    async getManifest(repository, reference) {
      const url = at(repository, `manifests/${reference}`);
      const answer = await client.call({ method: 'GET', url, repository, headers: { accept } });
      if (answer.status === 404) return undefined;
      await client.expect(answer, [200], `read ${repository}@${reference}`);
      const bytes = await readBounded(answer, MANIFEST_BYTES_MAX);
      const stated = reference.includes(':') ? reference : answer.headers.get('docker-content-digest');
      if (stated !== null && stated !== digestOf(bytes)) {
        throw wrongAnswer(`sent content for ${reference} that does not match its digest`);
      }
      return bytes;
    },

    async pushBlob(repository, bytes) {
      const digest = digestOf(bytes);
      if (await hasBlob(repository, digest)) return;
      const what = `push a blob to ${repository}`;
      const begun = await client.call({ method: 'POST', url: at(repository, 'blobs/uploads/'), repository });
      await client.expect(begun, [202], what);
      const location = new URL(begun.headers.get('location') ?? '', client.base);
      location.searchParams.set('digest', digest);
      const headers = { 'content-type': 'application/octet-stream' };
      const put = await client.call({ method: 'PUT', url: location.href, repository, headers, body: bytes });
      await client.expect(put, [201], what);
    },

    async putManifest(repository, reference, { mediaType, bytes }) {
      const url = at(repository, `manifests/${reference}`);
      const headers = { 'content-type': mediaType };
      const answer = await client.call({ method: 'PUT', url, repository, headers, body: bytes });
      await client.expect(answer, [201], `push ${repository}@${reference}`);
      return { isListed: answer.headers.has('oci-subject') };
    },
  };
}

class RegistryClient {
  readonly base: string;
  #options: RegistryOptions;
  /** What the registry asked for, by repository: tokens are for one alone. */
  #authorizations = new Map<string, string>();

  constructor(options: RegistryOptions) {
    this.#options = options;
    this.base = `${LOOPBACK.test(options.host) ? 'http' : 'https'}://${options.host}`;
  }

  /** Answers a challenge once: credentials that were refused stay refused. */
  async call(call: Call): Promise<Response> {
    const answer = await this.#try(call);
    if (answer.status !== 401) return answer;
    await answer.body?.cancel();
    const authorization = await this.#authorize(
      answer.headers.get('www-authenticate') ?? '',
      call.repository,
    );
    if (authorization === undefined) return answer;
    this.#authorizations.set(call.repository, authorization);
    return this.#try(call);
  }

  async expect(answer: Response, statuses: number[], what: string): Promise<void> {
    if (statuses.includes(answer.status)) return;
    throw refusalOf(answer.status, await readErrors(answer), what, this.#options);
  }

  /** A registry that is busy or restarting is asked again; whatever it decided stands. */
  async #try({ method, url, repository, headers, body }: Call): Promise<Response> {
    // An upload may go to another host, which has no business with the token.
    const isOwn = new URL(url).origin === new URL(this.base).origin;
    const authorization = isOwn ? this.#authorizations.get(repository) : undefined;
    return this.#retried(url, {
      method,
      body: body && new Uint8Array(body),
      headers: { ...headers, ...(authorization !== undefined && { authorization }) },
      redirect: method === 'GET' || method === 'HEAD' ? 'follow' : 'error',
    });
  }

  async #retried(url: string, init: RequestInit): Promise<Response> {
    const { fetch: send = fetch, retryMs = RETRY_MS, host } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const signal = AbortSignal.timeout(ANSWER_MS_MAX);
      const answer = await send(url, { ...init, signal }).catch((error: unknown) => error);
      if (answer instanceof Response && ![429, 502, 503, 504].includes(answer.status)) return answer;
      if (attempt === ATTEMPTS_MAX) {
        if (answer instanceof Response) return answer;
        throw new SigningError(
          'failed',
          `The registry at ${host} does not answer.`,
          'Check its address and the network, and try again.',
        );
      }
      await wait(pauseMs(answer, retryMs * attempt));
    }
  }

  /** distribution-spec and the token specification of the distribution project: Bearer by way of a realm, or Basic. */
  async #authorize(challenge: string, repository: string): Promise<string | undefined> {
    const { credentials } = this.#options;
    const basic =
      credentials &&
      `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
    if (/^basic\b/i.test(challenge)) return basic;
    const realm = /\brealm="([^"]+)"/i.exec(challenge)?.[1];
    if (!/^bearer\b/i.test(challenge) || realm === undefined) return undefined;
    const url = new URL(realm);
    if (url.protocol !== 'https:' && !LOOPBACK.test(url.host)) {
      throw wrongAnswer(`asks for the password to be sent unencrypted to ${url.host}`);
    }
    const service = /\bservice="([^"]+)"/i.exec(challenge)?.[1];
    if (service !== undefined) url.searchParams.set('service', service);
    url.searchParams.set('scope', `repository:${repository}:pull,push`);
    const answer = await this.#retried(url.href, {
      headers: basic === undefined ? {} : { authorization: basic },
      redirect: 'error',
    });
    await this.expect(answer, [200], `log in for ${repository}`);
    const { token, access_token } = (await answer.json()) as { token?: string; access_token?: string };
    return `Bearer ${token ?? access_token ?? ''}`;
  }
}

/** As long as the registry asks for, within reason; and never all who wait at the same moment. */
function pauseMs(answer: unknown, baseMs: number): number {
  const seconds = answer instanceof Response ? Number(answer.headers.get('retry-after') ?? 0) : 0;
  const asked = Number.isFinite(seconds) ? seconds * 1000 : 0;
  return Math.min(Math.max(asked, baseMs * (0.5 + Math.random())), RETRY_AFTER_MS_MAX);
}

function readDescriptor(answer: Response, reference: string): Descriptor {
  const mediaType = answer.headers.get('content-type')?.split(';')[0];
  const digest = answer.headers.get('docker-content-digest') ?? reference;
  const size = Number(answer.headers.get('content-length') ?? Number.NaN);
  if (
    mediaType === undefined ||
    !Number.isInteger(size) ||
    (reference.includes(':') && digest !== reference)
  ) {
    throw wrongAnswer(`did not describe ${reference} correctly`);
  }
  return { mediaType, digest, size };
}

async function readBounded(answer: Response, bytesMax: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > bytesMax) throw wrongAnswer(`sent more than ${bytesMax} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** distribution-spec, "Error Codes"; whatever else a registry says is not repeated. */
async function readErrors(answer: Response): Promise<{ code: string; message: string }[]> {
  const text = await readBounded(answer, MANIFEST_BYTES_MAX).catch(() => Buffer.alloc(0));
  try {
    const { errors } = JSON.parse(text.toString('utf8')) as { errors: { code: string; message: string }[] };
    return errors;
  } catch {
    return [];
  }
}

const wrongAnswer = (what: string): SigningError =>
  new SigningError(
    'failed',
    `The registry ${what}.`,
    'Check the address of the registry; nothing was signed.',
  );

function refusalOf(
  status: number,
  errors: { code: string; message: string }[],
  what: string,
  { host, credentials }: RegistryOptions,
): SigningError {
  const reason = errors.map(({ message }) => message).join(' ');
  const told = `The registry at ${host} refused to ${what} (${status}${reason && `: ${reason}`}).`;
  if (errors.some(({ code }) => code === 'TAG_INVALID') || status === 409) {
    return new SigningError('conflict', told, 'The tag already exists and cannot be moved.');
  }
  // ECR answers 400 to a password that is none of its own, and to HEAD it gives no reason.
  const isDenied = status === 400 && errors.every(({ code }) => code === 'DENIED');
  if (status === 401 || status === 403 || isDenied) {
    const advice =
      credentials === undefined
        ? 'Give --registry-user and the password on standard input.'
        : 'Unwrap a new publish credential: a credential is valid for minutes and for one repository.';
    return new SigningError('auth', told, advice);
  }
  if (status === 404) {
    return new SigningError('not_found', told, 'Check the repository, and push the image before signing it.');
  }
  return new SigningError(
    'failed',
    told,
    'Try again; if it keeps failing, ask the operator of the registry.',
  );
}
