import * as v from 'valibot';
import { AwsError } from '../wire/aws.ts';

const PAGE_DEFAULT = 100;

/** AWS reads 0 as "the default" here. */
export function pageSize(maxResults: number | undefined): number {
  return maxResults || PAGE_DEFAULT;
}

/** Where the page before ended. */
export function readCursor<S extends v.GenericSchema>(
  schema: S,
  nextToken: string | undefined,
): v.InferOutput<S> | undefined {
  if (nextToken === undefined) return undefined;
  try {
    return v.parse(schema, JSON.parse(Buffer.from(nextToken, 'base64url').toString()));
  } catch {
    throw new AwsError('InvalidToken', "Invalid Token: 'Invalid nextToken'");
  }
}

/** One more was read than asked for: if it is there, the page has a successor. */
export function cutPage<T>(
  rows: T[],
  size: number,
  cursorOf: (last: T) => object,
): { page: T[]; nextToken?: string } {
  const page = rows.slice(0, size);
  const last = page.at(-1);
  if (rows.length <= size || last === undefined) return { page };
  return { page, nextToken: Buffer.from(JSON.stringify(cursorOf(last))).toString('base64url') };
}
