import * as v from 'valibot';
import { hashOneTimeToken } from '../platform/auth/one-time-token.ts';
import { putNew, update, type Write } from '../platform/data/commit.ts';
import { readItem } from '../platform/data/table.ts';
import { secretKey } from './keys.ts';
import { KeptSecret } from './secret.ts';

export const insertSecret = (handleHash: string, secret: KeptSecret): Write =>
  putNew({ ...secretKey(handleHash), ...secret });

export async function findSecret(handle: string): Promise<KeptSecret | undefined> {
  return v.parse(v.optional(KeptSecret), await readItem(secretKey(hashOneTimeToken(handle))));
}

/** Of two fetches at one moment one gets it; the other is decided again and finds it fetched. */
export const saveFetched = (handle: string, fetchId: string, now: Date): Write =>
  update(secretKey(hashOneTimeToken(handle)), {
    update: 'SET fetch_id = :fetch, fetched_at = if_not_exists(fetched_at, :now)',
    condition: 'attribute_exists(pk) AND (attribute_not_exists(fetch_id) OR fetch_id = :fetch)',
    values: { ':fetch': fetchId, ':now': now.toISOString() },
  });
