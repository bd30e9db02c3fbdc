import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../functions/platform/ids.ts';
import { roughness, SMOOTH } from '../../../lib/local/wire/roughness.ts';
import { faultOf, openStrictWorld, reasonsOf, type Row, type Told } from './strict-world.ts';

let world: Awaited<ReturnType<typeof openStrictWorld>>;

beforeAll(async () => {
  world = await openStrictWorld();
});
afterAll(() => world?.close());

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'a' } });
const table = () => ({ TableName: world.TableName });
const keys = (count: number): Row[] => Array.from({ length: count }, () => key(newId()));

describe('chances', () => {
  const ask = (seed: string) => {
    const happens = roughness(seed);
    return Array.from({ length: 2000 }, () => happens('late'));
  };

  test('are the same with the same seed, and others with another', () => {
    expect(ask('7')).toEqual(ask('7'));
    expect(ask('7')).not.toEqual(ask('8'));
  });

  test('come true now and then, and never where nothing is asked for', () => {
    const often = ask('7').filter(Boolean).length;
    expect(often).toBeGreaterThan(200);
    expect(often).toBeLessThan(600);
    expect(SMOOTH('late')).toBe(false);
  });
});

describe('a request that is throttled', () => {
  const put = () => ({ Put: { ...table(), Item: key('a') } });
  const asked: [string, () => object][] = [
    ['GetItem', () => ({ ...table(), Key: key('a') })],
    ['PutItem', () => put().Put],
    [
      'Query',
      () => ({
        ...table(),
        KeyConditionExpression: 'pk = :pk',
        ExpressionAttributeValues: { ':pk': { S: 'a' } },
      }),
    ],
    ['Scan', () => table()],
    ['BatchGetItem', () => ({ RequestItems: { [world.TableName]: { Keys: [key('a')] } } })],
    ['TransactWriteItems', () => ({ TransactItems: [put()], ClientRequestToken: newId() })],
  ];

  test.each(asked)('is told so by an error that SDKs know: %s', async (operation, body) => {
    const throttled = await world.openWith('throttled').ask(operation, { ...body() });
    const exceeded = await world.openWith('throttled', 'exceeded').ask(operation, { ...body() });
    expect([throttled, exceeded].map(faultOf)).toEqual([
      'ThrottlingException',
      'ProvisionedThroughputExceededException',
    ]);
  });

  test('may be a transaction that is cancelled with ThrottlingError', async () => {
    const TransactItems = [put(), { Put: { ...table(), Item: key('b') } }];
    const told = await world.openWith('throttled', 'cancelled').ask('TransactWriteItems', { TransactItems });
    expect(faultOf(told)).toBe('TransactionCanceledException');
    expect(reasonsOf(told)).toEqual(['None', 'ThrottlingError']);
  });

  test('did nothing', async () => {
    const Key = key(newId());
    await world.openWith('throttled').ask('PutItem', { ...table(), Item: Key });
    expect(await world.open().ask('GetItem', { ...table(), Key, ConsistentRead: true })).toEqual({
      status: 200,
    });
  });
});

describe('a batch that is answered in part', () => {
  const read = (Keys: Row[]) => ({ RequestItems: { [world.TableName]: { Keys, ConsistentRead: true } } });
  const write = (items: Row[]) => ({
    RequestItems: { [world.TableName]: items.map((Item) => ({ PutRequest: { Item } })) },
  });
  const found = ({ Responses }: Told) => Responses?.[world.TableName] ?? [];

  test('tells which keys it left, and they are read when they are asked for again', async () => {
    const all = keys(5);
    const rough = world.openWith('unprocessed');
    await world.open().ask('BatchWriteItem', write(all));
    const told = await rough.ask('BatchGetItem', read(all));
    expect(told.UnprocessedKeys).toEqual({ [world.TableName]: { Keys: all.slice(4), ConsistentRead: true } });
    const rest = await rough.ask('BatchGetItem', { RequestItems: told.UnprocessedKeys });
    expect(rest.UnprocessedKeys ?? {}).toEqual({});
    expect([...found(told), ...found(rest)]).toHaveLength(5);
  });

  test('never leaves all of it', async () => {
    const told = await world.openWith('unprocessed', 'left').ask('BatchGetItem', read(keys(5)));
    expect(told.UnprocessedKeys?.[world.TableName]?.Keys).toHaveLength(4);
  });

  test('tells which items it did not write', async () => {
    const all = keys(3);
    const told = await world.openWith('unprocessed').ask('BatchWriteItem', write(all));
    expect(told.UnprocessedItems).toEqual({ [world.TableName]: [{ PutRequest: { Item: all[2] } }] });
    expect(found(await world.open().ask('BatchGetItem', read(all)))).toHaveLength(2);
  });
});

describe('an index that is late', () => {
  const row = (id: string, place: string, more: Row = {}): Row => ({
    ...key(id),
    gsi1pk: { S: place },
    gsi1sk: { S: id },
    ...more,
  });
  const said = (text: string): Row => ({ said: { S: text } });
  const list = (place: string, more: object = {}) => ({
    ...table(),
    IndexName: 'gsi1',
    KeyConditionExpression: 'gsi1pk = :place',
    ExpressionAttributeValues: { ':place': { S: place } },
    ...more,
  });
  const ids = ({ Items = [] }: Told) => Items.map((item) => item['pk']?.S);

  async function open(...rows: Row[]) {
    for (const Item of rows) await world.open().ask('PutItem', { ...table(), Item });
    const { ask, catchUp } = world.openWith('late');
    return {
      put: (Item: Row) => ask('PutItem', { ...table(), Item }),
      remove: (id: string) => ask('DeleteItem', { ...table(), Key: key(id) }),
      list: (place: string, more?: object) => ask('Query', list(place, more)),
      ask,
      catchUp,
    };
  }

  test('lacks a new item for a moment, which the table has', async () => {
    const place = newId();
    const index = await open(row('a', place));
    await index.put(row('b', place));
    expect(ids(await index.list(place))).toEqual(['a']);
    const stored = await index.ask('GetItem', { ...table(), Key: key('b'), ConsistentRead: true });
    expect(stored).toMatchObject({ Item: row('b', place) });
    index.catchUp();
    expect(ids(await index.list(place))).toEqual(['a', 'b']);
  });

  test('shows what an item said before', async () => {
    const place = newId();
    const index = await open(row('c', place, said('before')));
    await index.put(row('c', place, said('between')));
    await index.put(row('c', place, said('now')));
    expect((await index.list(place)).Items).toEqual([row('c', place, said('before'))]);
    index.catchUp();
    expect((await index.list(place)).Items).toEqual([row('c', place, said('now'))]);
  });

  test('still has what has gone, or moved', async () => {
    const [place, elsewhere] = [newId(), newId()];
    const index = await open(...['d', 'e', 'f'].map((id) => row(id, place)));
    await index.remove('d');
    await index.put(row('e', elsewhere));
    await index.put(key('f'));
    expect(ids(await index.list(place))).toEqual(['d', 'e', 'f']);
    expect(ids(await index.list(elsewhere))).toEqual([]);
    index.catchUp();
    expect(ids(await index.list(place))).toEqual([]);
    expect(ids(await index.list(elsewhere))).toEqual(['e']);
  });

  test('is late for transactions and batches too', async () => {
    const place = newId();
    const index = await open();
    const TransactItems = [{ Put: { ...table(), Item: row('g', place) } }];
    await index.ask('TransactWriteItems', { TransactItems, ClientRequestToken: newId() });
    const requests = [{ PutRequest: { Item: row('h', place) } }];
    await index.ask('BatchWriteItem', { RequestItems: { [world.TableName]: requests } });
    expect(ids(await index.list(place))).toEqual([]);
    index.catchUp();
    expect(ids(await index.list(place))).toEqual(['g', 'h']);
  });

  test('is not late for a write that was refused', async () => {
    const place = newId();
    const index = await open(row('i', place, said('before')));
    const ConditionExpression = 'attribute_not_exists(pk)';
    const Item = row('i', place, said('never'));
    const refused = await index.ask('PutItem', { ...table(), Item, ConditionExpression });
    expect(faultOf(refused)).toBe('ConditionalCheckFailedException');
    await world.open().ask('DeleteItem', { ...table(), Key: key('i') });
    expect(ids(await index.list(place))).toEqual([]);
  });

  test.each([
    ['forwards', true],
    ['backwards', false],
  ])('gives pages that are full, in order, with everything once: %s', async (_, ScanIndexForward) => {
    const place = newId();
    const [gone, kept, late] = ['1', '2', '3'].map((digit) =>
      Array.from({ length: 4 }, (_, n) => `p${n}${digit}${place}`),
    );
    const index = await open(...[...(gone ?? []), ...(kept ?? [])].map((id) => row(id, place)));
    for (const id of gone ?? []) await index.remove(id);
    for (const id of late ?? []) await index.put(row(id, place));
    const pages: Told[] = [];
    let ExclusiveStartKey: Row | undefined;
    do {
      const page = await index.list(place, { Limit: 3, ExclusiveStartKey, ScanIndexForward });
      pages.push(page);
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    const sorted = [...(gone ?? []), ...(kept ?? [])].sort();
    expect(pages.flatMap(ids)).toEqual(ScanIndexForward ? sorted : sorted.toReversed());
    expect(pages.slice(0, 2).map((page) => ids(page).length)).toEqual([3, 3]);
  });

  test.each([
    ['begins_with(gsi1sk, :from)', ['j1', 'j2']],
    ['gsi1sk BETWEEN :from AND :to', ['j1', 'j2', 'k1']],
    ['gsi1sk >= :from', ['j1', 'j2', 'k1', 'l1']],
    ['gsi1sk > :to', ['l1']],
    ['#sort <= :to', ['i1', 'j1', 'j2', 'k1']],
    ['#sort < :from', ['i1']],
    ['gsi1sk = :to', ['k1']],
  ])('still has what has gone only where it was: %s', async (condition, expected) => {
    const place = newId();
    const all = ['i1', 'j1', 'j2', 'k1', 'l1'];
    const index = await open(...all.map((id) => ({ ...row(id, place), ...key(`${id}${place}`) })));
    for (const id of all) await index.remove(`${id}${place}`);
    const told = await index.list(place, {
      KeyConditionExpression: `gsi1pk = :place AND ${condition}`,
      ...(condition.startsWith('#') && { ExpressionAttributeNames: { '#sort': 'gsi1sk' } }),
      ExpressionAttributeValues: {
        ':place': { S: place },
        ...(condition.includes(':from') && { ':from': { S: 'j' } }),
        ...(condition.includes(':to') && { ':to': { S: 'k1' } }),
      },
    });
    expect(told.Items?.map((item) => item['gsi1sk']?.S)).toEqual(expected);
  });

  test('lacks a new item also where rows are chosen by what they say', async () => {
    const place = newId();
    const index = await open(row('m', place, said('yes')), row('n', place, said('no')));
    await index.put(row('o', place, said('yes')));
    await index.put(row('n', place, said('yes')));
    const chosen = {
      FilterExpression: 'said = :yes',
      ExpressionAttributeValues: { ':place': { S: place }, ':yes': { S: 'yes' } },
    };
    expect(ids(await index.list(place, chosen))).toEqual(['m', 'n']);
    index.catchUp();
    expect(ids(await index.list(place, chosen))).toEqual(['m', 'n', 'o']);
  });

  test('does not make its table late', async () => {
    const index = await open();
    await index.put(row('q', newId()));
    const told = await index.ask('Query', {
      ...table(),
      KeyConditionExpression: 'pk = :pk',
      ExpressionAttributeValues: { ':pk': { S: 'q' } },
    });
    expect(ids(told)).toEqual(['q']);
  });
});
