import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DynamoDBStreamsClient } from '@aws-sdk/client-dynamodb-streams';
import {
  BatchGetCommand,
  DeleteCommand,
  DynamoDBDocumentClient,
  GetCommand,
  PutCommand,
  QueryCommand,
  type QueryCommandInput,
  ScanCommand,
  TransactGetCommand,
  TransactWriteCommand,
  type TransactWriteCommandInput,
  UpdateCommand,
  type UpdateCommandInput,
} from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DYNAMODB_ENGINES } from '../../lib/local/engines/dynamodb.ts';
import { failure } from '../local/services/aws-services-world.ts';
import {
  createContractTable,
  openEngine,
  type OpenedEngine,
  openIterator,
  readOn,
} from './dynamodb-table.ts';

// What stores and the reader of streams rely on, asked of every engine the platform runs on. An engine that differs
// from AWS in any of it is not used.

type Values = Record<string, unknown>;
type Item = Record<string, unknown>;

describe.each(DYNAMODB_ENGINES)('on %s', (kind) => {
  let opened: OpenedEngine;
  let services: OpenedEngine['services'];
  let client: DynamoDBDocumentClient;
  let streams: DynamoDBStreamsClient;
  let table: string;
  let streamArn: string;
  let number = 0;

  beforeAll(async () => {
    opened = await openEngine({ engine: kind });
    ({ services, client, streams } = opened);
    ({ table, streamArn } = await createContractTable(client));
  });

  afterAll(() => opened?.close());

  const newKey = (sk = 'a') => ({ pk: `p${(number += 1)}`, sk });
  const put = (item: Item, more: object = {}) =>
    client.send(new PutCommand({ TableName: table, Item: item, ...more }));
  const get = async (Key: { pk: string; sk: string }): Promise<Item | undefined> =>
    (await client.send(new GetCommand({ TableName: table, Key, ConsistentRead: true }))).Item;
  const update = (Key: { pk: string; sk: string }, more: Omit<UpdateCommandInput, 'TableName' | 'Key'>) =>
    client.send(new UpdateCommand({ TableName: table, Key, ...more }));
  const transact = (
    items: (
      | { Put: Item }
      | { Delete: Item; when?: string }
      | { Check: Item; when: string; more?: object }
      | { Update: Item; update: string; values?: Values; when?: string }
    )[],
    ClientRequestToken?: string,
  ) => {
    const TableName = table;
    const TransactItems = items.map(
      (item): NonNullable<TransactWriteCommandInput['TransactItems']>[number] => {
        if ('Put' in item)
          return { Put: { TableName, Item: item.Put, ConditionExpression: 'attribute_not_exists(pk)' } };
        if ('Delete' in item)
          return { Delete: { TableName, Key: item.Delete, ConditionExpression: item.when } };
        if ('Check' in item)
          return {
            ConditionCheck: { TableName, Key: item.Check, ConditionExpression: item.when, ...item.more },
          };
        return {
          Update: {
            TableName,
            Key: item.Update,
            UpdateExpression: item.update,
            ConditionExpression: item.when,
            ExpressionAttributeValues: item.values,
          },
        };
      },
    );
    return client.send(new TransactWriteCommand({ TransactItems, ClientRequestToken }));
  };
  const query = async (more: Omit<QueryCommandInput, 'TableName'>) =>
    client.send(new QueryCommand({ TableName: table, ...more }));

  describe('an item', () => {
    test('comes back as it was put, whatever is in it', async () => {
      const item = {
        ...newKey(),
        empty: '',
        text: 'ä € 😀 \u0000 "\\',
        flags: [true, false, null],
        nested: { list: [1, [2, { three: 3 }]], map: {} },
        bytes: new Uint8Array([0, 255, 10]),
        texts: new Set(['b', 'a']),
        numbers: [0, -1, 1.5, 1e-10, 12_345_678_901_234],
      };
      await put(item);
      expect(await get({ pk: item.pk, sk: item.sk })).toEqual(item);
    });

    test('keeps numbers of 38 digits to the last one', async () => {
      const precise = DynamoDBDocumentClient.from(new DynamoDBClient(services.asOperator()), {
        unmarshallOptions: { wrapNumbers: (text) => BigInt(text) },
      });
      const key = newKey();
      const big = 99_999_999_999_999_999_999_999_999_999_999_999_999n;
      await precise.send(new PutCommand({ TableName: table, Item: { ...key, big } }));
      await precise.send(
        new UpdateCommand({
          TableName: table,
          Key: key,
          UpdateExpression: 'ADD big :less',
          ExpressionAttributeValues: { ':less': -1n },
        }),
      );
      const { Item } = await precise.send(new GetCommand({ TableName: table, Key: key }));
      expect(Item?.['big']).toBe(big - 1n);
    });

    test.each<[string, Item]>([
      ['without a key', { pk: 'x' }],
      ['with an empty key', { pk: '', sk: 'a' }],
      ['with a number for a key', { pk: 1, sk: 'a' }],
      ['with a number for the key of an index', { pk: 'x', sk: 'a', gsi1pk: 1, gsi1sk: 'a' }],
      ['with an empty key of an index', { pk: 'x', sk: 'a', gsi1pk: '', gsi1sk: 'a' }],
      ['over 400 kB', { pk: 'x', sk: 'a', text: 'x'.repeat(410 * 1024) }],
    ])('%s is refused', async (_, item) => {
      expect((await failure(put(item))).name).toBe('ValidationException');
    });

    test('that is deleted is handed out as it was', async () => {
      const key = newKey();
      const take = () =>
        client.send(new DeleteCommand({ TableName: table, Key: key, ReturnValues: 'ALL_OLD' }));
      await put({ ...key, note: 'here' });
      expect((await take()).Attributes).toEqual({ ...key, note: 'here' });
      expect((await take()).Attributes).toBeUndefined();
    });
  });

  describe('a condition', () => {
    const BEFORE = {
      version: 3,
      status: 'active',
      hits: 0,
      ids: new Set(['a', 'b']),
      list: ['x', 'y'],
      hops: { started: '2026-01-01' },
      text: 'prefix-rest',
    };

    test.each<[string, Values, boolean]>([
      ['attribute_exists(pk)', {}, true],
      ['attribute_not_exists(pk)', {}, false],
      ['attribute_not_exists(absent)', {}, true],
      ['attribute_exists(hops.started)', {}, true],
      ['attribute_exists(hops.ended)', {}, false],
      ['attribute_not_exists(absent.deep)', {}, true],
      ['version = :v', { ':v': 3 }, true],
      ['version = :v', { ':v': '3' }, false],
      ['version <> :v', { ':v': '3' }, true],
      ['absent <> :v', { ':v': 1 }, true],
      ['absent = :v', { ':v': 1 }, false],
      ['absent < :v', { ':v': 1 }, false],
      ['version < :v', { ':v': 10 }, true],
      ['version >= :v AND version <= :v', { ':v': 3 }, true],
      ['version BETWEEN :a AND :b', { ':a': 1, ':b': 3 }, true],
      ['#status IN (:a, :b)', { ':a': 'draft', ':b': 'active' }, true],
      ['#status IN (:a, :b)', { ':a': 'draft', ':b': 'staged' }, false],
      ['NOT #status = :a', { ':a': 'draft' }, true],
      ['#status = :a OR version = :v AND hits = :v', { ':a': 'active', ':v': 9 }, true],
      ['(#status = :a OR version = :v) AND hits = :v', { ':a': 'active', ':v': 9 }, false],
      ['attribute_not_exists(pk) OR #status <> :a', { ':a': 'active' }, false],
      ['begins_with(#text, :a)', { ':a': 'prefix-' }, true],
      ['begins_with(#text, :a)', { ':a': 'rest' }, false],
      ['contains(ids, :a)', { ':a': 'b' }, true],
      ['contains(ids, :a)', { ':a': 'c' }, false],
      ['contains(#text, :a)', { ':a': 'fix-re' }, true],
      ['size(ids) < :v', { ':v': 3 }, true],
      ['size(ids) < :v', { ':v': 2 }, false],
      ['size(absent) < :v', { ':v': 9 }, false],
      ['size(#list) = :v', { ':v': 2 }, true],
      ['#list[1] = :a', { ':a': 'y' }, true],
      ['hops.started < :a', { ':a': '2026-01-02' }, true],
      ['attribute_type(hits, :t)', { ':t': 'N' }, true],
    ])('%s with %j holds: %s', async (ConditionExpression, values, holds) => {
      const key = newKey();
      await put({ ...key, ...BEFORE });
      const used = Object.entries({ '#status': 'status', '#text': 'text', '#list': 'list' }).filter(
        ([name]) => ConditionExpression.includes(name),
      );
      const more = {
        ConditionExpression,
        ...(used.length > 0 && { ExpressionAttributeNames: Object.fromEntries(used) }),
        ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
      };
      const writing = put({ ...key, replaced: true }, more);
      if (holds) await writing;
      else
        expect(await failure(writing)).toMatchObject({
          name: 'ConditionalCheckFailedException',
          $metadata: { httpStatusCode: 400 },
        });
      expect(await get(key)).toEqual(holds ? { ...key, replaced: true } : { ...key, ...BEFORE });
    });

    test('that fails tells the item as it is, when that is asked for', async () => {
      const item = { ...newKey(), version: 2 };
      await put(item);
      const refused = await failure(
        put(item, {
          ConditionExpression: 'attribute_not_exists(pk)',
          ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
        }),
      );
      expect((refused as Error & { Item?: Item }).Item).toMatchObject({ version: { N: '2' } });
    });

    test.each([
      'version ==== :v',
      'size(version, version) = :v',
      'version = :unheard_of',
      '#unheard_of = :v',
    ])('%s is no condition', async (ConditionExpression) => {
      const writing = put(newKey(), { ConditionExpression, ExpressionAttributeValues: { ':v': 1 } });
      expect((await failure(writing)).name).toBe('ValidationException');
    });

    const MISUSED = {
      'empty names': { ExpressionAttributeNames: {} },
      'empty values': { ExpressionAttributeValues: {} },
      'a name that is not used': { ExpressionAttributeNames: { '#unused': 'unused' } },
      'a value that is not used': { ExpressionAttributeValues: { ':unused': 1 } },
    };

    test.each(Object.entries(MISUSED))('with %s is refused, alone or in a transaction', async (_, more) => {
      const key = newKey();
      const when = 'attribute_not_exists(pk)';
      const part = { TableName: table, Key: key, UpdateExpression: 'REMOVE gone', ConditionExpression: when };
      const attempts = [
        put(key, { ConditionExpression: when, ...more }),
        client.send(new UpdateCommand({ ...part, ...more })),
        client.send(new TransactWriteCommand({ TransactItems: [{ Update: { ...part, ...more } }] })),
      ];
      for (const attempt of attempts) expect((await failure(attempt)).name).toBe('ValidationException');
      expect(await get(key)).toBeUndefined();
    });

    test('lets one of many at once through, each time', async () => {
      const key = newKey();
      await put({ ...key, version: 0 });
      for (let round = 0; round < 5; round += 1) {
        const tries = await Promise.allSettled(
          Array.from({ length: 12 }, () =>
            update(key, {
              UpdateExpression: 'SET version = :after',
              ConditionExpression: 'version = :before',
              ExpressionAttributeValues: { ':before': round, ':after': round + 1 },
            }),
          ),
        );
        expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      }
    });
  });

  describe('an update', () => {
    const BEFORE = { count: 1, keep: 'kept', hops: { a: '1' }, ids: new Set(['a', 'b']), list: ['x'] };

    test.each<[string, Values, Item]>([
      ['SET keep = :v', { ':v': 'new' }, { ...BEFORE, keep: 'new' }],
      ['SET hops.b = :v', { ':v': '2' }, { ...BEFORE, hops: { a: '1', b: '2' } }],
      ['SET #count = #count + :v', { ':v': 4 }, { ...BEFORE, count: 5 }],
      ['SET #count = if_not_exists(absent, :v) - :v', { ':v': 4 }, { ...BEFORE, count: 0 }],
      ['SET #list = list_append(#list, :v)', { ':v': ['y'] }, { ...BEFORE, list: ['x', 'y'] }],
      ['SET #list[0] = :v', { ':v': 'z' }, { ...BEFORE, list: ['z'] }],
      // Every part reads the item as it was before.
      ['SET #count = #count + :v, seen = #count + :v', { ':v': 1 }, { ...BEFORE, count: 2, seen: 2 }],
      ['ADD #count :v', { ':v': -3 }, { ...BEFORE, count: -2 }],
      ['ADD fresh :v', { ':v': 1 }, { ...BEFORE, fresh: 1 }],
      ['ADD ids :v', { ':v': new Set(['b', 'c']) }, { ...BEFORE, ids: new Set(['a', 'b', 'c']) }],
      ['ADD fresh :v', { ':v': new Set(['c']) }, { ...BEFORE, fresh: new Set(['c']) }],
      ['DELETE ids :v', { ':v': new Set(['a', 'z']) }, { ...BEFORE, ids: new Set(['b']) }],
      [
        'SET keep = :v REMOVE hops.a, #list ADD #count :n DELETE ids :ids',
        { ':v': 'new', ':n': 1, ':ids': new Set(['a', 'b']) },
        // A set of nothing is none.
        { count: 2, keep: 'new', hops: {} },
      ],
    ])('%s with %j', async (UpdateExpression, values, after) => {
      const key = newKey();
      await put({ ...key, ...BEFORE });
      const used = Object.entries({ '#count': 'count', '#list': 'list' }).filter(([name]) =>
        UpdateExpression.includes(name),
      );
      const { Attributes } = await update(key, {
        UpdateExpression,
        ExpressionAttributeValues: values,
        ...(used.length > 0 && { ExpressionAttributeNames: Object.fromEntries(used) }),
        ReturnValues: 'ALL_NEW',
      });
      expect(Attributes).toEqual({ ...key, ...after });
      expect(await get(key)).toEqual({ ...key, ...after });
    });

    test.each<[string, Values]>([
      ['SET absent.deep = :v', { ':v': 1 }],
      ['SET keep = keep + :v', { ':v': 1 }],
      ['ADD keep :v', { ':v': 1 }],
      ['SET pk = :v', { ':v': 'other' }],
      ['SET gsi1pk = :v', { ':v': 1 }],
      ['SET keep = :v, keep = :v', { ':v': 1 }],
    ])('%s is refused and changes nothing', async (UpdateExpression, values) => {
      const key = newKey();
      await put({ ...key, ...BEFORE });
      const refused = await failure(update(key, { UpdateExpression, ExpressionAttributeValues: values }));
      expect(refused.name).toBe('ValidationException');
      expect(await get(key)).toEqual({ ...key, ...BEFORE });
    });

    test('of an item that is not there makes it', async () => {
      const key = newKey();
      await update(key, {
        UpdateExpression: 'SET note = :v ADD hits :one',
        ExpressionAttributeValues: { ':v': 'x', ':one': 1 },
      });
      expect(await get(key)).toEqual({ ...key, note: 'x', hits: 1 });
    });
  });

  describe('a transaction', () => {
    test('happens whole or not at all, and tells of each part why not', async () => {
      const [made, held, gone, taken] = [newKey(), newKey(), newKey(), newKey()];
      await put(taken);
      await put({ ...held, status: 'open' });
      await put({ ...gone, note: 'old' });
      const attempt = () =>
        transact([
          { Put: made },
          { Update: held, update: 'SET n = :n', values: { ':n': 1 }, when: 'attribute_exists(pk)' },
          { Check: newKey(), when: 'attribute_exists(pk)' },
          { Delete: gone },
          { Put: { ...taken, note: 'other' } },
        ]);
      const refused = await failure(attempt());
      expect(refused.name).toBe('TransactionCanceledException');
      const { CancellationReasons } = refused as Error & { CancellationReasons?: { Code?: string }[] };
      expect(CancellationReasons?.map(({ Code }) => Code)).toEqual([
        'None',
        'None',
        'ConditionalCheckFailed',
        'None',
        'ConditionalCheckFailed',
      ]);
      expect(refused.message).toContain('[None, None, ConditionalCheckFailed, None, ConditionalCheckFailed]');
      expect([await get(made), await get(held), await get(gone)]).toEqual([
        undefined,
        { ...held, status: 'open' },
        { ...gone, note: 'old' },
      ]);

      await transact([
        { Put: made },
        { Update: held, update: 'SET n = :n', values: { ':n': 1 }, when: 'attribute_exists(pk)' },
        { Check: newKey(), when: 'attribute_not_exists(pk)' },
        { Delete: gone, when: 'attribute_exists(note)' },
      ]);
      expect([await get(made), await get(held), await get(gone)]).toEqual([
        made,
        { ...held, status: 'open', n: 1 },
        undefined,
      ]);
    });

    test('tells the item its condition failed on, when that is asked for', async () => {
      const key = newKey();
      await put({ ...key, status: 'closed' });
      const more = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' };
      const refused = await failure(transact([{ Check: key, when: 'attribute_exists(absent)', more }]));
      const { CancellationReasons } = refused as Error & { CancellationReasons?: { Item?: Item }[] };
      expect(CancellationReasons?.[0]?.Item).toMatchObject({ status: { S: 'closed' } });
    });

    test('has each item once', async () => {
      const key = newKey();
      const refused = await failure(
        transact([{ Put: key }, { Check: key, when: 'attribute_not_exists(pk)' }]),
      );
      // AWS's own DynamoDB Local says it by another name than AWS.
      expect(refused.name).toMatch(/^(ValidationException|TransactionCanceledException)$/);
      expect(await get(key)).toBeUndefined();
    });

    test('has at most a hundred parts', async () => {
      const parts = Array.from({ length: 101 }, () => ({ Put: newKey() }));
      expect((await failure(transact(parts))).name).toBe('ValidationException');
      await transact(parts.slice(1));
      const { pk, sk } = parts[100]?.Put ?? newKey();
      expect(await get({ pk, sk })).toEqual({ pk, sk });
    });

    test('happens once under its token, and is refused for another content', async () => {
      const key = newKey();
      const once = (n: number) =>
        transact([{ Update: key, update: 'ADD hits :n', values: { ':n': n } }], `token-${kind}`);
      const both = await Promise.allSettled([once(1), once(1)]);
      const refused = both.filter((each) => each.status === 'rejected');
      expect(refused.length).toBeLessThan(both.length);
      for (const { reason } of refused) expect((reason as Error).name).toBe('TransactionInProgressException');
      await once(1);
      expect(await get(key)).toEqual({ ...key, hits: 1 });
      expect((await failure(once(2))).name).toBe('IdempotentParameterMismatchException');
      expect(await get(key)).toEqual({ ...key, hits: 1 });
    });

    test('whose condition failed may be tried again under its token', async () => {
      const key = newKey();
      const attempt = () =>
        transact(
          [{ Update: key, update: 'ADD hits :n', values: { ':n': 1 }, when: 'attribute_exists(pk)' }],
          `again-${kind}`,
        );
      expect((await failure(attempt())).name).toBe('TransactionCanceledException');
      await put({ ...key, hits: 0 });
      await attempt();
      expect(await get(key)).toEqual({ ...key, hits: 1 });
    });

    test('one of many is lost to none of the others', async () => {
      const [a, b] = [newKey(), newKey()];
      const add = (key: Item) => ({ Update: key, update: 'ADD hits :n', values: { ':n': 1 } });
      const tries = await Promise.allSettled(Array.from({ length: 30 }, () => transact([add(a), add(b)])));
      const hits = tries.filter(({ status }) => status === 'fulfilled').length;
      expect(await get(a)).toEqual({ ...a, hits });
      expect(await get(b)).toEqual({ ...b, hits });
    });

    test('of reads sees all of a writing one, or nothing of it', async () => {
      const [a, b] = [newKey(), newKey()];
      const both = (n: number) =>
        [a, b].map((key) => ({ Update: key, update: 'SET n = :n', values: { ':n': n } }));
      await transact(both(0));
      let isOver = false;
      const writing = (async () => {
        for (let n = 1; n <= 40; n += 1) await transact(both(n));
        isOver = true;
      })();
      do {
        const read = new TransactGetCommand({
          TransactItems: [a, b].map((Key) => ({ Get: { TableName: table, Key } })),
        });
        const seen = await client.send(read).catch((error: Error) => error);
        // Not while the other one is under way.
        if (seen instanceof Error) expect(seen.name).toBe('TransactionCanceledException');
        else expect(seen.Responses?.[0]?.Item?.['n']).toBe(seen.Responses?.[1]?.Item?.['n']);
      } while (!isOver);
      await writing;
    });
  });

  describe('a query', () => {
    const pk = 'a partition';
    const SORTED = ['A', 'B#1', 'B#10', 'B#2', 'Z', 'a', 'é', '\uffee', '😀'];
    const keys = (items: Item[] = []): string[] => items.map(({ sk }) => String(sk));

    beforeAll(async () => {
      for (const [index, sk] of SORTED.toReversed().entries())
        await put({
          pk,
          sk,
          order: index,
          // Not all are in the index.
          ...(index % 2 === 0 && { gsi1pk: 'owner', gsi1sk: sk, extra: { all: true } }),
        });
    });

    test.each<[string, Values, string[]]>([
      ['pk = :pk', {}, SORTED],
      ['pk = :pk AND sk = :a', { ':a': 'B#1' }, ['B#1']],
      ['pk = :pk AND begins_with(sk, :a)', { ':a': 'B#' }, ['B#1', 'B#10', 'B#2']],
      ['pk = :pk AND sk < :a', { ':a': 'B#10' }, ['A', 'B#1']],
      ['pk = :pk AND sk <= :a', { ':a': 'B#10' }, ['A', 'B#1', 'B#10']],
      ['pk = :pk AND sk > :a', { ':a': 'a' }, ['é', '\uffee', '😀']],
      ['pk = :pk AND sk BETWEEN :a AND :b', { ':a': 'B#10', ':b': 'Z' }, ['B#10', 'B#2', 'Z']],
    ])('%s %j is in the order of the bytes, and backwards', async (KeyConditionExpression, values, found) => {
      const asked = { KeyConditionExpression, ExpressionAttributeValues: { ':pk': pk, ...values } };
      expect(keys((await query({ ...asked, ConsistentRead: true })).Items)).toEqual(found);
      expect(keys((await query({ ...asked, ScanIndexForward: false })).Items)).toEqual(found.toReversed());
    });

    test.each([
      ['the table', undefined, SORTED],
      ['an index', 'gsi1', SORTED.filter((_, index) => (SORTED.length - 1 - index) % 2 === 0)],
    ])(
      'of %s comes in pages, each item once, also where something is written between',
      async (_, IndexName, all) => {
        const asked: Omit<QueryCommandInput, 'TableName'> =
          IndexName === undefined
            ? { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } }
            : {
                IndexName,
                KeyConditionExpression: 'gsi1pk = :owner',
                ExpressionAttributeValues: { ':owner': 'owner' },
              };
        const found: string[] = [];
        let from: Item | undefined;
        do {
          const page = await query({ ...asked, Limit: 2, ExclusiveStartKey: from });
          expect(page.Items?.length).toBeLessThanOrEqual(2);
          found.push(...keys(page.Items));
          from = page.LastEvaluatedKey;
          if (from) {
            const last = page.Items?.at(-1) ?? {};
            const { pk, sk, gsi1pk, gsi1sk } = last;
            expect(from).toEqual(IndexName === undefined ? { pk, sk } : { pk, sk, gsi1pk, gsi1sk });
            await put({ ...newKey(), gsi1pk: 'somebody else', gsi1sk: 'A' });
          }
        } while (from);
        expect(found).toEqual(all);
      },
    );

    test('filters after it counted to the limit', async () => {
      const page = await query({
        KeyConditionExpression: 'pk = :pk',
        FilterExpression: '#order = :last',
        ExpressionAttributeNames: { '#order': 'order' },
        ExpressionAttributeValues: { ':pk': pk, ':last': SORTED.length - 2 },
        Limit: 2,
      });
      expect(keys(page.Items)).toEqual(['B#1']);
      expect(page).toMatchObject({ Count: 1, ScannedCount: 2, LastEvaluatedKey: { sk: 'B#1' } });
    });

    test('ends a page at 1 MB', async () => {
      const { pk } = newKey();
      for (let n = 0; n < 8; n += 1) await put({ pk, sk: `s${n}`, text: 'x'.repeat(200_000) });
      const asked = { KeyConditionExpression: 'pk = :pk', ExpressionAttributeValues: { ':pk': pk } };
      const first = await query(asked);
      const rest = await query({ ...asked, ExclusiveStartKey: first.LastEvaluatedKey });
      expect(first.Items?.length).toBeLessThan(8);
      expect(keys([...(first.Items ?? []), ...(rest.Items ?? [])])).toHaveLength(8);
      expect(rest.LastEvaluatedKey).toBeUndefined();
    });

    test('of an index finds an item where it is now, with all that is in it, and not where it was', async () => {
      const key = newKey();
      const owned = async (owner: string) =>
        (
          await query({
            IndexName: 'gsi1',
            KeyConditionExpression: 'gsi1pk = :owner AND begins_with(gsi1sk, :due)',
            ExpressionAttributeValues: { ':owner': owner, ':due': 'due' },
          })
        ).Items;
      const [first, second] = [`${key.pk}-first`, `${key.pk}-second`];
      await put({ ...key, gsi1pk: first, gsi1sk: 'due#1', deep: { note: ['x'] } });
      expect(await owned(first)).toEqual([{ ...key, gsi1pk: first, gsi1sk: 'due#1', deep: { note: ['x'] } }]);
      await update(key, { UpdateExpression: 'SET gsi1pk = :o', ExpressionAttributeValues: { ':o': second } });
      expect([await owned(first), (await owned(second))?.length]).toEqual([[], 1]);
      await transact([
        { Update: key, update: 'SET done = :d REMOVE gsi1pk, gsi1sk', values: { ':d': true } },
      ]);
      expect(await owned(second)).toEqual([]);
      expect(await get(key)).toEqual({ ...key, deep: { note: ['x'] }, done: true });
    });

    test('of an index cannot be consistent', async () => {
      const asked = query({
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :o',
        ExpressionAttributeValues: { ':o': 'owner' },
        ConsistentRead: true,
      });
      expect((await failure(asked)).name).toBe('ValidationException');
    });
  });

  test('a scan comes in pages, each item once', async () => {
    const { table: TableName } = await createContractTable(client);
    const all = Array.from({ length: 25 }, (_, n) => ({ pk: `p${n}`, sk: 'a', n }));
    for (const Item of all) await client.send(new PutCommand({ TableName, Item }));
    const found: Item[] = [];
    let ExclusiveStartKey: Item | undefined;
    do {
      const page = await client.send(
        new ScanCommand({
          TableName,
          Limit: 7,
          ExclusiveStartKey,
          FilterExpression: 'n BETWEEN :a AND :b',
          ExpressionAttributeValues: { ':a': 5, ':b': 100 },
        }),
      );
      found.push(...(page.Items ?? []));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    expect(found.map(({ n }) => Number(n)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 20 }, (_, n) => n + 5),
    );
  });

  test('a batch reads up to a hundred items, leaves out those that are not there, and refuses more', async () => {
    const all = Array.from({ length: 100 }, () => newKey());
    await transact(all.slice(1).map((item) => ({ Put: item })));
    const read = (Keys: Item[]) =>
      client.send(new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }));
    const { Responses } = await read(all);
    const pks = (items: Item[] = []) => items.map(({ pk }) => String(pk)).sort();
    expect(pks(Responses?.[table])).toEqual(pks(all.slice(1)));
    expect((await failure(read([...all, newKey()]))).name).toBe('ValidationException');
  });

  test('what is not there is told by the same errors', async () => {
    const TableName = 'no-such-table';
    const reading = client.send(new GetCommand({ TableName, Key: newKey() }));
    expect((await failure(reading)).name).toBe('ResourceNotFoundException');
    const item = { Put: { TableName, Item: newKey() } };
    const writing = client.send(new TransactWriteCommand({ TransactItems: [item] }));
    expect((await failure(writing)).name).toBe('ResourceNotFoundException');
  });

  describe('the stream', () => {
    const begin = () => openIterator(streams, streamArn, 'LATEST');
    const told = async (iterator: string) =>
      (await readOn(streams, iterator)).records.map(({ eventName, dynamodb }) => ({
        eventName,
        keys: dynamodb?.Keys?.['sk']?.S,
        before: dynamodb?.OldImage?.['n']?.N,
        after: dynamodb?.NewImage?.['n']?.N,
      }));

    test('tells every change once, in order, as it was before and after', async () => {
      const since = await begin();
      const key = newKey('s');
      await put({ ...key, n: 1 });
      await update(key, { UpdateExpression: 'SET n = :n', ExpressionAttributeValues: { ':n': 2 } });
      await client.send(new DeleteCommand({ TableName: table, Key: key }));
      expect(await told(since)).toEqual([
        { eventName: 'INSERT', keys: 's', before: undefined, after: '1' },
        { eventName: 'MODIFY', keys: 's', before: '1', after: '2' },
        { eventName: 'REMOVE', keys: 's', before: '2', after: undefined },
      ]);
    });

    test('tells nothing of what was refused, checked or not changed', async () => {
      const [key, other] = [newKey('same'), newKey('other')];
      await put({ ...key, n: 1 });
      const since = await begin();
      await failure(put({ ...key, n: 2 }, { ConditionExpression: 'attribute_not_exists(pk)' }));
      await failure(transact([{ Put: other }, { Check: key, when: 'attribute_not_exists(pk)' }]));
      await put({ ...key, n: 1 });
      await client.send(new DeleteCommand({ TableName: table, Key: other }));
      await transact([{ Check: key, when: 'attribute_exists(pk)' }, { Put: other }]);
      expect(await told(since)).toEqual([
        { eventName: 'INSERT', keys: 'other', before: undefined, after: undefined },
      ]);
    });

    test('tells a transaction whole, and once though it came twice', async () => {
      const since = await begin();
      const items = [newKey('t1'), newKey('t2'), newKey('t3')];
      for (let times = 0; times < 2; times += 1)
        await transact(
          items.map((item) => ({ Put: item })),
          `streamed-${kind}`,
        );
      expect((await told(since)).map(({ keys }) => String(keys)).sort()).toEqual(['t1', 't2', 't3']);
    });

    test('is gone on with from any record, and from its beginning', async () => {
      const items = ['1', '2', '3', '4'].map((sk) => newKey(sk));
      const since = await begin();
      for (const item of items) await put(item);
      const { records, next } = await readOn(streams, since);
      const numbers = records.map(({ dynamodb }) => dynamodb?.SequenceNumber ?? '');
      const after = await openIterator(streams, streamArn, 'AFTER_SEQUENCE_NUMBER', numbers[1]);
      expect((await told(after)).map(({ keys }) => keys)).toEqual(['3', '4']);
      const whole = await openIterator(streams, streamArn, 'TRIM_HORIZON');
      expect((await told(whole)).slice(-4).map(({ keys }) => keys)).toEqual(['1', '2', '3', '4']);
      await put(newKey('5'));
      expect((await told(next)).map(({ keys }) => keys)).toEqual(['5']);
      const bySize = (a: string, b: string) => (BigInt(a) < BigInt(b) ? -1 : 1);
      expect([...numbers].sort(bySize)).toEqual(numbers);
    });

    test('of one table tells nothing of another', async () => {
      const other = await createContractTable(client);
      const since = await begin();
      await client.send(new PutCommand({ TableName: other.table, Item: newKey('elsewhere') }));
      expect(await told(since)).toEqual([]);
      const whole = await openIterator(streams, other.streamArn, 'LATEST');
      await put(newKey('here'));
      expect((await readOn(streams, whole)).records).toEqual([]);
    });
  });
});
