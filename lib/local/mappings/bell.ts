import { pause } from '../lambda/pause.ts';

/** As long as a timer can wait. */
const MS_MAX = 2 ** 31 - 1;

/** Wakes who waits, and who comes to wait after it was rung. */
export class Bell {
  #isRung = false;
  #waking = new AbortController();

  ring(): void {
    this.#isRung = true;
    this.#waking.abort();
  }

  /** Until it is rung, the time is up, or the signal says that nobody cares any more. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung) await pause(Math.min(ms, MS_MAX), AbortSignal.any([signal, this.#waking.signal]));
    this.#isRung = false;
    this.#waking = new AbortController();
  }
}
