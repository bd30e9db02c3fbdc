import type { Context } from '../context.ts';
import type { Middleware } from './call.ts';
import { inTime } from './deadline.ts';

/** Authenticates and authorizes the caller; the rate limit headers are set whatever the outcome. */
export type Admit<E> = (
  ctx: Context,
  event: E,
  headers: Record<string, string>,
) => Context | Promise<Context>;

/** Refuses callers before any work is done. Without `admit`, everyone who may invoke the function is admitted. */
export function admission<E, A>(admit: Admit<E> | undefined): Middleware<E, A> {
  return {
    async before({ event, context }): Promise<undefined> {
      if (admit) context.ctx = await inTime(context, admit(context.ctx, event, context.headers));
    },
  };
}
