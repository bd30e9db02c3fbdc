import type * as v from 'valibot';
import type { Context } from '../context.ts';
import { edge, type Shape } from '../edge/edge.ts';
import { isPassing } from './outage.ts';
import { parse } from '../parse.ts';

/**
 * One step of a workflow, or one run of a schedule. It may run twice, so its effects must be the same twice. An error's name
 * is what the state machine matches: `unavailable` is the only one worth a retry.
 */
export function task<I, O>(
  schema: v.GenericSchema<unknown, I>,
  perform: (ctx: Context, input: I) => Promise<O>,
) {
  return edge<unknown, O>(STEP, async (ctx, event) => {
    const output = await perform(ctx, parse(schema, event));
    ctx.log.info('The step is done.');
    return output;
  });
}

const STEP = {
  kind: 'step',
  sent(event) {
    const { correlation_id, traceparent } = (event ?? {}) as {
      correlation_id?: unknown;
      traceparent?: unknown;
    };
    return { correlationId: correlation_id, traceparent };
  },
  tellError(ctx, _event, error) {
    ctx.log.error('The step failed.', { error });
    throw isPassing(error) ? unavailable(error) : error;
  },
} satisfies Shape<unknown, never>;

function unavailable(cause: unknown): Error {
  const error = new Error(cause instanceof Error ? cause.message : String(cause), { cause });
  error.name = 'unavailable';
  return error;
}
