import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newId } from '../../../functions/platform/ids.ts';
import { faultOf, openStrictWorld, reasonsOf } from './strict-world.ts';

let world: Awaited<ReturnType<typeof openStrictWorld>>;

beforeAll(async () => {
  world = await openStrictWorld();
});
afterAll(() => world?.close());

const key = (pk: string) => ({ pk: { S: pk }, sk: { S: 'a' } });
const table = () => ({ TableName: world.TableName });
const put = (pk: string) => ({ Put: { ...table(), Item: { ...key(pk), by: { S: 'transaction' } } } });
const check = (pk: string) => ({
  ConditionCheck: { ...table(), Key: key(pk), ConditionExpression: 'attribute_not_exists(lacking)' },
});
const update = (pk: string) => ({
  Update: {
    ...table(),
    Key: key(pk),
    UpdateExpression: 'SET n = :n',
    ExpressionAttributeValues: { ':n': { N: '1' } },
  },
});
const remove = (pk: string) => ({ Delete: { ...table(), Key: key(pk) } });
const transaction = (...TransactItems: object[]) => ({ TransactItems, ClientRequestToken: newId() });
const reading = (...pks: string[]) => ({
  TransactItems: pks.map((pk) => ({ Get: { ...table(), Key: key(pk) } })),
});

describe('while a transaction is under way', () => {
  test.each([
    ['writes', put, put],
    ['changes', update, put],
    ['removes', remove, update],
    ['only checks', check, put],
  ])(
    'another that names an item which it %s is cancelled with TransactionConflict',
    async (_, first, second) => {
      const { strict, ask, hold } = world.open();
      const one = await hold('TransactWriteItems', transaction(first('one')));
      const other = await ask('TransactWriteItems', transaction(put('free'), second('one'), put('free too')));
      expect(faultOf(other)).toBe('TransactionCanceledException');
      expect(other.status).toBe(400);
      expect(reasonsOf(other)).toEqual(['None', 'TransactionConflict', 'None']);
      expect(strict.conflicts).toBe(1);
      expect((await one.end()).status).toBe(200);
      expect((await ask('TransactWriteItems', transaction(second('one')))).status).toBe(200);
    },
  );

  test('another that checks an item which it checks too is cancelled as well', async () => {
    const { ask, hold } = world.open();
    const one = await hold('TransactWriteItems', transaction(check('checked'), put('mine')));
    const other = await ask('TransactWriteItems', transaction(put('theirs'), check('checked')));
    expect(reasonsOf(other)).toEqual(['None', 'TransactionConflict']);
    expect((await one.end()).status).toBe(200);
  });

  test('another that names other items is carried out', async () => {
    const { strict, ask, hold } = world.open();
    const one = await hold('TransactWriteItems', transaction(put('mine')));
    expect((await ask('TransactWriteItems', transaction(put('theirs')))).status).toBe(200);
    expect(strict.conflicts).toBe(0);
    await one.end();
  });

  test.each([
    ['PutItem', () => put('one').Put],
    ['UpdateItem', () => update('one').Update],
    ['DeleteItem', () => remove('one').Delete],
  ])('%s of an item that it only checks fails with TransactionConflictException', async (operation, body) => {
    const { ask, hold } = world.open();
    const one = await hold('TransactWriteItems', transaction(check('one')));
    expect(faultOf(await ask(operation, body()))).toBe('TransactionConflictException');
    await one.end();
    expect((await ask(operation, body())).status).toBe(200);
  });

  test('a batch leaves what it names unprocessed, and writes the rest', async () => {
    const { ask, hold } = world.open();
    const one = await hold('TransactWriteItems', transaction(put('one')));
    const requests = ['one', 'two'].map((pk) => ({ PutRequest: { Item: key(pk) } }));
    const told = await ask('BatchWriteItem', { RequestItems: { [world.TableName]: requests } });
    expect(told.UnprocessedItems).toEqual({ [world.TableName]: [requests[0]] });
    await one.end();
    const all = await ask('BatchWriteItem', { RequestItems: { [world.TableName]: requests } });
    expect(all.UnprocessedItems ?? {}).toEqual({});
  });

  test('items it names are not read at once with others, but one by one they are', async () => {
    const { ask, hold } = world.open();
    const one = await hold('TransactWriteItems', transaction(check('one')));
    expect(reasonsOf(await ask('TransactGetItems', reading('two', 'one')))).toEqual([
      'None',
      'TransactionConflict',
    ]);
    expect((await ask('GetItem', { ...table(), Key: key('one'), ConsistentRead: true })).status).toBe(200);
    const batch = { RequestItems: { [world.TableName]: { Keys: [key('one')] } } };
    expect((await ask('BatchGetItem', batch)).status).toBe(200);
    await one.end();
    expect((await ask('TransactGetItems', reading('two', 'one'))).status).toBe(200);
  });

  test('the same one sent again is said to be in progress', async () => {
    const { ask, hold } = world.open();
    const same = transaction(put('again'));
    const one = await hold('TransactWriteItems', same);
    expect(faultOf(await ask('TransactWriteItems', same))).toBe('TransactionInProgressException');
    expect((await one.end()).status).toBe(200);
    expect((await ask('TransactWriteItems', same)).status).toBe(200);
  });
});

test('an item that is being written alone is not read at once with others, and may be written by two', async () => {
  const { ask, hold } = world.open();
  const one = await hold('PutItem', put('alone').Put);
  const two = await hold('PutItem', put('alone').Put);
  await one.end();
  expect(reasonsOf(await ask('TransactGetItems', reading('alone')))).toEqual(['TransactionConflict']);
  expect((await two.end()).status).toBe(200);
  expect((await ask('TransactGetItems', reading('alone'))).status).toBe(200);
});

test('reads of several items at once do not hinder each other, nor a transaction', async () => {
  const { ask, hold } = world.open();
  const read = await hold('TransactGetItems', reading('read'));
  expect((await ask('TransactGetItems', reading('read'))).status).toBe(200);
  expect((await ask('TransactWriteItems', transaction(put('read')))).status).toBe(200);
  await read.end();
});

test('a transaction that failed is over', async () => {
  const { ask } = world.open();
  const condition = { ConditionExpression: 'attribute_exists(lacking)' };
  const failing = { ConditionCheck: { ...check('failed').ConditionCheck, ...condition } };
  expect(reasonsOf(await ask('TransactWriteItems', transaction(failing)))).toEqual([
    'ConditionalCheckFailed',
  ]);
  expect((await ask('TransactWriteItems', transaction(put('failed')))).status).toBe(200);
});

test('a table that is not there is told by the engine, also to two at once', async () => {
  const { ask } = world.open();
  const nowhere = transaction({ Put: { TableName: 'nowhere', Item: key('a') } });
  const told = await Promise.all([
    ask('TransactWriteItems', nowhere),
    ask('TransactWriteItems', { ...nowhere, ClientRequestToken: newId() }),
  ]);
  expect(told.map(faultOf)).toEqual(['ResourceNotFoundException', 'ResourceNotFoundException']);
});
