import { type Limit, type BucketLevel, standingOf } from './rate-bucket.ts';

/** How many buckets are removed at a time, so that sorting them is rarely needed. */
const FORGOTTEN_SHARE = 0.1;

/**
 * The buckets of one limit, up to a maximum number. Full buckets carry no information and are removed first, then those
 * that will be full soonest: so making room hardly helps a caller, and least of all one who floods, whose bucket is
 * the furthest from full.
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
