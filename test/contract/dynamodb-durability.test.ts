import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { paginateScan, QueryCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DYNAMODB_ENGINES } from '../../lib/local/engines/dynamodb.ts';
import { until } from '../until.ts';
import {
  createContractTable,
  openEngine,
  type OpenedEngine,
  openIterator,
  readOn,
} from './dynamodb-table.ts';

// What was acknowledged is kept, whatever becomes of the engine; as functions see it, behind the front door.

const WRITERS = 8;
const WRITES_BEFORE_THE_KILL = 60;

describe.each(DYNAMODB_ENGINES)('on %s, on disk', (kind) => {
  let dataDir: string;
  let opened: OpenedEngine;
  let client: OpenedEngine['client'];
  let streams: OpenedEngine['streams'];
  let table: string;
  let streamArn: string;

  async function start(): Promise<void> {
    opened = await openEngine({ engine: kind, dataDir });
    ({ client, streams } = opened);
  }

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'dynamodb-'));
    await start();
    ({ table, streamArn } = await createContractTable(client));
  });

  afterAll(async () => {
    await opened?.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Two items in one transaction, so that half of one would be seen. */
  const write = (id: string) =>
    client.send(
      new TransactWriteCommand({
        ClientRequestToken: id,
        TransactItems: ['a', 'b'].map((sk) => ({
          Put: {
            TableName: table,
            Item: { pk: id, sk, gsi1pk: 'all', gsi1sk: id },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        })),
      }),
    );

  async function stored(): Promise<string[]> {
    const found: string[] = [];
    for await (const { Items = [] } of paginateScan({ client }, { TableName: table, ConsistentRead: true }))
      found.push(...Items.map(({ pk, sk }) => `${String(pk)}/${String(sk)}`));
    return found.sort();
  }

  async function streamed(iterator: string): Promise<string[]> {
    const { records } = await readOn(streams, iterator);
    return records.map(({ dynamodb }) => `${dynamodb?.Keys?.['pk']?.S}/${dynamodb?.Keys?.['sk']?.S}`).sort();
  }

  test('killed under load it comes back on its port, with every transaction it acknowledged, whole, and its stream', async () => {
    const acknowledged: string[] = [];
    const keepWriting = async (writer: number): Promise<void> => {
      for (let n = 0; n < 100_000; n += 1) {
        const id = `${writer}-${n}`;
        try {
          await write(id);
        } catch {
          return;
        }
        acknowledged.push(id);
      }
      throw new Error('The database was never away.');
    };
    const load = Promise.all(Array.from({ length: WRITERS }, (_, writer) => keepWriting(writer)));
    await until(() => acknowledged.length > WRITES_BEFORE_THE_KILL, 'writes to be acknowledged', 60);
    process.kill(opened.pid() ?? 0, 'SIGKILL');
    await load;

    const items = await until(() => stored().catch(() => undefined), 'the database to be back', 60);
    const known = new Set(items);
    expect(acknowledged.filter((id) => !known.has(`${id}/a`) || !known.has(`${id}/b`))).toEqual([]);
    // What was carried out and not acknowledged is there whole, or not at all.
    expect(items.filter((item) => !known.has(item.replace(/.$/, (sk) => (sk === 'a' ? 'b' : 'a'))))).toEqual(
      [],
    );
    expect(await streamed(await openIterator(streams, streamArn, 'TRIM_HORIZON'))).toEqual(items);
  });

  test('a later run goes on with the tables, the index and the stream of the one before', async () => {
    const before = await stored();
    const whole = await readOn(streams, await openIterator(streams, streamArn, 'TRIM_HORIZON'));
    const last = whole.records.at(-1)?.dynamodb?.SequenceNumber;
    await write('kept');
    await opened?.close();
    await start();
    expect(await stored()).toEqual([...before, 'kept/a', 'kept/b'].sort());
    const { Items = [] } = await client.send(
      new QueryCommand({
        TableName: table,
        IndexName: 'gsi1',
        KeyConditionExpression: 'gsi1pk = :all AND gsi1sk = :kept',
        ExpressionAttributeValues: { ':all': 'all', ':kept': 'kept' },
      }),
    );
    expect(Items).toHaveLength(2);
    // Sent again by somebody who has not heard the answer. DynamoDB Local knows its token still, Dynoxide does not, and
    // refuses it for its condition: either way it has happened once.
    await write('kept').catch((error: Error) => expect(error.name).toBe('TransactionCanceledException'));
    await write('later');
    const after = await openIterator(streams, streamArn, 'AFTER_SEQUENCE_NUMBER', last);
    expect(await streamed(after)).toEqual(['kept/a', 'kept/b', 'later/a', 'later/b']);
  });
});
