import * as fc from 'fast-check';
import { v7 } from 'uuid';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  type AuditView,
  idsBetween,
  justBefore,
  latestMonth,
  mergeParts,
  monthBefore,
} from '../../functions/events/audit.ts';
import { listAudit } from '../../functions/events/list-audit.ts';
import { listProjectAudit } from '../../functions/events/list-project-audit.ts';
import { type AuditRow, insertAudit } from '../../functions/platform/data/audit.ts';
import { AUDIT_SHARDS, auditShard } from '../../functions/platform/data/keys.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { type Context, createContext } from '../../functions/platform/context.ts';
import type { Endpoint } from '../../functions/platform/http/endpoint.ts';
import { newId } from '../../functions/platform/ids.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { type ControlTable, startControlTable } from '../control-table.ts';

interface Page {
  items: AuditView[];
  next_cursor: string | null;
}

const NOW = new Date('2026-11-16T04:00:00.000Z');
const DAY_MS = 24 * 3600 * 1000;

let table: ControlTable;
let ctx: Context;

beforeAll(async () => {
  // Requests are counted, and the index is asked for what was just written.
  table = await startControlTable({ roughness: SMOOTH });
});

beforeEach(() => {
  const project = {
    id: newId(),
    org_id: newId(),
    slug: 'p',
    name: 'P',
    status: 'active' as const,
    version: 1,
  };
  ctx = { ...createContext('look-1'), project, now: () => NOW };
});

afterAll(() => table.stop());

async function read(endpoint: Endpoint, query: Record<string, string> = {}): Promise<Page> {
  const { body } = await endpoint.run(ctx, {
    route: '',
    params: { project_id: ctx.project?.id },
    query,
    bodyText: undefined,
    contentType: '',
    idempotencyKey: undefined,
    ifMatch: undefined,
    sourceIp: '',
  });
  return body as Page;
}

/** The list of everything is in as many parts, each of them one request. */
const requestsOf = (endpoint: Endpoint): number => (endpoint === listAudit ? AUDIT_SHARDS.length : 1);

async function readAll(endpoint: Endpoint, query: Record<string, string> = {}): Promise<AuditView[]> {
  const items: AuditView[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < 100; page += 1) {
    const before = table.count();
    const answer: Page = await read(endpoint, { ...query, ...(cursor !== null && { cursor }) });
    expect(table.count() - before).toBeLessThanOrEqual(requestsOf(endpoint));
    items.push(...answer.items);
    cursor = answer.next_cursor;
    if (cursor === null) return items;
  }
  throw new Error('The list does not end.');
}

async function record(daysAgo: number, change: Partial<AuditRow> = {}): Promise<string> {
  const at = new Date(NOW.getTime() - daysAgo * DAY_MS);
  const id = v7({ msecs: at.getTime() + 3 });
  const row: AuditRow = {
    id,
    at: at.toISOString(),
    actor: 'user:u1',
    action: 'a.b.change',
    subject: 'thing:1',
    correlation_id: 'look-1',
    org_id: ctx.project?.org_id,
    project_id: ctx.project?.id,
    ...change,
  };
  await commit([insertAudit(row)]);
  return id;
}

const idsOf = (rows: AuditView[]) => rows.map(({ id }) => id);

describe('the audit of a project', () => {
  test('is its own, newest first, each page by one request', async () => {
    const ids: string[] = [];
    for (let day = 12; day > 0; day -= 1) ids.unshift(await record(day));
    await record(1, { project_id: newId() });
    await record(1, { project_id: undefined });
    expect(idsOf(await readAll(listProjectAudit, { limit: '5' }))).toEqual(ids);
    expect(await readAll(listProjectAudit)).toHaveLength(12);
  });

  test('tells who did what to what, from where, and what it was before and after', async () => {
    const id = await record(1, {
      actor_email: 'a@example.com',
      before: { name: 'old' },
      after: { name: 'new' },
      source_ip: '192.0.2.1',
    });
    const [row] = await readAll(listProjectAudit);
    expect(row).toEqual({
      id,
      at: '2026-11-15T04:00:00.000Z',
      actor: 'user:u1',
      actor_email: 'a@example.com',
      action: 'a.b.change',
      subject: 'thing:1',
      before: { name: 'old' },
      after: { name: 'new' },
      correlation_id: 'look-1',
      source_ip: '192.0.2.1',
      org_id: ctx.project?.org_id,
      project_id: ctx.project?.id,
    });
  });

  test('is asked by actor, action, subject, request and time, each alone and together', async () => {
    const a = await record(4, { actor: 'user:a' });
    const b = await record(3, { actor: 'user:b', action: 'a.b.remove', correlation_id: 'look-2' });
    const c = await record(2, { actor: 'user:a', subject: 'thing:2' });
    const d = await record(1, { actor: 'user:a', action: 'a.b.remove' });
    const days = (ago: number) => new Date(NOW.getTime() - ago * DAY_MS).toISOString();
    const asked: [Record<string, string>, string[]][] = [
      [{ actor: 'user:a' }, [d, c, a]],
      [{ action: 'a.b.remove' }, [d, b]],
      [{ subject: 'thing:2' }, [c]],
      [{ correlation_id: 'look-2' }, [b]],
      [{ actor: 'user:a', action: 'a.b.remove' }, [d]],
      [{ from: days(3) }, [d, c, b]],
      [{ to: days(3) }, [b, a]],
      [{ from: days(3), to: days(2) }, [c, b]],
      [{ from: days(3), to: new Date(NOW.getTime() - 2 * DAY_MS - 1).toISOString() }, [b]],
      [{ from: new Date(NOW.getTime() - 3 * DAY_MS + 1).toISOString(), to: days(2) }, [c]],
      [{ from: days(3.5), to: days(1.5), actor: 'user:a' }, [c]],
      [{ from: days(1), to: days(3) }, []],
      [{ actor: 'user:nobody' }, []],
      [{ from: '1960-01-01T00:00:00Z', to: '9999-12-31T23:59:59+00:00' }, [d, c, b, a]],
    ];
    for (const [query, expected] of asked) {
      expect(idsOf(await readAll(listProjectAudit, query))).toEqual(expected);
      expect(idsOf(await readAll(listProjectAudit, { ...query, limit: '1' }))).toEqual(expected);
    }
  });

  test('looks at a bounded number of rows for a page, and goes on where it stopped', async () => {
    const wanted: string[] = [];
    for (let index = 0; index < 1_100; index += 50) {
      const rows = Array.from({ length: 50 }, (_, each) => index + each);
      const ids = await Promise.all(
        rows.map((each) =>
          record(1 - each / 10_000, { actor: each % 300 === 0 ? 'user:rare' : 'user:often' }),
        ),
      );
      wanted.push(...ids.filter((_, each) => (index + each) % 300 === 0));
    }
    const first = await read(listProjectAudit, { actor: 'user:rare', limit: '100' });
    expect(first.items.length).toBeLessThan(4);
    expect(first.next_cursor).not.toBeNull();
    expect(idsOf(await readAll(listProjectAudit, { actor: 'user:rare' }))).toEqual(wanted.toReversed());
  }, 60_000);

  test.each([
    [{ from: 'yesterday' }, '?/from'],
    [{ to: '2026-99-99T00:00:00Z' }, '?/to'],
    [{ from: '2026-01-01T00:00:00+23' }, '?/from'],
    [{ actor: '' }, '?/actor'],
    [{ subject: 'x'.repeat(301) }, '?/subject'],
    [{ cursor: 'AAAA' }, '?/cursor'],
    [{ who: 'me' }, '?/who'],
  ])('refuses %j by pointer', async (query, pointer) => {
    await expect(read(listProjectAudit, query)).rejects.toMatchObject({
      code: 'request.invalid',
      faults: [{ pointer }],
    });
  });
});

describe('the audit of everything', () => {
  test('walks from month to month, newest first, through empty ones, one request a part and page', async () => {
    const mine = `user:${newId()}`;
    const ids = [
      await record(1, { actor: mine }),
      await record(10, { actor: mine, project_id: undefined }),
      await record(40, { actor: mine, project_id: newId() }),
      await record(200, { actor: mine, org_id: undefined, project_id: undefined }),
    ];
    expect(idsOf(await readAll(listAudit, { actor: mine }))).toEqual(ids);
    expect(idsOf(await readAll(listAudit, { actor: mine, limit: '1' }))).toEqual(ids);
  });

  test('ends where the span asked for begins, and begins where it ends', async () => {
    const mine = `user:${newId()}`;
    await record(1, { actor: mine });
    const wanted = await record(40, { actor: mine });
    await record(100, { actor: mine });
    const before = table.count();
    const found = await readAll(listAudit, {
      actor: mine,
      from: '2026-09-30T00:00:00Z',
      to: '2026-10-31T23:59:59Z',
    });
    expect(idsOf(found)).toEqual([wanted]);
    expect(table.count() - before).toBe(2 * AUDIT_SHARDS.length);
  });

  test('ends after two years', async () => {
    const mine = `user:${newId()}`;
    await record(1000, { actor: mine });
    const before = table.count();
    expect(await readAll(listAudit, { actor: mine })).toEqual([]);
    expect(table.count() - before).toBeLessThan(30 * AUDIT_SHARDS.length);
  });

  test('is spread over its parts, and every page is the newest of what is left', async () => {
    const mine = `user:${newId()}`;
    const ids: string[] = [];
    for (let each = 0; each < 60; each += 1) ids.unshift(await record(14.5 - each / 1_000, { actor: mine }));
    // A day on which nothing else happened.
    const from = '2026-11-01T12:00:00Z';
    const to = '2026-11-02T00:00:00Z';
    for (const limit of ['1', '7', '60', '100']) {
      expect(idsOf(await readAll(listAudit, { from, to, limit }))).toEqual(ids);
      expect(idsOf(await readAll(listAudit, { from, to, limit, actor: mine }))).toEqual(ids);
    }
    expect(new Set(ids.map((id) => auditShard(id))).size).toBe(AUDIT_SHARDS.length);
  });

  test('of parts that stop anywhere is one list without gap or repetition', () => {
    const ids = Array.from({ length: 40 }, (_, n) => v7({ msecs: NOW.getTime() + n })).toReversed();
    const rowOf = (id: string) => ({ id }) as AuditView;
    fc.assert(
      fc.property(
        fc.array(fc.nat(3), { minLength: 40, maxLength: 40 }),
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 4, maxLength: 4 }),
        (parts, limit, lookedAt) => {
          const seen: string[] = [];
          let before: string | undefined;
          do {
            const page = mergeParts(
              lookedAt.map((count, part) => {
                const left = ids.filter((id, n) => parts[n] === part && (!before || id < before));
                const rows = left.slice(0, Math.min(count, limit)).map(rowOf);
                return { rows, ...(left.length > rows.length && { next: rows.at(-1)?.id }) };
              }),
              limit,
            );
            seen.push(...idsOf(page.rows));
            before = page.next;
          } while (before !== undefined);
          expect(seen).toEqual(ids);
        },
      ),
    );
  });

  test.each(['2026-13', '2026-11/x', '../2026-11'])('refuses the cursor %j', async (text) => {
    const cursor = Buffer.from(text).toString('base64url');
    await expect(read(listAudit, { cursor })).rejects.toMatchObject({ faults: [{ pointer: '?/cursor' }] });
  });
});

describe('ids and times', () => {
  const time = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });

  test('the ids of a span hold every row of it', () => {
    fc.assert(
      fc.property(time, time, fc.nat(1_000), (a, b, lagMs) => {
        const [from, to] = a < b ? [a, b] : [b, a];
        const { first, last } = idsBetween({ from, to });
        for (const at of [from, to]) {
          const id = v7({ msecs: at.getTime() + lagMs });
          expect(first <= id && id <= last).toBe(true);
        }
        expect(
          v7({ msecs: from.getTime() - 1 < 0 ? 0 : from.getTime() - 1 }) < first || from.getTime() === 0,
        ).toBe(true);
      }),
    );
  });

  test('just before an id lies everything that is before it, and not it', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (a, b) => {
        const [lower, upper] = a < b ? [a, b] : [b, a];
        expect(justBefore(upper) < upper).toBe(true);
        if (lower !== upper) expect(lower < justBefore(upper)).toBe(true);
      }),
    );
  });

  test.each([
    ['2026-11', {}, '2026-10'],
    ['2026-01', {}, '2025-12'],
    ['2024-11', {}, undefined],
    ['2026-11', { from: new Date('2026-11-01T00:00:00Z') }, undefined],
    ['2026-11', { from: new Date('2026-10-31T23:59:59Z') }, '2026-10'],
  ])('before %s with %j comes %s', (month, filter, expected) => {
    expect(monthBefore(month, filter, NOW)).toBe(expected);
  });

  test('nothing is looked for in the future', () => {
    expect(latestMonth({ to: new Date('2031-01-01T00:00:00Z') }, NOW)).toBe('2026-11');
    expect(latestMonth({ to: new Date('2026-03-31T00:00:00Z') }, NOW)).toBe('2026-03');
  });
});
