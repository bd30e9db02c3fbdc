import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { queryAll } from '../../functions/platform/data/rows.ts';
import { putItem } from '../../functions/platform/data/table.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

const ROWS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/** DynamoDB gives a megabyte at once: three or four of them. */
const LARGE = 'x'.repeat(300 * 1024);

let table: ControlTable;

beforeAll(async () => {
  table = await startControlTable();
  for (const sk of ROWS) await putItem({ pk: 'THINGS', sk, said: LARGE });
});
afterAll(() => table.stop());

async function readThings(max: number, pk = 'THINGS') {
  const before = table.count();
  const { items, isTruncated } = await queryAll({ condition: 'pk = :pk', values: { ':pk': pk }, max });
  return { names: items.map(({ sk }) => sk), isTruncated, requests: table.count() - before };
}

describe('everything a query finds', () => {
  test('is read to the end, over as many pages as it takes', async () => {
    const { requests, ...found } = await readThings(100);
    expect(found).toEqual({ names: ROWS, isTruncated: false });
    expect(requests).toBeGreaterThan(1);
  });

  test('is cut off at the limit, also in the middle of a page, and said to be', async () => {
    for (const max of [1, 5])
      expect(await readThings(max)).toMatchObject({ names: ROWS.slice(0, max), isTruncated: true });
  });

  test('is whole where there is exactly as much as the limit', async () => {
    expect(await readThings(ROWS.length)).toMatchObject({ names: ROWS, isTruncated: false });
  });

  test('may be nothing, by one request', async () => {
    expect(await readThings(100, 'NOTHING')).toEqual({ names: [], isTruncated: false, requests: 1 });
  });
});
