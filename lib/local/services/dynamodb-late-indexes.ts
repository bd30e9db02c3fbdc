import { isDeepStrictEqual } from 'node:util';
import type { Roughness } from '../wire/roughness.ts';
import { tableName, type Body } from './dynamodb-access.ts';
import { answer, parseAnswer, type Answer } from './dynamodb-answers.ts';
import { namedItem, type Item, type NamedItem } from './dynamodb-items.ts';
import { comparePositions, matchesKeyCondition, type Position } from './dynamodb-key-condition.ts';
import type { IndexSchema, TableSchemas } from './dynamodb-schemas.ts';

export type Send = (operation: string, body: Body) => Promise<Answer>;

/** Longer than whoever lists at once what was just written needs to ask. */
export const LATE_MS = 100;

/** A write that the indexes of its table have not seen yet. */
interface LateWrite extends NamedItem {
  /** The item as they still show it, if it was there. */
  old: Item | undefined;
  untilMs: number;
}

/** What changes the rows of a page, or counts them before they are chosen: then old attributes cannot be shown. */
const reshaping = ['FilterExpression', 'QueryFilter', 'ProjectionExpression', 'AttributesToGet', 'Select'];

/**
 * A global index follows its table after a moment. Until then it lacks an item that was put there, shows the
 * attributes an item had before, and still has one that is gone.
 */
export class LateIndexes {
  #writes = new Map<string, LateWrite>();
  #schemas: TableSchemas;
  #happens: Roughness;
  #nowMs: () => number;

  constructor(schemas: TableSchemas, happens: Roughness, nowMs: () => number) {
    this.#schemas = schemas;
    this.#happens = happens;
    this.#nowMs = nowMs;
  }

  /** Whether there is a write that some index does not show yet. */
  get isBehind(): boolean {
    this.#catchUp();
    return this.#writes.size > 0;
  }

  /** Writes items, some of which the indexes will show late. */
  async write(items: NamedItem[], send: Send, write: () => Promise<Answer>): Promise<Answer> {
    const late = items.filter(({ table }) => this.#isFollowed(table) && this.#happens('late'));
    const before = late.length === 0 ? new Map<string, Item>() : await this.#read(late, send);
    const given = await write();
    if (given.status === 200) for (const item of late) this.#remember(item, before.get(item.name));
    return given;
  }

  async query(body: Body, send: Send): Promise<Answer> {
    const table = tableName(body);
    const index = this.#schemas.of(table)?.indexes.get(String(body['IndexName']));
    if (!index?.isGlobal) return send('Query', body);
    const late = this.#lateIn(table);
    if (late.size === 0) return send('Query', body);
    const isPlain =
      index.isWhole && 'KeyConditionExpression' in body && !reshaping.some((name) => name in body);
    return isPlain ? this.#asBefore(body, index, late, send) : this.#without(body, index, late, send);
  }

  /** Without what came to its place late; anything else as it is now. */
  async #without(body: Body, index: IndexSchema, late: Map<string, LateWrite>, send: Send): Promise<Answer> {
    const given = await send('Query', body);
    if (given.status !== 200) return given;
    const { Items, ...rest } = parseAnswer(given) as Page;
    if (Items === undefined) return given;
    const table = tableName(body);
    const shown = Items.filter((item) => {
      const write = late.get(namedItem(table, item, this.#schemas).name);
      return write === undefined || isSamePlace(index, write.old, item);
    });
    return answer({ ...rest, Items: shown, Count: shown.length });
  }

  /** As the index was before the late writes: page by page until it is as long as one may be. */
  async #asBefore(body: Body, index: IndexSchema, late: Map<string, LateWrite>, send: Send): Promise<Answer> {
    const table = tableName(body);
    const most = typeof body['Limit'] === 'number' ? body['Limit'] : undefined;
    const items: Item[] = [];
    let page: Page = { LastEvaluatedKey: body['ExclusiveStartKey'] as Item | undefined };
    do {
      const given = await send('Query', { ...body, ExclusiveStartKey: page.LastEvaluatedKey });
      if (given.status !== 200) return given;
      page = parseAnswer(given);
      const isOnTime = (item: Item) => !late.has(namedItem(table, item, this.#schemas).name);
      items.push(...(page.Items ?? []).filter(isOnTime));
    } while (page.LastEvaluatedKey && most !== undefined && items.length < most);

    const keyNames = [...index.keys, ...(this.#schemas.of(table)?.keys ?? [])];
    const positionOf = (item: Item): Position => keyNames.map((name) => item[name] ?? {});
    const direction = body['ScanIndexForward'] === false ? -1 : 1;
    const compare = (a: Item, b: Item) => direction * comparePositions(positionOf(a), positionOf(b));
    const from = body['ExclusiveStartKey'] as Item | undefined;
    const to = page.LastEvaluatedKey;
    for (const { old } of late.values()) {
      if (old === undefined || !index.keys.every((name) => name in old)) continue;
      if (!matchesKeyCondition(body, old)) continue;
      if ((from && compare(old, from) <= 0) || (to && compare(old, to) > 0)) continue;
      const after = items.findIndex((item) => compare(item, old) > 0);
      items.splice(after === -1 ? items.length : after, 0, old);
    }
    const shown = items.slice(0, most);
    const last = shown.at(-1);
    const isCut = last !== undefined && shown.length < items.length;
    const LastEvaluatedKey = isCut ? pick(last, keyNames) : to;
    return answer({
      ...page,
      Items: shown,
      Count: shown.length,
      ScannedCount: shown.length,
      LastEvaluatedKey,
    });
  }

  #isFollowed(table: string): boolean {
    return [...(this.#schemas.of(table)?.indexes.values() ?? [])].some(({ isGlobal }) => isGlobal);
  }

  #lateIn(table: string): Map<string, LateWrite> {
    this.#catchUp();
    return new Map([...this.#writes].filter(([, write]) => write.table === table));
  }

  #catchUp(): void {
    const now = this.#nowMs();
    for (const [name, { untilMs }] of this.#writes) if (untilMs <= now) this.#writes.delete(name);
  }

  /** An item written twice is shown as it was before the first time, and then as it is: never back and forth. */
  #remember(item: NamedItem, old: Item | undefined): void {
    const earlier = this.#lateIn(item.table).get(item.name);
    this.#writes.set(item.name, { ...item, old, ...earlier, untilMs: this.#nowMs() + LATE_MS });
  }

  async #read(items: NamedItem[], send: Send): Promise<Map<string, Item>> {
    const RequestItems: Record<string, { Keys: Item[]; ConsistentRead: true }> = {};
    for (const { table, key } of items) {
      (RequestItems[table] ??= { Keys: [], ConsistentRead: true }).Keys.push(key);
    }
    const given = await send('BatchGetItem', { RequestItems });
    if (given.status !== 200) return new Map();
    const { Responses = {} } = parseAnswer(given) as { Responses?: Record<string, Item[]> };
    return new Map(
      Object.entries(Responses).flatMap(([table, found]) =>
        found.map((item) => [namedItem(table, item, this.#schemas).name, item]),
      ),
    );
  }
}

interface Page {
  Items?: Item[];
  LastEvaluatedKey?: Item;
}

const isSamePlace = (index: IndexSchema, old: Item | undefined, item: Item): boolean =>
  old !== undefined && index.keys.every((name) => isDeepStrictEqual(old[name], item[name]));

const pick = (item: Item, names: string[]): Item =>
  Object.fromEntries(names.map((name) => [name, item[name] ?? {}]));
