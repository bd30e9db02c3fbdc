import { randomUUID } from 'node:crypto';

/** The public API, as one person calls it. */
export class DemoApi {
  readonly #url: string;
  readonly #token: string;

  constructor(url: string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** An object is sent as JSON, text as YAML. */
  async send<T>(method: string, path: string, body?: object | string): Promise<T> {
    const response = await this.#ask(method, path, body);
    if (!response.ok) throw await failure(method, path, response);
    return (await response.json()) as T;
  }

  /** Nothing where the platform knows of nothing. */
  async find<T>(path: string): Promise<T | undefined> {
    const response = await this.#ask('GET', path);
    if (response.status === 404) return undefined;
    if (!response.ok) throw await failure('GET', path, response);
    return (await response.json()) as T;
  }

  #ask(method: string, path: string, body?: object | string): Promise<Response> {
    const media = typeof body === 'string' ? 'application/yaml' : 'application/json';
    return fetch(this.#url + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(method !== 'GET' && { 'x-idempotency-key': randomUUID() }),
        ...(body !== undefined && { 'content-type': media }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }
}

async function failure(method: string, path: string, response: Response): Promise<Error> {
  const said = `${method} ${path} answered ${response.status}. ${await response.text()}`;
  return new Error(`The demo data could not be created: ${said}`);
}
