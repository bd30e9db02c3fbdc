import { cancelled, fault, type Answer } from './dynamodb-answers.ts';
import type { NamedItem } from './dynamodb-items.ts';

const MESSAGE = 'Transaction is ongoing for the item';
const REASON = { Code: 'TransactionConflict', Message: MESSAGE };

/**
 * Items that are being written. As AWS documents it, whoever names an item of a write transaction that is under way,
 * be it one that is only checked there, is refused: other write transactions, single writes, and reads of several items
 * at once, which single writes hinder too. Nobody waits, and no plain read is refused.
 */
export class InFlight {
  #transactions = new Set<string>();
  #tokens = new Set<unknown>();
  /** How many single writes of an item are under way. */
  #writes = new Map<string, number>();
  #conflicts = 0;

  /** How often somebody met a transaction. */
  get conflicts(): number {
    return this.#conflicts;
  }

  async transaction(token: unknown, items: NamedItem[], send: () => Promise<Answer>): Promise<Answer> {
    if (token !== undefined && this.#tokens.has(token)) {
      return fault('TransactionInProgressException', 'The transaction with this token is in progress.');
    }
    const names = items.map(({ name }) => name);
    const refusal = this.#cancelling(names.map((name) => this.#transactions.has(name)));
    if (refusal) return refusal;
    this.#tokens.add(token);
    for (const name of names) this.#transactions.add(name);
    try {
      return await send();
    } finally {
      this.#tokens.delete(token);
      for (const name of names) this.#transactions.delete(name);
    }
  }

  /** A read of items as they are at one moment: not while one of them changes. */
  async readAtOnce(items: NamedItem[], send: () => Promise<Answer>): Promise<Answer> {
    const isMet = items.map(({ name }) => this.#transactions.has(name) || this.#writes.has(name));
    return this.#cancelling(isMet) ?? send();
  }

  async write(items: NamedItem[], send: () => Promise<Answer>): Promise<Answer> {
    const names = items.map(({ name }) => name);
    if (!names.some((name) => this.#transactions.has(name))) return this.#writing(names, send);
    this.#conflicts += 1;
    return fault('TransactionConflictException', MESSAGE);
  }

  /** Writes that have nothing to do with each other; those that meet a transaction are left out by `send`. */
  async batch(
    items: NamedItem[],
    send: (isMet: (item: NamedItem) => boolean) => Promise<Answer>,
  ): Promise<Answer> {
    const met = new Set(items.map(({ name }) => name).filter((name) => this.#transactions.has(name)));
    this.#conflicts += met.size;
    const names = items.map(({ name }) => name).filter((name) => !met.has(name));
    return this.#writing(names, () => send(({ name }) => met.has(name)));
  }

  #cancelling(isMet: boolean[]): Answer | undefined {
    if (!isMet.includes(true)) return undefined;
    this.#conflicts += 1;
    return cancelled(isMet.map((met) => (met ? REASON : undefined)));
  }

  async #writing(names: string[], send: () => Promise<Answer>): Promise<Answer> {
    for (const name of names) this.#writes.set(name, (this.#writes.get(name) ?? 0) + 1);
    try {
      return await send();
    } finally {
      for (const name of names) {
        const left = (this.#writes.get(name) ?? 0) - 1;
        if (left > 0) this.#writes.set(name, left);
        else this.#writes.delete(name);
      }
    }
  }
}
