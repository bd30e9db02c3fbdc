import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { say } from '../wire/say.ts';

const LOG_BYTES_MAX = 16 * 1024 * 1024;

/** One function's log file. When it grows too long it becomes `<name>.log.1` and a new one begins. */
export class FunctionLog {
  #path: string;
  #file: number | undefined;
  #bytes = 0;
  #isLosing = false;

  constructor(logDir: string, functionName: string) {
    mkdirSync(logDir, { recursive: true });
    this.#path = join(logDir, `${functionName}.log`);
  }

  /** Never throws: an invocation is not to fail for want of a log. */
  write(text: string): void {
    try {
      this.#append(text);
      this.#isLosing = false;
    } catch (error) {
      if (!this.#isLosing)
        say('functions', `${this.#path} can't be written, its lines are lost: ${(error as Error).message}`);
      this.#isLosing = true;
    }
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #append(text: string): void {
    this.#file ??= this.#open();
    // Written at once: the last words before a `kill -9` are the ones somebody will look for.
    this.#bytes += writeSync(this.#file, text.endsWith('\n') ? text : `${text}\n`);
    if (this.#bytes < LOG_BYTES_MAX) return;
    this.close();
    renameSync(this.#path, `${this.#path}.1`);
  }

  #open(): number {
    const file = openSync(this.#path, 'a');
    this.#bytes = fstatSync(file).size;
    return file;
  }
}
