import type * as v from 'valibot';
import type { Context } from '../context.ts';
import { edge, type Shape } from '../edge/edge.ts';
import { parse } from '../parse.ts';

/** What a user pool asks while somebody signs in: they wait for the answer, and an error keeps them out. */
export function trigger<I, O>(schema: v.GenericSchema<unknown, I>, perform: (ctx: Context, event: I) => O) {
  return edge<unknown, O>(TRIGGER, async (ctx, event) => {
    const answer = perform(ctx, parse(schema, event));
    ctx.log.info('The user pool was answered.');
    return answer;
  });
}

const TRIGGER = {
  kind: 'trigger',
  // A user pool sends none along.
  sent: () => ({}),
  tellError(ctx, _event, error) {
    ctx.log.error('Somebody cannot sign in.', { error });
    return undefined;
  },
} satisfies Shape<unknown, never>;
