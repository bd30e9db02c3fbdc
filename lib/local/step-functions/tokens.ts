import { randomUUID } from 'node:crypto';
import { AwsError } from '../wire/aws.ts';
import type { Json } from './asl.ts';
import { Failure } from './failure.ts';
import type { Store } from './store.ts';

export type Answer = { output: Json } | { error: string; cause?: string };

/** Task tokens: given out to be answered once, by whoever was handed one. */
export class Tokens {
  #store: Store;
  #waiting = new Map<string, () => void>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The token names its machine, so that IAM can be asked about it even when it is long spent. */
  static mint(machineArn: string): string {
    return Buffer.from(JSON.stringify([machineArn, randomUUID()])).toString('base64url');
  }

  static machineArn(token: string): string | undefined {
    try {
      const parts: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
      return Array.isArray(parts) && parts.length === 2 ? String(parts[0]) : undefined;
    } catch {
      return undefined;
    }
  }

  add(token: string, execution: string, path: string): void {
    this.#store
      .prepare('INSERT INTO sfn_tokens (token, execution, path, beatMs) VALUES (?, ?, ?, ?)')
      .run(token, execution, path, Date.now());
  }

  delete(token: string): void {
    this.#store.prepare('DELETE FROM sfn_tokens WHERE token = ?').run(token);
  }

  /** Resolves with the output, or fails as the answer says; at once when it was answered before a restart. */
  async answerTo(token: string, signal: AbortSignal): Promise<Json> {
    let answer = this.#answer(token);
    if (!answer) {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const abort = (): void => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.set(token, resolve);
      try {
        signal.throwIfAborted();
        await promise;
      } finally {
        this.#waiting.delete(token);
        signal.removeEventListener('abort', abort);
      }
      answer = this.#answer(token);
    }
    if (!answer) throw new Error('A task was woken without an answer.');
    if ('error' in answer) throw new Failure(answer.error, answer.cause);
    return answer.output;
  }

  give(token: string, answer: Answer): void {
    this.#expectOpen(token);
    this.#store
      .prepare('UPDATE sfn_tokens SET answer = ? WHERE token = ?')
      .run(JSON.stringify(answer), token);
    this.#waiting.get(token)?.();
  }

  beat(token: string): void {
    this.#expectOpen(token);
    this.#store.prepare('UPDATE sfn_tokens SET beatMs = ? WHERE token = ?').run(Date.now(), token);
  }

  isAnswered(token: string): boolean {
    return this.#answer(token) !== undefined;
  }

  lastBeatMs(token: string): number {
    const row = this.#row(token);
    if (!row) throw new Error('A task waits for a token that is not in the journal.');
    return Number(row['beatMs']);
  }

  #expectOpen(token: string): void {
    if (Tokens.machineArn(token) === undefined)
      throw new AwsError('InvalidToken', "Invalid Token: 'Invalid token'");
    const row = this.#row(token);
    if (!row || row['answer'] !== null) {
      throw new AwsError('TaskTimedOut', "Task Timed Out: 'Provided task does not exist anymore'");
    }
  }

  #answer(token: string): Answer | undefined {
    const text = this.#row(token)?.['answer'];
    return typeof text === 'string' ? (JSON.parse(text) as Answer) : undefined;
  }

  #row(token: string) {
    return this.#store.prepare('SELECT beatMs, answer FROM sfn_tokens WHERE token = ?').get(token);
  }
}
