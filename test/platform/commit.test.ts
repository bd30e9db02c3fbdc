import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decidingAgain } from '../../functions/platform/data/change.ts';
import { change, commit, Conflict, putNew, replace, update } from '../../functions/platform/data/commit.ts';
import { type Item, type Key, putItem, readItem } from '../../functions/platform/data/table.ts';
import { refuse } from '../../functions/platform/errors.ts';
import { newId } from '../../functions/platform/ids.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

let table: ControlTable;
beforeAll(async () => {
  table = await startControlTable();
});
afterAll(() => table.stop());

const newKey = (): Item => ({ pk: `THING#${newId()}`, sk: 'THING' });

async function stored(attributes: Record<string, unknown>): Promise<Item> {
  const item = { ...newKey(), ...attributes };
  await putItem(item);
  return item;
}

const keyOf = ({ pk, sk }: Item): Key => ({ pk, sk });

describe('a commit', () => {
  test('is refused as the write says whose condition failed, and then none of its writes happens', async () => {
    const there = await stored({ number: 1 });
    const other = newKey();
    const writes = [putNew(other, refuse('org.unknown')), putNew(there, refuse('project.archived'))];
    await expect(commit(writes)).rejects.toMatchObject({ code: 'project.archived' });
    expect(await readItem(other)).toBeUndefined();
  });

  test('is a conflict where the write that failed says nothing', async () => {
    const there = await stored({ number: 1 });
    const writes = [putNew(newKey(), refuse('org.unknown')), putNew(there)];
    await expect(commit(writes)).rejects.toBeInstanceOf(Conflict);
  });

  test('replaces a row as long as it is what was read', async () => {
    const item = await stored({ number: 1, said: 'before', note: 'goes' });
    const after = { ...keyOf(item), number: 2, said: 'before' };
    await commit([replace(after, { number: 1, said: 'before' })]);
    expect(await readItem(keyOf(item))).toEqual(after);
    for (const read of [{ number: 1 }, { number: 1, said: 'before' }])
      await expect(commit([replace({ ...after, number: 3 }, read)])).rejects.toBeInstanceOf(Conflict);
    expect(await readItem(keyOf(item))).toEqual(after);
  });

  test('changes the attributes it names, removes those it names as undefined, and leaves the others', async () => {
    const item = await stored({ status: 'open', note: 'old', count: 7 });
    await commit([change(keyOf(item), { status: 'closed', note: undefined, missing: undefined })]);
    expect(await readItem(keyOf(item))).toEqual({ ...keyOf(item), status: 'closed', count: 7 });
    await commit([change(keyOf(item), { status: undefined })]);
    expect(await readItem(keyOf(item))).toEqual({ ...keyOf(item), count: 7 });
  });

  test('changes attributes under a condition of its own', async () => {
    const item = await stored({ status: 'open', version: 2 });
    const closing = (version: number) =>
      change(
        keyOf(item),
        { status: 'closed' },
        { condition: 'version = :seen', values: { ':seen': version } },
        refuse('precondition.failed'),
      );
    await expect(commit([closing(1)])).rejects.toMatchObject({ code: 'precondition.failed' });
    expect(await readItem(keyOf(item))).toMatchObject({ status: 'open' });
    await commit([closing(2)]);
    expect(await readItem(keyOf(item))).toMatchObject({ status: 'closed' });
  });
});

describe('what meets a conflict', () => {
  test('is decided again, on what is there then', async () => {
    const item = await stored({ number: 1 });
    let attempts = 0;
    const double = async () => {
      attempts += 1;
      const number = Number((await readItem(keyOf(item)))?.['number']);
      // Somebody else is quicker, twice.
      if (attempts <= 2)
        await commit([
          update(keyOf(item), { update: 'ADD #n :one', names: { '#n': 'number' }, values: { ':one': 1 } }),
        ]);
      await commit([replace({ ...item, number: number * 2 }, { number })]);
      return number;
    };
    expect(await decidingAgain(double, refuse('unavailable'))).toBe(3);
    expect(await readItem(keyOf(item))).toMatchObject({ number: 6 });
    expect(attempts).toBe(3);
  });

  test('for good is refused as it was told to be, after a few seconds', { timeout: 15_000 }, async () => {
    const there = await stored({ number: 1 });
    let attempts = 0;
    const inVain = () => {
      attempts += 1;
      return commit([putNew(there)]);
    };
    await expect(decidingAgain(inVain, refuse('request.conflict'))).rejects.toMatchObject({
      code: 'request.conflict',
    });
    expect(attempts).toBeGreaterThan(1);
  });
});

test('what is refused or fails is not decided again', async () => {
  for (const error of [refuse('project.archived'), new Error('The disk is full.')]) {
    let attempts = 0;
    const fail = async () => {
      attempts += 1;
      throw error;
    };
    await expect(decidingAgain(fail, refuse('unavailable'))).rejects.toBe(error);
    expect(attempts).toBe(1);
  }
});
