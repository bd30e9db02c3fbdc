import { type Limit, type BucketLevel, standingOf } from './rate-bucket.ts';

/** What is forgotten at once when there are too many, so that sorting them is paid for by many newcomers. */
const FORGOTTEN_SHARE = 0.1;

/**
 * The buckets of one limit, at most so many. A bucket that is full again is worth nothing and goes first; after
 * those go the ones that would be full soonest, so that making room forgives next to nothing, and least of all to
 * whoever floods: their bucket is the one furthest from full.
 */
export class Buckets {
  readonly limit: Limit;
  readonly #countMax: number;
  readonly #fullAtMs = new Map<string, number>();

  constructor(limit: Limit, countMax: number) {
    this.limit = limit;
    this.#countMax = countMax;
  }

  get count(): number {
    return this.#fullAtMs.size;
  }

  look(caller: string, nowMs: number): BucketLevel {
    return standingOf(this.limit, this.#fullAtMs.get(caller), nowMs);
  }

  spend(caller: string, { fullAtMs }: BucketLevel, nowMs: number): void {
    if (this.#fullAtMs.size >= this.#countMax && !this.#fullAtMs.has(caller)) this.#makeRoom(nowMs);
    this.#fullAtMs.set(caller, fullAtMs);
  }

  #makeRoom(nowMs: number): void {
    const soonestFirst = [...this.#fullAtMs].sort(([, a], [, b]) => a - b);
    const forgotten = Math.ceil(this.#countMax * FORGOTTEN_SHARE);
    for (const [index, [caller, fullAtMs]] of soonestFirst.entries()) {
      if (index >= forgotten && fullAtMs > nowMs) break;
      this.#fullAtMs.delete(caller);
    }
  }
}
