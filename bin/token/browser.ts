import { CookieJar } from './cookie-jar.ts';
import { NoToken } from './no-token.ts';

const REDIRECTS_MAX = 10;
const ANSWER_SECONDS_MAX = 10;

/** As much of a browser as a sign-in takes: cookies, forms, redirects. It never leaves the server it was made for. */
export class Browser {
  #origin: string;
  #cookies = new CookieJar();

  constructor(address: string) {
    this.#origin = new URL(address).origin;
  }

  /** Follows redirects until there is a page to look at, or until they lead to `exit`. */
  async visit(
    address: string,
    exit: string,
    form?: URLSearchParams,
  ): Promise<{ url: string; html: string } | { left: URL }> {
    let next = new URL(address);
    let init: RequestInit = form === undefined ? {} : { method: 'POST', body: form };
    for (let redirect = 0; redirect <= REDIRECTS_MAX; redirect++) {
      const response = await this.fetch(next.href, init);
      const location = response.headers.get('location');
      if (location === null) {
        if (!response.ok) throw new NoToken(`${next.href} answered with status ${response.status}.`);
        return { url: next.href, html: await response.text() };
      }
      await response.body?.cancel();
      next = new URL(location, next);
      if (next.href.startsWith(exit)) return { left: next };
      init = {};
    }
    throw new NoToken(`${address} redirects too often.`);
  }

  async fetch(address: string, init: RequestInit = {}): Promise<Response> {
    if (new URL(address).origin !== this.#origin)
      throw new NoToken(`The provider at ${this.#origin} redirects to ${address}, which is not allowed.`);
    try {
      const response = await fetch(address, {
        ...init,
        headers: { cookie: this.#cookies.header },
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_SECONDS_MAX * 1000),
      });
      this.#cookies.keep(response);
      return response;
    } catch (error) {
      throw new NoToken(
        `Nothing answers at ${this.#origin} (${reasonOf(error)}). Is the platform running? “npm start” starts it.`,
        { cause: error },
      );
    }
  }
}

/** fetch hides what happened in the cause. */
function reasonOf(error: unknown): string {
  const { cause = error } = error as Error;
  return cause instanceof Error ? cause.message : String(cause);
}
