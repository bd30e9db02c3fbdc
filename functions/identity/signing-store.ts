import * as v from 'valibot';
import type { Clock } from '../platform/clock.ts';
import { putNew, update, type Write } from '../platform/data/commit.ts';
import { authorizationCache } from '../platform/auth/authorization-cache.ts';
import { signingKey } from '../platform/data/keys.ts';
import { SigningState } from '../platform/auth/signing.ts';
import { readItem } from '../platform/data/table.ts';
import { refuse } from './problems.ts';

export async function findSigningState(): Promise<SigningState | undefined> {
  return v.parse(v.optional(SigningState), await readItem(signingKey()));
}

/** As authorization knows it, at no request while it is fresh. */
export async function recallSigningState(now: Clock): Promise<SigningState | undefined> {
  const [item] = await authorizationCache.read([signingKey()], now);
  return v.parse(v.optional(SigningState), item);
}

/** Of two rotations at once one happens. */
export function saveRotation(before: SigningState | undefined, after: SigningState): Write {
  if (!before) return putNew({ ...signingKey(), ...after }, refuse('signing_key.just_rotated'));
  return update(
    signingKey(),
    {
      update:
        'SET active_key_id = :active, rotated_at = :rotated, overlap_until = :until, version = :version',
      condition: 'version = :before',
      values: {
        ':active': after.active_key_id,
        ':rotated': after.rotated_at,
        ':until': after.overlap_until,
        ':version': after.version,
        ':before': before.version,
      },
    },
    refuse('signing_key.just_rotated'),
  );
}
