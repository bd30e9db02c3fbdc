import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { createContext } from '../../functions/platform/context.ts';
import { runSweep, type Sweep } from '../../functions/platform/workflow/sweep.ts';

const begun = new Date('2026-11-20T12:00:00.000Z');
const ITEMS = ['a', 'b', 'c', 'd'];

/** A sweep over four items, each of which takes so long; what was mended, and what was noted as failed. */
async function sweep(stated: Partial<Sweep<string>> = {}, secondsEach = 0) {
  const mended: string[] = [];
  const noted: string[] = [];
  let seconds = 0;
  const ctx = { ...createContext('look-1'), now: () => secondsAfter(begun, seconds) };
  await runSweep(ctx, {
    noun: 'thing',
    find: async () => ITEMS,
    label: (item) => ({ item }),
    failed: async (_ctx, item) => void noted.push(item),
    secondsMax: 60,
    ...stated,
    async mend(of, item) {
      await stated.mend?.(of, item);
      mended.push(item);
      seconds += secondsEach;
    },
  });
  return { mended, noted };
}

describe('a sweep', () => {
  test('mends what it finds, in that order', async () => {
    expect(await sweep()).toEqual({ mended: ITEMS, noted: [] });
  });

  test('finds page by page, and no further page than it gets to', async () => {
    const pages: string[] = [];
    async function* find() {
      for (const item of ITEMS) {
        pages.push(item);
        yield item;
      }
    }
    expect(await sweep({ find }, 30)).toEqual({ mended: ['a', 'b'], noted: [] });
    expect(pages).toEqual(['a', 'b']);
  });

  test('goes on after an item that cannot be mended, and notes that one alone', async () => {
    const mend = async (_: unknown, item: string) => {
      if (item === 'b') throw new Error('It cannot be helped.');
    };
    expect(await sweep({ mend })).toEqual({ mended: ['a', 'c', 'd'], noted: ['b'] });
    expect(await sweep({ mend, failed: undefined })).toEqual({ mended: ['a', 'c', 'd'], noted: [] });
  });

  test('begins nothing when its time is over, and ends what it has begun', async () => {
    expect(await sweep({}, 29)).toEqual({ mended: ['a', 'b', 'c'], noted: [] });
    expect(await sweep({}, 60)).toEqual({ mended: ['a'], noted: [] });
    expect(await sweep({ secondsMax: 0 })).toEqual({ mended: [], noted: [] });
  });

  test('mends as many at once as it says, and each once', async () => {
    let underWay = 0;
    let most = 0;
    const mend = async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      await nextTurn();
      underWay -= 1;
    };
    expect((await sweep({ mend })).mended).toEqual(ITEMS);
    expect(most).toBe(1);
    expect((await sweep({ mend, atOnce: 3 })).mended.sort()).toEqual(ITEMS);
    expect(most).toBe(3);
  });

  test('that finds nothing out fails, so that its alarm goes off', async () => {
    const find = async () => {
      throw new Error('The index is away.');
    };
    await expect(sweep({ find })).rejects.toThrow('The index is away.');
  });
});
