import type * as v from 'valibot';
import { isTransient } from './aws-errors.ts';
import { PROBLEMS, Refusal } from './errors.ts';
import { type Context, correlationIdIn, createContext } from './context.ts';
import { newId } from './ids.ts';
import { parse } from './parse.ts';

/**
 * One step of a workflow, or one run of a schedule. It may run twice, so its effects must be the same twice. An error's name
 * is what the state machine matches: `unavailable` is the only one worth a retry.
 */
export function task<I, O>(
  schema: v.GenericSchema<unknown, I>,
  perform: (ctx: Context, input: I) => Promise<O>,
) {
  return async (event: unknown): Promise<O> => {
    const ctx = createContext(
      correlationIdIn((event as { correlation_id?: unknown } | null)?.correlation_id) ?? newId(),
    );
    try {
      return await perform(ctx, parse(schema, event));
    } catch (error) {
      ctx.log.error('The step failed.', { error });
      throw isTransient(error) || isRetryable(error) ? unavailable(error) : error;
    }
  };
}

/** A no for now: what stands behind it does not answer. */
const isRetryable = (error: unknown): boolean => error instanceof Refusal && PROBLEMS[error.code].retryable;

function unavailable(cause: unknown): Error {
  const error = new Error(cause instanceof Error ? cause.message : String(cause), { cause });
  error.name = 'unavailable';
  return error;
}
