import type { CallContext } from './call.ts';
import { type Refusal, refuse } from '../errors.ts';

/** Enough to log it and to answer, on a slow processor too. */
const EARLY_MS = 250;

/** The API gateway waits for 30 seconds, the one for sockets for 29; some of it is gone before the function begins. */
export const GATEWAY_MS = 28_000;

/**
 * Ends a call a little before Lambda or the gateway would: whoever called hears that it may be tried again, the log says
 * what was under way, and nothing is taken for done. Work that is still under way may finish; it may be done twice.
 */
export function deadline(patienceMs: number | undefined) {
  return {
    requestStart(call: { context: object }): void {
      const begunMs = Date.now();
      const { getRemainingTimeInMillis: left } = call.context as Pick<
        CallContext,
        'getRemainingTimeInMillis'
      >;
      const getRemainingTimeInMillis =
        left && patienceMs !== undefined ? () => Math.min(left(), begunMs + patienceMs - Date.now()) : left;
      call.context = { begunMs, headers: {}, getRemainingTimeInMillis } satisfies Omit<CallContext, 'ctx'>;
    },
    timeoutEarlyInMillis: EARLY_MS,
    timeoutEarlyResponse(): never {
      throw late();
    },
  };
}

/** middy watches over the handler alone: what is waited for before it is watched over here, in the same way. */
export async function inTime<T>(
  { getRemainingTimeInMillis: left }: Pick<CallContext, 'getRemainingTimeInMillis'>,
  work: T | Promise<T>,
): Promise<T> {
  if (!left || !(work instanceof Promise)) return work;
  const { promise: ended, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(late()), Math.max(0, left() - EARLY_MS));
  return Promise.race([work, ended]).finally(() => clearTimeout(timer));
}

function late(): Refusal {
  return refuse('unavailable', { detail: 'The work did not finish in time.' });
}
