import { type Context, correlationIdIn, createContext } from '../context.ts';
import { newId } from '../ids.ts';
import type { Middleware } from './call.ts';

/** The ids somebody sent along, as they came. */
export interface Sent {
  correlationId?: unknown;
  traceparent?: unknown;
}

/** Everything that follows uses the ids the caller sent, or new ones. */
export function correlation<E, A>(sent: (event: E) => Sent): Middleware<E, A> {
  return {
    before({ event, context }): undefined {
      context.ctx = contextUnder(sent(event));
    },
  };
}

export function contextUnder({ correlationId, traceparent }: Sent): Context {
  return createContext(correlationIdIn(correlationId) ?? newId(), traceparent);
}
