import * as v from 'valibot';
import { refuse } from './errors.ts';

export const PAGE_MAX = 100;
const PAGE_DEFAULT = 50;

const Limit = v.pipe(v.string(), v.regex(/^[1-9]\d{0,2}$/), v.transform(Number), v.maxValue(PAGE_MAX));

/** The query of every list. */
export const PageQuery = {
  limit: v.optional(Limit, String(PAGE_DEFAULT)),
  cursor: v.optional(v.pipe(v.string(), v.maxLength(400))),
};

export interface PageOf<T> {
  items: T[];
  next_cursor: string | null;
}

/** A cursor is only a position in its list; it grants no access to the list. */
export function encodeCursor(sortKey: string | undefined): string | null {
  return sortKey === undefined ? null : Buffer.from(sortKey).toString('base64url');
}

export function decodeCursor(cursor: string | undefined, shape: RegExp): string | undefined {
  if (cursor === undefined) return undefined;
  const sortKey = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!shape.test(sortKey)) {
    throw refuse('request.invalid', {
      faults: [{ pointer: '?/cursor', detail: 'Expected the next_cursor of an earlier page of this list.' }],
    });
  }
  return sortKey;
}
