/**
 * Work of one subject is done one after the other, in the order it came; of different subjects at the same time, but
 * never more than so many at once.
 */
export class Lanes {
  #max: number;
  #running = 0;
  #waiting: (() => void)[] = [];
  #tails = new Map<string, Promise<void>>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Never rejects for the sake of what comes after: `work` has to answer for its own failures. */
  async run<T>(subject: string | undefined, work: () => Promise<T>): Promise<T> {
    if (subject === undefined) return this.#slot(work);
    const before = this.#tails.get(subject) ?? Promise.resolve();
    const done = before.then(() => this.#slot(work));
    const tail = done.then(ignore, ignore);
    this.#tails.set(subject, tail);
    try {
      return await done;
    } finally {
      if (this.#tails.get(subject) === tail) this.#tails.delete(subject);
    }
  }

  async #slot<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#max) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      // A slot that is waited for is handed on: nobody who comes now gets it first.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}

const ignore = (): void => {};
