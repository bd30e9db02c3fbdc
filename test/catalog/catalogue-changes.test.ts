import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { App } from '../../functions/catalog/app.ts';
import { catalogAt, forgetCatalog } from '../../functions/catalog/catalog-cache-store.ts';
import { changedSince } from '../../functions/catalog/catalog-changes.ts';
import { saveApps } from '../../functions/catalog/keep-release.ts';
import { catalogHeadKey } from '../../functions/catalog/keys.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { Refusal } from '../../functions/platform/errors.ts';
import { readItem } from '../../functions/platform/data/table.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';
import { until } from '../until.ts';
import { changeApp, putApp } from './entitled.ts';

// A warm function reads again what changed, and only that.

const APPS = 40;

let table: ControlTable;
let apps: App[];
/** What was asked of the table, and how many rows came back. */
const asked: { command: string; rows: number }[] = [];
/** Done once, before the next read of rows. */
let meanwhile: (() => Promise<unknown>) | undefined;

beforeAll(async () => {
  // Requests are counted, so none is made twice by chance.
  table = await startControlTable({ roughness: SMOOTH });
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const command = String(commandName).replace('Command', '');
        if (/^(Query|BatchGetItem)$/.test(command) && meanwhile) {
          const work = meanwhile;
          meanwhile = undefined;
          await work();
        }
        const answer = await next(args);
        const { Items, Item, Responses } = answer.output as {
          Items?: unknown[];
          Item?: unknown;
          Responses?: Record<string, unknown[]>;
        };
        const rows = Items?.length ?? Object.values(Responses ?? {}).flat().length + (Item ? 1 : 0);
        if (!command.startsWith('TransactWrite')) asked.push({ command, rows });
        return answer;
      },
    { step: 'initialize', name: 'recordAsked', override: true },
  );
});
beforeEach(async () => {
  await table.renew();
  forgetCatalog();
  apps = [];
  for (let n = 0; n < APPS; n += 1)
    apps.push(await putApp({ slug: `app-${String(n).padStart(2, '0')}`, display_name: 'Change 1' }));
  await shown();
  asked.length = 0;
});
afterAll(() => table.stop());

const appAt = (index: number): App => {
  const app = apps[index];
  if (!app) throw new Error(`There are ${apps.length} apps.`);
  return app;
};

/** Every state of an app tells its number twice, so that a mix of two would show. */
async function change(index: number): Promise<void> {
  const before = appAt(index);
  apps[index] = await changeApp(before, { display_name: `Change ${before.revision + 1}` });
}

/** Beside writers who never rest, somebody may be told to come again. */
const tryToChange = (index: number): Promise<boolean> =>
  change(index).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal && error.code === 'unavailable') return false;
      throw error;
    },
  );

async function changeTogether(...indexes: number[]): Promise<void> {
  const changes = indexes.map((index) => {
    const before = appAt(index);
    const revision = before.revision + 1;
    return { before, after: { ...before, revision, display_name: `Change ${revision}` } };
  });
  await commit(saveApps(changes));
  changes.forEach(({ after }, at) => (apps[indexes[at] ?? 0] = after));
}

const shown = async (): Promise<App[]> =>
  [...(await catalogAt(await readItem(catalogHeadKey()))).values()].map(({ app }) => app);
const bySlug = (): App[] => apps.toSorted((a, b) => (a.slug < b.slug ? -1 : 1));

async function read(): Promise<typeof asked> {
  asked.length = 0;
  expect(await shown()).toEqual(bySlug());
  return [...asked];
}

const HEAD = { command: 'GetItem', rows: 1 };
const again = (rows: number) => [HEAD, { command: 'BatchGetItem', rows }];
const ALL = [HEAD, { command: 'Query', rows: APPS }];

describe(`of ${APPS} apps a warm function reads again`, () => {
  test('none, while nothing changed', async () => {
    expect(await read()).toEqual([HEAD]);
  });

  test('one, after one changed', async () => {
    await change(7);
    expect(await read()).toEqual(again(1));
    expect(await read()).toEqual([HEAD]);
  });

  test('one, after one changed several times', async () => {
    for (let times = 0; times < 5; times += 1) await change(7);
    expect(await read()).toEqual(again(1));
  });

  test('those that changed together', async () => {
    await changeTogether(1, 2, 3);
    expect(await read()).toEqual(again(3));
  });

  test('a new one, which then stands in its place', async () => {
    apps.push(await putApp({ slug: 'app-00-and-a-half' }));
    expect(await read()).toEqual(again(1));
    expect((await shown())[1]?.slug).toBe('app-00-and-a-half');
  });

  test('all, after many changed together, or more often than is kept', async () => {
    await changeTogether(1, 2, 3, 4, 5);
    expect(await read()).toEqual(ALL);
    for (let index = 0; index < 40; index += 1) await change(index);
    expect(await read()).toEqual(ALL);
    await change(3);
    expect(await read()).toEqual(again(1));
  });

  test('all, where somebody counted a change and did not say of what', async () => {
    const head = (await readItem(catalogHeadKey())) ?? {};
    const revision = Number(head['revision']);
    expect(changedSince({ ...head, revision: revision + 1 }, revision)).toBeUndefined();
    expect(changedSince(head, revision)).toBeUndefined();
    expect(changedSince(head, revision + 1)).toBeUndefined();
    expect(changedSince(undefined, revision)).toBeUndefined();
    expect(changedSince(head, revision - 1)).toEqual([apps.at(-1)?.slug]);
  });
});

describe('a change while the catalogue is read', () => {
  test('of the same app is shown whole, and noticed the next time', async () => {
    await change(7);
    meanwhile = () => change(7);
    expect(await read()).toEqual(again(1));
    expect(meanwhile).toBeUndefined();
    expect(await read()).toEqual(again(1));
  });

  test('of another app is seen the next time', async () => {
    await change(7);
    const before = appAt(9);
    meanwhile = () => change(9);
    expect((await shown()).find(({ slug }) => slug === before.slug)).toEqual(before);
    expect(await read()).toEqual(again(1));
  });

  test('of any app, again and again, shows each app as it was at some moment, and never an older one', async () => {
    let isOver = false;
    const writers = Array.from({ length: 4 }, async (_, own) => {
      for (let times = 0; times < 25; times += 1) {
        const index = own * 5 + (times % 5);
        await until(() => tryToChange(index));
      }
    });
    const writing = Promise.all(writers).finally(() => (isOver = true));
    const latest = new Map<string, number>();
    while (!isOver) {
      const committed = bySlug().map(({ revision }) => revision);
      const seen = await shown();
      expect(seen).toHaveLength(APPS);
      for (const [at, { slug, revision, display_name }] of seen.entries()) {
        expect(display_name).toBe(`Change ${revision}`);
        // What was committed before the read began is seen, and nothing goes back.
        expect(revision).toBeGreaterThanOrEqual(Math.max(committed[at] ?? 0, latest.get(slug) ?? 0));
        latest.set(slug, revision);
      }
    }
    await writing;
    expect(await shown()).toEqual(bySlug());
  });
});
