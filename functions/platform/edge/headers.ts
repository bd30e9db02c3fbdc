import type { Context } from '../context.ts';
import type { Call, Middleware } from './call.ts';

/** An answer with what every answer says, and what admission said besides. */
export type WithHeaders<A> = (ctx: Context, headers: Record<string, string>, answer: A) => A;

export function headers<E, A>(withHeaders: WithHeaders<A> | undefined): Middleware<E, A> {
  const add = (call: Call<E, A>): undefined => {
    const { context, response } = call;
    if (withHeaders && response !== undefined)
      call.response = withHeaders(context.ctx, context.headers, response);
  };
  return { after: add, onError: add };
}
