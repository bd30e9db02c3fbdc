/** What must not happen to one workload twice at a time: tasks, and what the agent does by itself in the background. */
export class Locks {
  #last = new Map<string, Promise<unknown>>();
  #background = new Map<string, Set<AbortController>>();

  /** A task. What goes on or waits in the background for the same workload is ended first: the task knows better. */
  task<T>(id: string, work: () => Promise<T>): Promise<T> {
    for (const controller of this.#background.get(id) ?? []) controller.abort(new Interrupted());
    return this.#next(id, work);
  }

  /** By itself: gives way as soon as a task comes. */
  background(id: string, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const controller = new AbortController();
    const all = this.#background.get(id) ?? new Set();
    this.#background.set(id, all.add(controller));
    return this.#next(id, async () => {
      const { signal } = controller;
      try {
        if (!signal.aborted) await work(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      } finally {
        all.delete(controller);
        if (all.size === 0) this.#background.delete(id);
      }
    });
  }

  async #next<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(id);
    const turn = (async () => {
      await before?.catch(() => undefined);
      return work();
    })();
    this.#last.set(id, turn);
    try {
      return await turn;
    } finally {
      if (this.#last.get(id) === turn) this.#last.delete(id);
    }
  }
}

class Interrupted extends Error {
  constructor() {
    super('A task for the same workload has come.');
    this.name = 'Interrupted';
  }
}
