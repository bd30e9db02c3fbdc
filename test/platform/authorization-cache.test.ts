import { afterAll, beforeAll, expect, test } from 'vitest';
import { AuthorizationCache } from '../../functions/platform/auth/authorization-cache.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { commit, putNew } from '../../functions/platform/data/commit.ts';
import { userKey } from '../../functions/platform/data/keys.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { startControlTable } from '../control-table.ts';

let table: Awaited<ReturnType<typeof startControlTable>>;
beforeAll(async () => {
  table = await startControlTable({ roughness: SMOOTH });
  await commit(people.map((name) => putNew({ ...userKey(name), name })));
});
afterAll(() => table.stop());

const people = Array.from({ length: 60 }, (_, index) => `person-${index}`);
const now = () => new Date('2026-11-20T12:00:00.000Z');
const later = (seconds: number) => () => new Date(now().getTime() + seconds * 1000);
const namesOf = (items: (Record<string, unknown> | undefined)[]) => items.map((item) => item?.['name']);

test.each([1, 3, 20])(
  'every decision gets all it asked for, though there is room for %i entries and all decide at once',
  async (entriesMax) => {
    const cache = new AuthorizationCache(entriesMax);
    // Each asks for what all share, for somebody of their own, for somebody who is not there, and for their neighbour.
    const decide = async (index: number): Promise<void> => {
      const asked = [
        'person-0',
        people[index] ?? '',
        `nobody-${index}`,
        people[(index + 1) % people.length] ?? '',
      ];
      const items = await cache.read(asked.map(userKey), now);
      expect(namesOf(items)).toEqual(asked.map((name) => (name.startsWith('nobody') ? undefined : name)));
      expect(cache.size).toBeLessThanOrEqual(entriesMax);
    };
    await cache.read([userKey('person-0')], now);
    await Promise.all(people.map((_, index) => decide(index)));
    for (const index of people.keys()) await decide(index);
  },
);

test('when there is no room, the longest known is forgotten and the rest is kept', async () => {
  const cache = new AuthorizationCache(3);
  for (const name of ['person-1', 'person-2', 'person-3', 'person-4']) await cache.read([userKey(name)], now);
  const before = table.count();
  expect(namesOf(await cache.read(['person-2', 'person-3', 'person-4'].map(userKey), now))).toEqual([
    'person-2',
    'person-3',
    'person-4',
  ]);
  expect(table.count() - before).toBe(0);
  expect(namesOf(await cache.read([userKey('person-1')], now))).toEqual(['person-1']);
  expect(table.count() - before).toBe(1);
});

test('what one decision asks for twice is read once', async () => {
  const cache = new AuthorizationCache();
  const asked = ['person-5', 'person-5'].map(userKey);
  expect(namesOf(await cache.read(asked, now))).toEqual(['person-5', 'person-5']);
});

test('what is known is good for the configured time', async () => {
  const cache = new AuthorizationCache();
  await cache.read([userKey('person-6')], now);
  expect(cache.isRemembered([userKey('person-6')], later(4.9))).toBe(true);
  expect(cache.isRemembered([userKey('person-6')], later(5))).toBe(false);
});

test('a read that began before a change is not taken for one that began after it', async () => {
  const cache = new AuthorizationCache();
  const key = userKey('given-a-moment-ago');
  // The first read is answered late: it has seen the table before the change, and is told after.
  const seen = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  let isFirst = true;
  dynamo().middlewareStack.add(
    (next) => async (args) => {
      const isLate = isFirst;
      isFirst = false;
      const result = await next(args);
      if (isLate) {
        seen.resolve();
        await answered.promise;
      }
      return result;
    },
    { step: 'initialize', name: 'late' },
  );
  const early = cache.read([key], now);
  await seen.promise;
  await commit([putNew({ ...key, name: 'given' })]);
  const mark = cache.reads;
  const fresh = cache.read([key], now, mark);
  expect(namesOf(await fresh)).toEqual(['given']);
  answered.resolve();
  expect(namesOf(await early)).toEqual([undefined]);
  expect(namesOf(await cache.read([key], now)), 'the later one is remembered').toEqual(['given']);
  dynamo().middlewareStack.remove('late');
});
