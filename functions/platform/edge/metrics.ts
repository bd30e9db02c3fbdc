import type { Context } from '../context.ts';
import type { Call, Middleware } from './call.ts';

/** Lambda counts calls of functions; what it cannot see, such as the route, is counted here. */
export type Count<E, A> = (ctx: Context, event: E, answer: A, durationMs: number) => void;

export function metrics<E, A>(count: Count<E, A> | undefined): Middleware<E, A> {
  const add = ({ event, context: { ctx, begunMs }, response }: Call<E, A>): undefined => {
    if (response !== undefined) count?.(ctx, event, response, Date.now() - begunMs);
  };
  return { after: add, onError: add };
}
