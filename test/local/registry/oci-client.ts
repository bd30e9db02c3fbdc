import { createHash } from 'node:crypto';

export const MANIFEST_TYPE = 'application/vnd.oci.image.manifest.v1+json';

export const digestOf = (content: string | Buffer): string =>
  `sha256:${createHash('sha256').update(content).digest('hex')}`;

export const basic = (password: string, user = 'AWS'): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

const CONFIG = JSON.stringify({
  architecture: 'amd64',
  os: 'linux',
  rootfs: { type: 'layers', diff_ids: [] },
});

/** A client of one repository that speaks the distribution API as plainly as can be. */
export class OciClient {
  #base: string;
  #authorization: string;

  constructor(registryUrl: string, repository: string, password: string) {
    this.#base = `${registryUrl}/v2/${repository}`;
    this.#authorization = basic(password);
  }

  call(method: string, path: string, body?: string, headers: Record<string, string> = {}): Promise<Response> {
    const url = path.startsWith('http') ? path : `${this.#base}${path}`;
    return fetch(url, { method, body, headers: { authorization: this.#authorization, ...headers } });
  }

  async pushBlob(content: string): Promise<Response> {
    const begun = await this.call('POST', '/blobs/uploads/');
    if (begun.status !== 202) return begun;
    return this.call('PUT', next(begun, { digest: digestOf(content) }), content, OCTETS);
  }

  putManifest(reference: string, manifest: string): Promise<Response> {
    return this.call('PUT', `/manifests/${reference}`, manifest, { 'content-type': MANIFEST_TYPE });
  }

  /** An image whose digest depends on its content alone. */
  async push(tag: string, content: string): Promise<{ status: number; digest: string; answer: string }> {
    for (const blob of [CONFIG, content]) await this.pushBlob(blob);
    const manifest = manifestOf(CONFIG, content);
    const response = await this.putManifest(tag, manifest);
    return { status: response.status, digest: digestOf(manifest), answer: await response.text() };
  }

  /**
   * The same image as containerd and crane push it: they ask for everything before they send it, and any answer but
   * “here” and “not here” ends the push.
   */
  async pushAskingFirst(tag: string, content: string, mountFrom?: string): Promise<string> {
    const manifest = manifestOf(CONFIG, content);
    const digest = digestOf(manifest);
    await this.#isThere(`/manifests/${tag}`);
    for (const blob of [CONFIG, content]) await this.#uploadIfMissing(blob, mountFrom);
    for (const reference of [digest, tag]) {
      if (!(await this.#isThere(`/manifests/${reference}`)))
        expectStatus(await this.putManifest(reference, manifest), 201);
    }
    return digest;
  }

  async #isThere(path: string): Promise<boolean> {
    const answer = await this.call('HEAD', path, undefined, { accept: `${MANIFEST_TYPE}, */*` });
    if (answer.status !== 404) expectStatus(answer, 200);
    return answer.status === 200;
  }

  async #uploadIfMissing(content: string, mountFrom: string | undefined): Promise<void> {
    const digest = digestOf(content);
    if (await this.#isThere(`/blobs/${digest}`)) return;
    const mount = mountFrom === undefined ? '' : `?mount=${digest}&from=${encodeURIComponent(mountFrom)}`;
    const begun = await this.call('POST', `/blobs/uploads/${mount}`);
    if (begun.status === 201 && mountFrom !== undefined) return;
    expectStatus(begun, 202);
    const sent = await this.call('PATCH', next(begun), content, OCTETS);
    expectStatus(sent, 202);
    expectStatus(await this.call('PUT', next(sent, { digest })), 201);
  }
}

const OCTETS = { 'content-type': 'application/octet-stream' };

/** Where an upload goes on. */
function next(answer: Response, query: Record<string, string> = {}): string {
  const location = new URL(answer.headers.get('location') ?? '', answer.url);
  for (const [name, value] of Object.entries(query)) location.searchParams.set(name, value);
  return location.href;
}

function expectStatus({ status, url }: Response, expected: number): void {
  if (status !== expected) throw new Error(`unexpected status from ${new URL(url).pathname}: ${status}`);
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
