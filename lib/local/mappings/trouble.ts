import { pause } from '../lambda/pause.ts';
import { say } from '../wire/say.ts';

const DELAY_MS_MIN = 500;
const DELAY_MS_MAX = 5_000;

/** What a mapping does while its source refuses: say why once, wait ever longer, and say when it is over. */
export class Trouble {
  #name: string;
  #said: string | undefined;
  #delayMs = DELAY_MS_MIN;

  constructor(name: string) {
    this.#name = name;
  }

  async meet(error: unknown, signal: AbortSignal): Promise<void> {
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (reason !== this.#said) say('mappings', `${this.#name} failed and keeps trying. ${reason}`);
    this.#said = reason;
    await pause(this.#delayMs, signal);
    this.#delayMs = Math.min(this.#delayMs * 2, DELAY_MS_MAX);
  }

  over(): void {
    if (this.#said === undefined) return;
    say('mappings', `${this.#name} works again.`);
    this.#said = undefined;
    this.#delayMs = DELAY_MS_MIN;
  }
}
