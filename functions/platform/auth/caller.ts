import type { Context } from '../context.ts';
import { readItems } from '../data/rows.ts';
import type { Key } from '../data/table.ts';
import { Refusal } from '../errors.ts';
import type { Grant } from '../permissions.ts';
import type { Reread } from '../scope.ts';

/**
 * What the caller may do, read again and not remembered, by one request with the items a handler needs anyway. For
 * answers that show the caller's own roles, or depend on all of them, and for whoever gives rights to others.
 */
export async function callerNow({ grants, reread }: Context, alongside: Key[]): Promise<Reread> {
  return reread ? reread(alongside) : { grants, items: await readItems(alongside) };
}

/** For what some callers may see and others not: a refusal is always given on what the caller may do now. */
export async function decideByGrants<T>(ctx: Context, decide: (grants: Grant[]) => T): Promise<T> {
  try {
    return decide(ctx.grants);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return decide((await callerNow(ctx, [])).grants);
  }
}
