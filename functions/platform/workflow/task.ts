import type * as v from 'valibot';
import { type Context, correlationIdIn, createContext } from '../context.ts';
import { newId } from '../ids.ts';
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
  return async (event: unknown): Promise<O> => {
    const sent = (event ?? {}) as { correlation_id?: unknown; traceparent?: unknown };
    const ctx = createContext(correlationIdIn(sent.correlation_id) ?? newId(), sent.traceparent);
    try {
      const output = await perform(ctx, parse(schema, event));
      ctx.log.info('The step is done.');
      return output;
    } catch (error) {
      ctx.log.error('The step failed.', { error });
      throw isPassing(error) ? unavailable(error) : error;
    }
  };
}

function unavailable(cause: unknown): Error {
  const error = new Error(cause instanceof Error ? cause.message : String(cause), { cause });
  error.name = 'unavailable';
  return error;
}
