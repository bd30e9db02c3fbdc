/** The cookies of one sign-in with one server. It lasts a second, so where and until when they count is not kept. */
export class CookieJar {
  #cookies = new Map<string, string>();

  keep(response: Response): void {
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=;]+)=([^;]*)/.exec(cookie) ?? [];
      if (name === undefined || value === undefined) continue;
      if (value === '') this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }

  get header(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }
}
