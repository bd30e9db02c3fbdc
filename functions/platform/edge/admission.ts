import type { Context } from '../context.ts';
import type { Middleware } from './call.ts';
import { inTime } from './deadline.ts';

/** Who asks, and whether they may; the caller's limits are told in the headers whatever comes after. */
export type Admit<E> = (
  ctx: Context,
  event: E,
  headers: Record<string, string>,
) => Context | Promise<Context>;

/** Whoever is not admitted is refused before any work is done. Without `admit`, whoever may call the function may. */
export function admission<E, A>(admit: Admit<E> | undefined): Middleware<E, A> {
  return {
    async before({ event, context }): Promise<undefined> {
      if (admit) context.ctx = await inTime(context, admit(context.ctx, event, context.headers));
    },
  };
}
