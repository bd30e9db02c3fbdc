import type { CallContext } from './call.ts';
import { type Refusal, refuse } from '../errors.ts';

/** Enough to log it and to answer, on a slow processor too. */
const EARLY_MS = 250;

/** The HTTP gateway waits for 30 seconds, the WebSocket gateway for 29, counted from before the function begins. */
export const GATEWAY_MS = 28_000;

/**
 * Ends a call a little before Lambda or the gateway would: the caller gets a retryable refusal, the log shows what was
 * in progress, and nothing counts as done. The work may still finish later, and so may be done twice.
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

/** middy applies its time-out only to the handler; this applies the same one to the work before it. */
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
