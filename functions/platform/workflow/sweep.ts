import * as v from 'valibot';
import { secondsAfter } from '../clock.ts';
import type { Context } from '../context.ts';
import { task } from './task.ts';

/** Finds what events have missed and mends it. It takes no input, trusts only what is stored, and may run twice. */
export interface Sweep<T> {
  /** What is mended, for the log: `promotion`. */
  noun: string;
  /** What may need it, in the order it is taken. What one run leaves over, the next finds. */
  find: (ctx: Context) => AsyncIterable<T> | Promise<Iterable<T>>;
  mend: (ctx: Context, item: T) => Promise<void>;
  /** By what an item is found in the log. */
  label: (item: T) => Record<string, unknown>;
  /** What is noted about an item that could not be mended. */
  failed?: (ctx: Context, item: T) => Promise<void>;
  /** How many are mended at the same time. */
  atOnce?: number;
  /** When no further item is begun; what is under way then still ends before the function does. */
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
    // The others must not wait for the one that cannot be helped.
    ctx.log.error(`The ${noun} could not be repaired and was left unchanged.`, { ...label(item), error });
    await failed?.(ctx, item);
  }
}

async function* each<T>(items: AsyncIterable<T> | Iterable<T>): AsyncGenerator<T, undefined> {
  yield* items;
  return undefined;
}
