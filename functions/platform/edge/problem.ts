import type { Context } from '../context.ts';
import type { Middleware } from './call.ts';

/** Logs an error and returns the answer for the caller; undefined if the error itself is thrown to the caller. */
export type TellError<E, A> = (ctx: Context, event: E, error: unknown) => A | undefined;

/** Handles every error, from any part of the stack. */
export function problem<E, A>(tellError: TellError<E, A>): Middleware<E, A> {
  return {
    onError(call): undefined {
      call.response = tellError(call.context.ctx, call.event, call.error);
    },
  };
}
