import { BatchGetCommand } from '@aws-sdk/lib-dynamodb';
import { dynamo } from '../clients.ts';
import type { Clock } from '../clock.ts';
import { environment } from '../environment.ts';
import { refuse } from '../errors.ts';
import { controlTable, type Key } from '../data/table.ts';

/** Revoking, disabling and removing bite within this time, tokens already issued included. */
const keptMs = (): number => Number(environment('AUTHORIZATION_CACHE_SECONDS')) * 1000;
const FACTS_MAX = 10_000;

interface Fact {
  item: Record<string, unknown> | undefined;
  loadedAtMs: number;
}

/**
 * What authorization knows, kept for a few seconds in a warm function, so that a call pays nothing for it. That
 * something does not exist is kept just as long: an absent thing must not be told from a foreign one by its cost.
 */
export class Facts {
  #facts = new Map<string, Fact>();

  async read(keys: Key[], now: Clock): Promise<(Record<string, unknown> | undefined)[]> {
    const nowMs = now().getTime();
    const missing = keys.filter((key) => !this.#isFresh(this.#facts.get(nameOf(key)), nowMs));
    if (missing.length > 0) await this.#load(missing, nowMs);
    return keys.map((key) => this.#facts.get(nameOf(key))?.item);
  }

  /** Whether some of this is remembered and may be out of date. */
  isRemembered(keys: Key[], now: Clock): boolean {
    return keys.some((key) => this.#isFresh(this.#facts.get(nameOf(key)), now().getTime()));
  }

  /** Makes the next read a real one. */
  forget(keys: Key[]): void {
    for (const key of keys) this.#facts.delete(nameOf(key));
  }

  /** As in a function that has just started. */
  clear(): void {
    this.#facts.clear();
  }

  #isFresh(fact: Fact | undefined, nowMs: number): boolean {
    return fact !== undefined && nowMs - fact.loadedAtMs < keptMs();
  }

  async #load(keys: Key[], loadedAtMs: number): Promise<void> {
    const table = controlTable();
    const answer = await dynamo().send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys: keys, ConsistentRead: true } } }),
    );
    if (Object.keys(answer.UnprocessedKeys ?? {}).length > 0) throw refuse('unavailable');
    const items = answer.Responses?.[table] ?? [];
    if (this.#facts.size + keys.length > FACTS_MAX) this.#facts.clear();
    for (const key of keys) {
      const item = items.find((each) => each['pk'] === key.pk && each['sk'] === key.sk);
      this.#facts.set(nameOf(key), { item, loadedAtMs });
    }
  }
}

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;

/** One for the process: every request of a warm function shares it. */
export const facts = new Facts();
