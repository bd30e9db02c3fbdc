import * as v from 'valibot';
import type { Refusal } from '../errors.ts';
import { requireThat, update, type Write } from './commit.ts';
import type { Key } from './table.ts';

const Counter = v.object({ count: v.number() });

/** Of a row that need not be there. */
export const countIn = (row: unknown): number => v.parse(v.optional(Counter, { count: 0 }), row).count;

/** Whoever starts or ends something counts it here, in a row that nobody else writes: so it makes nobody conflict. */
export const addTo = (counter: Key, by: number): Write =>
  update(counter, { update: 'ADD #count :by', names: { '#count': 'count' }, values: { ':by': by } });

/** Only what must not happen while something is counted asks for the count. */
export const requireNone = (counter: Key, refusal?: Refusal): Write =>
  requireThat(
    counter,
    {
      condition: 'attribute_not_exists(#count) OR #count = :none',
      names: { '#count': 'count' },
      values: { ':none': 0 },
    },
    refusal,
  );
