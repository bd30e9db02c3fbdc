import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

/** Two requests that change the same thing at once: one of them is asked to come again. */
const COME_AGAIN = ['request.conflict', 'idempotency.in_flight'];
const ATTEMPTS_MAX = 10;
const PAUSE_MS = 100;

/** The public API, as one person calls it. */
export class DemoApi {
  readonly #url: string;
  readonly #token: string;
  readonly #stop: AbortSignal | undefined;

  constructor(url: string, token: string, stop?: AbortSignal) {
    this.#url = url;
    this.#token = token;
    this.#stop = stop;
  }

  /** An object is sent as JSON, text as YAML. With a key of its own it is the same request at every start. */
  async send<T>(
    method: string,
    path: string,
    body?: object | string,
    key: string = randomUUID(),
  ): Promise<T> {
    for (let attempt = 1; ; attempt += 1) {
      const response = await this.#ask(method, path, body, key);
      if (response.ok) return (await response.json()) as T;
      const text = await response.text();
      if (attempt === ATTEMPTS_MAX || !COME_AGAIN.some((code) => text.includes(`"${code}"`)))
        throw failure(method, path, response.status, text);
      await wait(PAUSE_MS);
    }
  }

  /** Nothing where the platform knows of nothing. */
  async find<T>(path: string): Promise<T | undefined> {
    const response = await this.#ask('GET', path);
    if (response.status === 404) return undefined;
    if (!response.ok) throw failure('GET', path, response.status, await response.text());
    return (await response.json()) as T;
  }

  #ask(method: string, path: string, body?: object | string, key?: string): Promise<Response> {
    const media = typeof body === 'string' ? 'application/yaml' : 'application/json';
    return fetch(this.#url + path, {
      method,
      ...(this.#stop && { signal: this.#stop }),
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(method !== 'GET' && key !== undefined && { 'x-idempotency-key': key }),
        ...(body !== undefined && { 'content-type': media }),
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  }
}

function failure(method: string, path: string, status: number, text: string): Error {
  return new Error(`The demo data could not be created: ${method} ${path} answered ${status}. ${text}`);
}
