import type { Context } from '../context.ts';
import type { Middleware } from './call.ts';

/** Logs an error and says what the caller is answered; nothing where the caller is to see the error itself. */
export type TellError<E, A> = (ctx: Context, event: E, error: unknown) => A | undefined;

/** Whatever is thrown, in whichever part of the stack, is told here. */
export function problem<E, A>(tellError: TellError<E, A>): Middleware<E, A> {
  return {
    onError(call): undefined {
      call.response = tellError(call.context.ctx, call.event, call.error);
    },
  };
}
