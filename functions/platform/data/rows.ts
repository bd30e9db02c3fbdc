// The reads that stores share, each of them one request.

import { BatchGetCommand, TransactGetCommand } from '@aws-sdk/lib-dynamodb';
import { dynamo } from '../clients.ts';
import { decodeCursor, encodeCursor, type PageOf } from '../page.ts';
import { retryingBusy, sendingAll } from './retry.ts';
import { controlTable, type Key, type Query, queryPage } from './table.ts';

type Row = Record<string, unknown>;

export interface PageAsked {
  limit: number;
  cursor?: string;
}

/** As many items as one request may ask for; those that are not there are undefined. */
export async function readItems(keys: Key[]): Promise<(Row | undefined)[]> {
  if (keys.length === 0) return [];
  const table = controlTable();
  const found = new Map<string, Row>();
  await sendingAll(keys, async (Keys) => {
    const { Responses, UnprocessedKeys } = await dynamo().send(
      new BatchGetCommand({ RequestItems: { [table]: { Keys, ConsistentRead: true } } }),
    );
    for (const item of Responses?.[table] ?? []) found.set(nameOf(item as unknown as Key), item);
    return UnprocessedKeys?.[table]?.Keys as Key[] | undefined;
  });
  return keys.map((key) => found.get(nameOf(key)));
}

/**
 * Items as they were at one moment: a batch reads items one after the other and may see a transaction only in part.
 * This read costs twice as much, and is made again after a concurrent write.
 */
export async function readItemsAtOnce(keys: Key[]): Promise<(Row | undefined)[]> {
  const read = { TransactItems: keys.map((Key) => ({ Get: { TableName: controlTable(), Key } })) };
  const answer = await retryingBusy(() => dynamo().send(new TransactGetCommand(read)));
  return keys.map((_, index) => answer.Responses?.[index]?.Item);
}

/** Everything a query finds, page after page, up to so many items; and whether there is more. */
export async function queryAll({
  max,
  ...query
}: Omit<Query, 'limit' | 'from'> & { max: number }): Promise<{ items: Row[]; isTruncated: boolean }> {
  const items: Row[] = [];
  let from: Row | undefined;
  do {
    const page = await queryPage({ ...query, limit: max + 1 - items.length, from });
    items.push(...page.items);
    from = page.next;
  } while (from && items.length <= max);
  return { items: items.slice(0, max), isTruncated: items.length > max };
}

/** Rows of one kind in a partition, by sort key. */
export async function readRows(pk: string, kind: string, { limit, cursor }: PageAsked): Promise<PageOf<Row>> {
  const after = decodeCursor(cursor, new RegExp(`^${kind}[\\w-]{1,128}$`));
  const { items, next } = await queryPage({
    condition: 'pk = :pk AND begins_with(sk, :kind)',
    values: { ':pk': pk, ':kind': kind },
    limit,
    from: after === undefined ? undefined : { pk, sk: after },
  });
  return { items, next_cursor: encodeCursor(next?.['sk'] as string | undefined) };
}

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Items gathered in a partition of gsi1, oldest first; their ids sort by age. */
export async function readGathered(
  partition: string,
  keyOf: (id: string) => Key,
  { limit, cursor }: PageAsked,
): Promise<PageOf<Row>> {
  const after = decodeId(cursor);
  const { items, next } = await queryPage({
    index: 'gsi1',
    condition: 'gsi1pk = :partition',
    values: { ':partition': partition },
    limit,
    from: after === undefined ? undefined : { ...keyOf(after), gsi1pk: partition, gsi1sk: after },
  });
  return { items, next_cursor: encodeCursor(next?.['gsi1sk'] as string | undefined) };
}

export const decodeId = (cursor: string | undefined): string | undefined => decodeCursor(cursor, ID);

const nameOf = ({ pk, sk }: Key): string => `${pk}\n${sk}`;
