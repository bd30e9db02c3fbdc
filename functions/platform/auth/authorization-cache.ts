import type { Clock } from '../clock.ts';
import { environment } from '../environment.ts';
import { readItems } from '../data/rows.ts';
import type { Key } from '../data/table.ts';

/** Revoking, disabling and removing bite within this time, tokens already issued included. */
const keptMs = (): number => Number(environment('AUTHORIZATION_CACHE_SECONDS')) * 1000;
const ENTRIES_MAX = 10_000;

type Item = Record<string, unknown> | undefined;

interface Entry {
  item: Item;
  loadedAtMs: number;
  /** Which of the reads brought it, counted from one. */
  read: number;
}

/**
 * What authorization knows, kept for a few seconds in a warm function, so that a call pays nothing for it. That
 * something does not exist is kept just as long: an absent thing must not be told from a foreign one by its cost.
 * When there is no room, the longest known is forgotten; whoever is reading holds all they asked for already.
 */
export class AuthorizationCache {
  readonly #entriesMax: number;
  readonly #entries = new Map<string, Entry>();
  #reads = 0;

  constructor(entriesMax = ENTRIES_MAX) {
    this.#entriesMax = entriesMax;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many reads there were so far. What a later one brings was not known before now. */
  get reads(): number {
    return this.#reads;
  }

  /** Nothing that was read before the read of number `after` counts as known. */
  async read(keys: Key[], now: Clock, after = 0): Promise<Item[]> {
    const nowMs = now().getTime();
    const found = new Map<string, Item>();
    const missing = new Map<string, Key>();
    for (const key of keys) {
      const name = nameOf(key);
      const entry = this.#entries.get(name);
      if (entry && entry.read > after && isFresh(entry, nowMs)) found.set(name, entry.item);
      else missing.set(name, key);
    }
    for (const [name, entry] of await this.#load(missing, nowMs)) {
      found.set(name, entry.item);
      this.#keep(name, entry);
    }
    return keys.map((key) => found.get(nameOf(key)));
  }

  /** One item as it is now, and others by the same request; these may be of any size and are not remembered. */
  async readAgain(key: Key, alongside: Key[], now: Clock): Promise<{ item: Item; others: Item[] }> {
    const wanted = new Map([key, ...alongside].map((each) => [nameOf(each), each]));
    const loaded = await this.#load(wanted, now().getTime());
    const entry = loaded.get(nameOf(key));
    if (entry) this.#keep(nameOf(key), entry);
    return { item: entry?.item, others: alongside.map((each) => loaded.get(nameOf(each))?.item) };
  }

  /** Whether some of this is remembered and may be out of date. */
  isRemembered(keys: Key[], now: Clock): boolean {
    const nowMs = now().getTime();
    return keys.some((key) => {
      const entry = this.#entries.get(nameOf(key));
      return entry !== undefined && isFresh(entry, nowMs);
    });
  }

  /** Makes the next read a real one. */
  forget(keys: Key[]): void {
    for (const key of keys) this.#entries.delete(nameOf(key));
  }

  /** As in a function that has just started. */
  clear(): void {
    this.#entries.clear();
  }

  async #load(keys: Map<string, Key>, loadedAtMs: number): Promise<Map<string, Entry>> {
    if (keys.size === 0) return new Map();
    // Counted before it begins: a read that is under way may not see what is written meanwhile.
    const read = (this.#reads += 1);
    const items = await readItems([...keys.values()]);
    return new Map([...keys.keys()].map((name, index) => [name, { item: items[index], loadedAtMs, read }]));
  }

  #keep(name: string, entry: Entry): void {
    // Of two reads at once, the one that began later knows better, whichever is answered first.
    if ((this.#entries.get(name)?.read ?? 0) > entry.read) return;
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    const [longestKnown] = this.#entries.keys();
    if (this.#entries.size > this.#entriesMax && longestKnown !== undefined)
      this.#entries.delete(longestKnown);
  }
}

const isFresh = ({ loadedAtMs }: Entry, nowMs: number): boolean => nowMs - loadedAtMs < keptMs();

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** One for the process: every request of a warm function shares it. */
export const authorizationCache = new AuthorizationCache();
