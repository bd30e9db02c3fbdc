import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { dynamo } from '../../functions/platform/clients.ts';
import { addTo, countIn } from '../../functions/platform/data/counters.ts';
import { commit, putNew } from '../../functions/platform/data/commit.ts';
import { queryAll, readItems, readItemsAtOnce } from '../../functions/platform/data/rows.ts';
import {
  type Item,
  type Key,
  putItem,
  putItems,
  queryPage,
  readItem,
  takeItem,
  updateItem,
} from '../../functions/platform/data/table.ts';
import { problemOf } from '../../functions/platform/http/problem.ts';
import { newId } from '../../functions/platform/ids.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

let table: ControlTable;
/** What DynamoDB answers instead, request after request. */
let trouble: () => Error | undefined = () => undefined;
/** How many of a batch DynamoDB does at a time. */
let room = Infinity;
let batches: number[] = [];
let tokens: (string | undefined)[] = [];
/** Whether a transaction happens although the answer says that it is still under way. */
let isAnswerLost = false;

interface Sent {
  RequestItems?: Record<string, { Keys: unknown[] } | unknown[]>;
  ClientRequestToken?: string;
}

beforeAll(async () => {
  table = await startControlTable({ roughness: SMOOTH });
  // Closest to the caller: the client has made its own attempts by then.
  dynamo().middlewareStack.add(
    (next) => async (args) => {
      const error = trouble();
      if (error) throw error;
      const { RequestItems, ClientRequestToken } = args.input as Sent;
      if (ClientRequestToken) tokens.push(ClientRequestToken);
      if (RequestItems) return inPart(RequestItems, (some) => next({ ...args, input: some }));
      const answer = await next(args);
      if (!isAnswerLost) return answer;
      isAnswerLost = false;
      throw awsError('TransactionInProgressException');
    },
    { step: 'initialize', name: 'busy', priority: 'high' },
  );
});
afterAll(() => table.stop());
afterEach(() => {
  trouble = () => undefined;
  room = Infinity;
  batches = [];
  tokens = [];
});

/** Does what there is room for, and hands back the rest. */
async function inPart(
  RequestItems: NonNullable<Sent['RequestItems']>,
  next: (input: Sent) => Promise<{ output: object; response: unknown }>,
) {
  const [[name, batch] = ['', []]] = Object.entries(RequestItems);
  const all = Array.isArray(batch) ? batch : batch.Keys;
  batches.push(all.length);
  const as = (some: unknown[]) => ({ [name]: Array.isArray(batch) ? some : { ...batch, Keys: some } });
  const { output, ...answer } =
    room === 0
      ? { output: { $metadata: {} }, response: {} }
      : await next({ RequestItems: as(all.slice(0, room)) });
  const rest = all.length > room ? as(all.slice(room)) : {};
  const left = Array.isArray(batch) ? { UnprocessedItems: rest } : { UnprocessedKeys: rest };
  return { ...answer, output: { ...output, ...left } } as never;
}

const awsError = (name: string, fields: object = {}) => Object.assign(new Error(name), { name, ...fields });

const cancelledFor = (Code: string) =>
  awsError('TransactionCanceledException', { CancellationReasons: [{ Code: 'None' }, { Code }] });

const times = (count: number, error: Error) => {
  let left = count;
  return () => ((left -= 1) >= 0 ? error : undefined);
};

const newItem = (): Item => ({ pk: `THING#${newId()}`, sk: 'THING' });

async function stored(): Promise<Item> {
  const item = newItem();
  await putItem(item);
  return item;
}

const whereKey = ({ pk }: Key) => ({ condition: 'pk = :pk', values: { ':pk': pk } });
const whereNew = { condition: 'attribute_not_exists(seen)', values: { ':yes': true } };

/** Everything the kit asks DynamoDB for; each answers whether it was done. */
const CALLS: Record<string, (item: Item) => Promise<boolean>> = {
  readItem: async (item) => (await readItem(item)) !== undefined,
  readItems: async (item) => (await readItems([item]))[0] !== undefined,
  readItemsAtOnce: async (item) => (await readItemsAtOnce([item]))[0] !== undefined,
  queryPage: async (item) => (await queryPage({ ...whereKey(item), limit: 1 })).items.length === 1,
  queryAll: async (item) => (await queryAll({ ...whereKey(item), max: 1 })).items.length === 1,
  putItem: async (item) => (await putItem(item), true),
  putItems: async (item) => (await putItems([item]), true),
  updateItem: (item) => updateItem(item, { update: 'SET seen = :yes', ...whereNew }),
  takeItem: async (item) => (await takeItem(item)) !== undefined,
  commit: async () => (await commit([putNew(newItem()), putNew(newItem())]), true),
};

const PASSING = [
  awsError('ThrottlingException'),
  awsError('ProvisionedThroughputExceededException'),
  awsError('RequestLimitExceeded'),
  awsError('TransactionConflictException'),
  cancelledFor('ThrottlingError'),
  cancelledFor('ProvisionedThroughputExceeded'),
];

describe('what DynamoDB is too busy for', () => {
  test.each(Object.entries(CALLS))('is asked for again: %s', async (_, call) => {
    for (const error of PASSING) {
      const item = await stored();
      trouble = times(2, error);
      expect(await call(item), error.name).toBe(true);
    }
  });

  test('for seconds is unavailable', async () => {
    const items = await Promise.all(Object.values(CALLS).map(stored));
    let refused = 0;
    trouble = () => ((refused += 1), awsError('ThrottlingException'));
    const ended = await Promise.allSettled(
      Object.values(CALLS).map((call, index) => call(items[index] ?? newItem())),
    );
    for (const each of ended) {
      const problem = each.status === 'rejected' && problemOf(each.reason, newId());
      expect(problem).toMatchObject({ status: 503, code: 'unavailable', retryable: true });
    }
    expect(refused).toBeGreaterThan(5 * items.length);
  });

  test('is not mistaken for what is wrong or refused, which is told at once', async () => {
    for (const [name, call] of Object.entries(CALLS)) {
      const item = await stored();
      const before = table.count();
      trouble = times(1, awsError('ValidationException'));
      await expect(call(item), name).rejects.toThrow('ValidationException');
      expect(table.count(), name).toBe(before);
    }
  });
});

test('items that a concurrent transaction holds are read at one moment, a moment later', async () => {
  const items = [await stored(), newItem(), await stored()];
  trouble = times(3, cancelledFor('TransactionConflict'));
  expect(await readItemsAtOnce(items)).toEqual([items[0], undefined, items[2]]);
});

describe('of a batch that DynamoDB did in part', () => {
  test('only the rest is read again', async () => {
    const items = [await stored(), newItem(), await stored(), newItem(), await stored()];
    room = 2;
    expect(await readItems(items)).toEqual([items[0], undefined, items[2], undefined, items[4]]);
    expect(batches).toEqual([5, 3, 1]);
  });

  test('only the rest is written again', async () => {
    const items = Array.from({ length: 30 }, newItem);
    room = 10;
    await putItems(items);
    expect(batches).toEqual([25, 15, 5, 5]);
    expect(await readItems(items)).toEqual(items);
  });

  test('the rest may be refused as a whole, too', async () => {
    const items = [await stored(), await stored(), await stored()];
    room = 1;
    let requests = 0;
    trouble = () => ((requests += 1) === 2 ? awsError('ThrottlingException') : undefined);
    expect(await readItems(items)).toEqual(items);
    expect(batches).toEqual([3, 2, 1]);
  });

  test('nothing is taken for absent, or for written, when there is no room for seconds', async () => {
    const items = [await stored(), await stored()];
    room = 0;
    for (const work of await Promise.allSettled([readItems(items), putItems(items)])) {
      const problem = work.status === 'rejected' && problemOf(work.reason, newId());
      expect(problem).toMatchObject({ status: 503, code: 'unavailable', retryable: true });
    }
  });
});

describe('a transaction', () => {
  test('that is sent again says that it is the same', async () => {
    await commit([putNew(newItem())]);
    isAnswerLost = true;
    await commit([putNew(newItem())]);
    const [other, token, again] = tokens;
    expect(again).toBe(token);
    expect(other).not.toBe(token);
  });

  test('happens once, however often it is sent', async () => {
    const counter = newItem();
    isAnswerLost = true;
    await commit([addTo(counter, 1)]);
    expect(tokens).toHaveLength(2);
    expect(countIn(await readItem(counter))).toBe(1);
  });
});
