import type { Context } from '../context.ts';
import { readItems } from '../data/rows.ts';
import type { Key } from '../data/table.ts';
import type { Reread } from '../scope.ts';

/**
 * What the caller may do, read again and not remembered, by one request with the items a handler needs anyway. For
 * answers that show the caller's own roles, or depend on all of them, and for whoever gives rights to others.
 */
export async function callerNow({ grants, reread }: Context, alongside: Key[]): Promise<Reread> {
  return reread ? reread(alongside) : { grants, items: await readItems(alongside) };
}
