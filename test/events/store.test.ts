import { afterAll, beforeAll, expect, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { feedHeadKey } from '../../functions/platform/data/keys.ts';
import { putItem, readItem } from '../../functions/platform/data/table.ts';
import { markRelayed } from '../../functions/events/feed-store.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

let table: ControlTable;

beforeAll(async () => void (table = await startControlTable()));

afterAll(() => table.stop());

test('how far the bus was told never goes back, whoever says so last', async () => {
  const place = newId();
  await putItem({ ...feedHeadKey(place), sequence: 9, relayed: 0 });
  await markRelayed(place, 7);
  await markRelayed(place, 4);
  expect(await readItem(feedHeadKey(place))).toMatchObject({ sequence: 9, relayed: 7 });
});
