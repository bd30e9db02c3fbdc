import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Refusal } from '../../functions/platform/errors.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import {
  cursorAt,
  feedExpiry,
  inOrderSaid,
  numberEvents,
  sequenceAt,
  settled,
} from '../../functions/events/feed.ts';

const now = new Date('2026-11-16T04:00:00.000Z');
const secondsAgo = (seconds: number) => feedExpiry(new Date(now.getTime() - seconds * 1000));

const event = (event_id: string, change = 'c1'): PlatformEvent => ({
  event_id,
  type: 'a.b.c',
  version: 1,
  occurred_at: now.toISOString(),
  actor: 'user:u1',
  correlation_id: change,
  data: {},
});
const idsOf = (events: PlatformEvent[]) => events.map(({ event_id }) => event_id);

describe('numbers', () => {
  test('are given to those that have none, from the end of the feed on', () => {
    const numbered = new Map([['b', 7]]);
    expect(
      numberEvents([event('a'), event('b'), event('c')], numbered, 9).map((each) => each.sequence),
    ).toEqual([10, 7, 11]);
  });

  test('follow the order of the stream, and within one change the order it was said in', () => {
    const streamed = [event('5', 'c2'), event('3'), event('1'), event('4', 'c2'), event('2')];
    expect(idsOf(inOrderSaid(streamed))).toEqual(['4', '5', '1', '2', '3']);
  });
});

describe('a cursor', () => {
  test('stands for the number it was made of', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_999_999_999_999 }), (sequence) => {
        expect(sequenceAt(cursorAt(sequence))).toBe(sequence);
      }),
    );
    expect(sequenceAt(undefined)).toBe(0);
  });

  test('that was not given out is refused', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        try {
          expect(sequenceAt(text)).toBeTypeOf('number');
        } catch (error) {
          expect(error).toBeInstanceOf(Refusal);
        }
      }),
    );
    expect(() => sequenceAt('1')).toThrow(Refusal);
  });
});

describe('what a read of the feed found', () => {
  const row = (sequence: number, ageSeconds: number) => ({ sequence, expires_at: secondsAgo(ageSeconds) });

  test.each([
    ['whole', [row(4, 0), row(5, 0)], 3, [4, 5]],
    ['from the beginning', [row(1, 0), row(2, 0)], 0, [1, 2]],
    ['with a hole that may still be filled', [row(4, 1), row(6, 1)], 3, [4]],
    ['without what may still come first', [row(5, 1)], 3, []],
    ['without what has left by age', [row(40, 60), row(41, 0)], 3, [40, 41]],
    ['with a hole left by age', [row(4, 60), row(6, 60), row(7, 0)], 3, [4, 6, 7]],
    ['empty', [], 3, []],
  ])('%s', (_, found, after, expected) => {
    expect(settled(found, after, now).map(({ sequence }) => sequence)).toEqual(expected);
  });

  test('never lets a reader pass an event that is put there in the same moment', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.array(fc.boolean(), { minLength: 30, maxLength: 30 }),
        (count, seen) => {
          const all = Array.from({ length: count }, (_, index) => row(index + 1, 0));
          const visible = all.filter((_, index) => seen[index]);
          const [passed] = settled(visible, 0, now).slice(-1);
          const before = all.slice(0, passed?.sequence ?? 0);
          expect(before.every((each) => visible.includes(each))).toBe(true);
        },
      ),
    );
  });
});
