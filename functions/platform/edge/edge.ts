import middyStack from '@middy/core';
import type { Context } from '../context.ts';
import { admission, type Admit } from './admission.ts';
import type { CallContext } from './call.ts';
import { correlation, type Sent } from './correlation.ts';
import { deadline } from './deadline.ts';
import { headers, type WithHeaders } from './headers.ts';
import { type Count, metrics } from './metrics.ts';
import { problem, type TellError } from './problem.ts';

/** What tells the shapes of functions apart. The stack is the same for all of them. */
export interface Shape<E, A> {
  kind: 'http' | 'socket' | 'queue' | 'stream' | 'step' | 'trigger';
  /** Reads what anybody may have sent, so it takes anything and never throws. */
  sent: (event: E) => Sent;
  admit?: Admit<E>;
  tellError: TellError<E, A>;
  withHeaders?: WithHeaders<A>;
  count?: Count<E, A>;
  /** How long the caller waits for the answer, if that may be less than the function's time-out. */
  patienceMs?: number;
}

/** A function as Lambda calls it; tests may leave out how much time it has. */
export interface Edge<E, A> {
  (event: E, context?: { getRemainingTimeInMillis: () => number }): Promise<A>;
  kind: Shape<E, A>['kind'];
}

/** The edge of every function: everything between its caller and its work. */
export function edge<E, A>(shape: Shape<E, A>, work: (ctx: Context, event: E) => Promise<A>): Edge<E, A> {
  const stack: unknown = middyStack(
    (event: E, context: unknown) => work((context as CallContext).ctx, event),
    deadline(shape.patienceMs),
  ).use([
    correlation<E, A>(shape.sent),
    metrics<E, A>(shape.count),
    headers<E, A>(shape.withHeaders),
    problem<E, A>(shape.tellError),
    admission<E, A>(shape.admit),
  ]);
  return Object.assign(stack as Edge<E, A>, { kind: shape.kind });
}
