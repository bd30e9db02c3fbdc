import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Context } from '../../functions/platform/context.ts';
import { createContext } from '../../functions/platform/context.ts';
import { Refusal } from '../../functions/platform/errors.ts';
import { type Limit, standingOf, windowMsOf } from '../../functions/platform/rates/rate-bucket.ts';
import { Buckets } from '../../functions/platform/rates/rate-buckets.ts';
import { networkOf } from '../../functions/platform/rates/rate-source.ts';
import { LIMITS, limitCaller, limitSource } from '../../functions/platform/rates/rates.ts';

const NOON_MS = Date.parse('2026-11-02T12:00:00Z');

const anyLimit = fc.record({
  quota: fc.integer({ min: 1, max: 50 }),
  intervalMs: fc.integer({ min: 1, max: 2_000 }),
});

/** Calls as they arrive: how long after the one before. Half of them come at once. */
const anyArrivals = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 5_000 })), {
  maxLength: 300,
});

/** The times of the calls that passed. */
function passing(limit: Limit, gapsMs: number[]): number[] {
  let nowMs = NOON_MS;
  let fullAtMs: number | undefined;
  return gapsMs.flatMap((gapMs) => {
    nowMs += gapMs;
    const standing = standingOf(limit, fullAtMs, nowMs);
    fullAtMs = standing.fullAtMs;
    return standing.waitMs === 0 ? [nowMs] : [];
  });
}

function mostIn(timesMs: number[], spanMs: number): number {
  return Math.max(
    0,
    ...timesMs.map((from) => timesMs.filter((time) => time >= from && time <= from + spanMs).length),
  );
}

describe('a bucket', () => {
  test('lets no more than the quota and what came back since through, in any span of time', () => {
    fc.assert(
      fc.property(anyLimit, anyArrivals, fc.integer({ min: 0, max: 120_000 }), (limit, gapsMs, spanMs) => {
        const refilled = spanMs / limit.intervalMs;
        expect(mostIn(passing(limit, gapsMs), spanMs)).toBeLessThanOrEqual(limit.quota + refilled);
      }),
    );
  });

  test('lets the whole quota through at once, when nothing was spent for a window', () => {
    fc.assert(
      fc.property(anyLimit, anyArrivals, (limit, gapsMs) => {
        const idleMs = windowMsOf(limit);
        const burst = [idleMs, ...Array<number>(limit.quota).fill(0)];
        const before = passing(limit, gapsMs).length;
        expect(passing(limit, [...gapsMs, ...burst]).length - before).toBe(limit.quota);
      }),
    );
  });

  test('says how long to wait: a call passes then, and not a moment sooner', () => {
    fc.assert(
      fc.property(anyLimit, fc.integer({ min: 0, max: 100 }), (limit, pausedMs) => {
        const emptied = NOON_MS + windowMsOf(limit);
        const nowMs = NOON_MS + Math.min(pausedMs, limit.intervalMs - 1);
        const { waitMs, fullAtMs } = standingOf(limit, emptied, nowMs);
        expect(waitMs).toBeGreaterThan(0);
        expect(standingOf(limit, fullAtMs, nowMs + waitMs).waitMs).toBe(0);
        expect(standingOf(limit, fullAtMs, nowMs + waitMs - 1).waitMs).toBeGreaterThan(0);
      }),
    );
  });

  test('counts down to nothing left, then refuses', () => {
    const limit = { quota: 3, intervalMs: 1_000 };
    let fullAtMs: number | undefined;
    const remaining = [1, 2, 3, 4].map(() => {
      const standing = standingOf(limit, fullAtMs, NOON_MS);
      fullAtMs = standing.fullAtMs;
      return [standing.remaining, standing.waitMs];
    });
    expect(remaining).toEqual([
      [2, 0],
      [1, 0],
      [0, 0],
      [0, 1000],
    ]);
  });

  test('is waited for one window at most, after the clock was set back', () => {
    const limit = { quota: 5, intervalMs: 2_000 };
    const tomorrow = NOON_MS + 24 * 3_600_000;
    expect(standingOf(limit, tomorrow, NOON_MS)).toMatchObject({ waitMs: 2_000, fullAtMs: NOON_MS + 10_000 });
  });
});

describe('many buckets', () => {
  const limit = { quota: 10, intervalMs: 1_000 };

  function call(buckets: Buckets, caller: string, nowMs: number): boolean {
    const standing = buckets.look(caller, nowMs);
    if (standing.waitMs > 0) return false;
    buckets.spend(caller, standing, nowMs);
    return true;
  }

  test('never become more than their bound', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ max: 400, min: 0 }), fc.integer({ min: 0, max: 300 }))),
        (calls) => {
          const buckets = new Buckets(limit, 50);
          let nowMs = NOON_MS;
          for (const [caller, gapMs] of calls) {
            call(buckets, String(caller), (nowMs += gapMs));
            expect(buckets.count).toBeLessThanOrEqual(50);
          }
        },
      ),
    );
  });

  test('forget those that are full again before any other', () => {
    const buckets = new Buckets(limit, 20);
    for (let each = 0; each < 10; each += 1) call(buckets, `idle-${each}`, NOON_MS);
    for (let each = 0; each < 10; each += 1) call(buckets, `busy-${each}`, NOON_MS + 5_000);
    call(buckets, 'newcomer', NOON_MS + 5_000);
    expect(buckets.count).toBe(11);
    expect(buckets.look('busy-0', NOON_MS + 5_000).remaining).toBe(8);
  });

  test('do not let a flood start afresh by calling under other names', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 40 })), {
          minLength: 300,
          maxLength: 600,
        }),
        (calls) => {
          const buckets = new Buckets(limit, 50);
          const passed: number[] = [];
          let nowMs = NOON_MS;
          for (const [other, gapMs] of calls) {
            nowMs += gapMs;
            // The flood itself, and around it any number of others who call a few times each.
            for (let tries = 0; tries < 3; tries += 1) if (call(buckets, 'flood', nowMs)) passed.push(nowMs);
            call(buckets, `other-${other}`, nowMs);
          }
          const spanMs = nowMs - NOON_MS;
          expect(passed.length).toBeLessThanOrEqual(limit.quota + spanMs / limit.intervalMs);
        },
      ),
    );
  });
});

describe('a source address', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['', ''],
  ])('%s counts as %s', (sourceIp, network) => {
    expect(networkOf(sourceIp)).toBe(network);
  });

  test('is never told from another of its network, however it is written', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        expect(networkOf(address)).toBe(networkOf(address.toUpperCase()));
        if (!address.includes('.')) expect(networkOf(address)).toMatch(/^([0-9a-f]{1,4}:){4}:\/64$/);
      }),
    );
  });
});

let callers = 0;

function contextOf(more: Partial<Context> & { nowMs?: number } = {}): Context {
  callers += 1;
  const { nowMs = NOON_MS, ...rest } = more;
  return {
    ...createContext('look-1'),
    actor: { kind: 'service_account', id: `sa-${callers}` },
    now: () => new Date(nowMs),
    ...rest,
  };
}

const org = (id: string) => ({ id, slug: id, name: id, version: 1 });

function refusalOf(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('Nothing was refused.');
}

describe('limits of a caller', () => {
  test('are told with every answer, as structured fields', () => {
    expect(limitCaller(contextOf({ org: org('told') }))).toEqual({
      'ratelimit-policy': '"principal";q=200;w=4, "org";q=1000;w=5',
      ratelimit: '"principal";r=199;t=1, "org";r=999;t=1',
    });
    expect(limitCaller(contextOf())).toEqual({
      'ratelimit-policy': '"principal";q=200;w=4',
      ratelimit: '"principal";r=199;t=1',
    });
  });

  test('refuse with a time after which a call passes', () => {
    const ctx = contextOf();
    for (let each = 0; each < LIMITS.principal.quota; each += 1) limitCaller(ctx);
    const { code, headers } = refusalOf(() => limitCaller(ctx));
    expect({ code, headers }).toEqual({
      code: 'rate.exceeded',
      headers: {
        'retry-after': '1',
        'ratelimit-policy': '"principal";q=200;w=4',
        ratelimit: '"principal";r=0;t=4',
      },
    });
    const later = NOON_MS + Number(headers['retry-after']) * 1000;
    expect(limitCaller({ ...ctx, now: () => new Date(later) })).toHaveProperty('ratelimit');
  });

  test("hold for a whole organisation, whichever of its projects and members call, and nobody else's", () => {
    const project = {
      id: 'p',
      org_id: 'crowded',
      slug: 'p',
      name: 'p',
      status: 'active',
      version: 1,
    } as const;
    let passed = 0;
    const { headers } = refusalOf(() => {
      for (; passed <= LIMITS.org.quota; passed += 1)
        limitCaller(contextOf(passed % 2 ? { project } : { org: org('crowded') }));
    });
    expect(passed).toBe(LIMITS.org.quota);
    expect(headers['ratelimit']).toContain('"org";r=0;t=5');
    expect(limitCaller(contextOf({ org: org('calm') }))).toHaveProperty('ratelimit');
  });

  test("do not let one member's flood use up the organisation's share", () => {
    const flooding = contextOf({ org: org('shared') });
    for (let each = 0; each < 5_000; each += 1) {
      try {
        limitCaller(flooding);
      } catch {
        // Refused, as most of a flood is.
      }
    }
    const { ratelimit } = limitCaller(contextOf({ org: org('shared') }));
    expect(ratelimit).toContain(`"org";r=${LIMITS.org.quota - LIMITS.principal.quota - 1};`);
  });
});

describe('limits of an address', () => {
  const now = new Date(NOON_MS);
  const drain = (route: string, ip: string): number => {
    let passed = 0;
    refusalOf(() => {
      for (; passed < 10_000; passed += 1) limitSource(route, ip, now);
    });
    return passed;
  };

  test('are strict where credentials are tried, and the same for both ways there', () => {
    expect(drain('POST /api/v1/auth/service-account/token', '203.0.113.1')).toBe(60);
    const { headers } = refusalOf(() => limitSource('POST /api/v1/auth/sa/token', '203.0.113.1', now));
    expect(headers).toEqual({
      'retry-after': '1',
      'ratelimit-policy': '"token";q=60;w=60',
      ratelimit: '"token";r=0;t=60',
    });
    expect(limitSource('POST /api/v1/auth/sa/token', '203.0.113.2', now)).toHaveProperty('ratelimit');
  });

  test('are generous for health and documents, which go on when the others are spent', () => {
    drain('POST /api/v1/auth/sa/token', '203.0.113.3');
    expect(drain('GET /api/v1/health', '203.0.113.3')).toBe(200);
  });

  test('hold for a whole network of IPv6', () => {
    drain('POST /api/v1/auth/sa/token', '2001:db8:0:9::1');
    expect(refusalOf(() => limitSource('POST /api/v1/auth/sa/token', '2001:db8:0:9:ffff::2', now)).code).toBe(
      'rate.exceeded',
    );
  });

  test('are told in whole seconds that say just what they are', () => {
    for (const limit of Object.values(LIMITS)) expect(windowMsOf(limit) % 1000).toBe(0);
  });

  test('together with those of callers keep no more than ten thousand buckets', () => {
    const kept = Object.values(LIMITS).reduce((sum, { bucketsMax }) => sum + bucketsMax, 0);
    expect(kept).toBeLessThanOrEqual(10_000);
  });
});
