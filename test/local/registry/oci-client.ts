import { createHash } from 'node:crypto';

export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';

export const digestOf = (content: string | Buffer): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

/** Exchanges an ECR password for a token of the registry, as docker does. */
export async function exchange(realm: string, password: string, scope?: string): Promise<Response> {
  const query = scope === undefined ? '' : `?scope=${encodeURIComponent(scope)}`;
  const authorization = `Basic ${Buffer.from(`AWS:${password}`).toString('base64')}`;
  return fetch(`${realm}${query}`, { headers: { authorization } });
}

/** A client of one repository that speaks the distribution API as plainly as can be. */
export class OciClient {
  #base: string;
  #token: string;

  constructor(registryUrl: string, repository: string, token: string) {
    this.#base = `${registryUrl}/v2/${repository}`;
    this.#token = token;
  }

  /** Asks for rights on further repositories as well, as a client does that wants to mount their layers. */
  static async login(
    registryUrl: string,
    realm: string,
    password: string,
    repository: string,
    ...others: string[]
  ): Promise<OciClient> {
    const scopes = [repository, ...others].map((name) => `repository:${name}:pull,push`);
    const answer = await exchange(realm, password, scopes.join(' '));
    const { token } = (await answer.json()) as { token: string };
    return new OciClient(registryUrl, repository, token);
  }

  call(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Response> {
    const url = path.startsWith('http') ? path : `${this.#base}${path}`;
    return fetch(url, { method, body, headers: { authorization: `Bearer ${this.#token}`, ...headers } });
  }

  async pushBlob(content: string): Promise<Response> {
    const begun = await this.call('POST', '/blobs/uploads/');
    if (begun.status !== 202) return begun;
    const location = new URL(begun.headers.get('location') ?? '', begun.url);
    location.searchParams.set('digest', digestOf(content));
    return this.call('PUT', location.href, content, { 'content-type': 'application/octet-stream' });
  }

  putManifest(reference: string, manifest: string): Promise<Response> {
    return this.call('PUT', `/manifests/${reference}`, manifest, { 'content-type': MANIFEST_TYPE });
  }

  /** An image whose digest depends on its content alone. */
  async push(tag: string, content: string): Promise<{ status: number; digest: string; answer: string }> {
    const config = JSON.stringify({
      architecture: 'amd64',
      os: 'linux',
      rootfs: { type: 'layers', diff_ids: [] },
    });
    for (const blob of [config, content]) await this.pushBlob(blob);
    const manifest = manifestOf(config, content);
    const response = await this.putManifest(tag, manifest);
    return { status: response.status, digest: digestOf(manifest), answer: await response.text() };
  }
}

function manifestOf(config: string, layer: string): string {
  const part = (mediaType: string, content: string) => ({
    mediaType,
    digest: digestOf(content),
    size: content.length,
  });
  return JSON.stringify({
    schemaVersion: 2,
    mediaType: MANIFEST_TYPE,
    config: part('application/vnd.oci.image.config.v1+json', config),
    layers: [part('application/vnd.oci.image.layer.v1.tar', layer)],
  });
}
