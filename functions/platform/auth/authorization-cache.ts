import type { Clock } from '../clock.ts';
import { environment } from '../environment.ts';
import { readItems } from '../data/rows.ts';
import type { Key } from '../data/table.ts';

/** Revoking, disabling and removing bite within this time, tokens already issued included. */
const keptMs = (): number => Number(environment('AUTHORIZATION_CACHE_SECONDS')) * 1000;
const ENTRIES_MAX = 10_000;

interface Entry {
  item: Record<string, unknown> | undefined;
  loadedAtMs: number;
}

/**
 * What authorization knows, kept for a few seconds in a warm function, so that a call pays nothing for it. That
 * something does not exist is kept just as long: an absent thing must not be told from a foreign one by its cost.
 */
class AuthorizationCache {
  #entries = new Map<string, Entry>();

  async read(keys: Key[], now: Clock): Promise<(Record<string, unknown> | undefined)[]> {
    const nowMs = now().getTime();
    const missing = keys.filter((key) => !this.#isFresh(this.#entries.get(nameOf(key)), nowMs));
    if (missing.length > 0) await this.#load(missing, nowMs);
    return keys.map((key) => this.#entries.get(nameOf(key))?.item);
  }

  /** Whether some of this is remembered and may be out of date. */
  isRemembered(keys: Key[], now: Clock): boolean {
    return keys.some((key) => this.#isFresh(this.#entries.get(nameOf(key)), now().getTime()));
  }

  /** Makes the next read a real one. */
  forget(keys: Key[]): void {
    for (const key of keys) this.#entries.delete(nameOf(key));
  }

  /** As in a function that has just started. */
  clear(): void {
    this.#entries.clear();
  }

  #isFresh(entry: Entry | undefined, nowMs: number): boolean {
    return entry !== undefined && nowMs - entry.loadedAtMs < keptMs();
  }

  async #load(keys: Key[], loadedAtMs: number): Promise<void> {
    const items = await readItems(keys);
    if (this.#entries.size + keys.length > ENTRIES_MAX) this.#entries.clear();
    for (const [index, key] of keys.entries())
      this.#entries.set(nameOf(key), { item: items[index], loadedAtMs });
  }
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** One for the process: every request of a warm function shares it. */
export const authorizationCache = new AuthorizationCache();
