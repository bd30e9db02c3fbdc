import * as v from 'valibot';
import { secondsAfter } from '../clock.ts';
import type { Context } from '../context.ts';
import { countUnrepaired } from '../metrics.ts';
import { task } from './task.ts';

/** Finds and repairs work that events have missed. It has no input, reads only stored state, and may run twice. */
export interface Sweep<T> {
  /** What is repaired, for the log: `promotion`. */
  noun: string;
  /** The items that may need repair, in order. The next run finds what this one leaves. */
  find: (ctx: Context) => AsyncIterable<T> | Promise<Iterable<T>>;
  mend: (ctx: Context, item: T) => Promise<void>;
  /** Identifies an item in the log. */
  label: (item: T) => Record<string, unknown>;
  /** Records that an item could not be repaired. */
  failed?: (ctx: Context, item: T) => Promise<void>;
  /** How many items are repaired at the same time. */
  atOnce?: number;
  /** After this time no further item is begun; those in progress still end before the function's time-out. */
  secondsMax: number;
}

/** The scheduled function of a sweep. */
export const sweeping = <T>(sweep: Sweep<T>) => task(v.unknown(), (ctx) => runSweep(ctx, sweep));

export async function runSweep<T>(ctx: Context, sweep: Sweep<T>): Promise<void> {
  const endsAt = secondsAfter(ctx.now(), sweep.secondsMax);
  const waiting = each(await sweep.find(ctx));
  const work = async (): Promise<void> => {
    while (ctx.now() < endsAt) {
      const { done, value } = await waiting.next();
      if (done) return;
      await mendOne(ctx, sweep, value);
    }
  };
  await Promise.all(Array.from({ length: sweep.atOnce ?? 1 }, work));
  if (ctx.now() >= endsAt)
    ctx.log.warn(`The sweep ran out of time; the next run continues with the next ${sweep.noun}.`);
}

async function mendOne<T>(ctx: Context, { noun, mend, label, failed }: Sweep<T>, item: T): Promise<void> {
  try {
    await mend(ctx, item);
  } catch (error) {
    // One item that cannot be repaired must not stop the others.
    ctx.log.error(`The ${noun} could not be repaired and was left unchanged.`, { ...label(item), error });
    countUnrepaired(ctx.log);
    await failed?.(ctx, item);
  }
}

async function* each<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T, undefined> {
  yield* items;
  return undefined;
}
