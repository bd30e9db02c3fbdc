import type { Context } from '../context.ts';

/** One call on its way through the stack, as middy hands it from one middleware to the next. */
export interface Call<E, A> {
  event: E;
  /** Replaces Lambda's context, of which only the remaining time is used. */
  context: CallContext;
  response: A | undefined;
  error: unknown;
}

export interface CallContext {
  ctx: Context;
  begunMs: number;
  /** What the answer says besides, whether it is a yes or a no. */
  headers: Record<string, string>;
  /** Not there where nothing ends the call, as in tests; middy looks for it under this name. */
  getRemainingTimeInMillis?: () => number;
}

/**
 * None of these returns anything: to middy, a `before` that does has answered, and whatever comes after it is left out.
 * Of several, the first `before` runs first, the first `after` and `onError` last.
 */
export interface Middleware<E, A> {
  before?: (call: Call<E, A>) => undefined | Promise<undefined>;
  after?: (call: Call<E, A>) => undefined;
  onError?: (call: Call<E, A>) => undefined;
}
