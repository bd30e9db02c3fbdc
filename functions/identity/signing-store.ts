import * as v from 'valibot';
import type { PlatformKey } from '../platform/auth/platform-key.ts';
import { authorizationCache } from '../platform/auth/authorization-cache.ts';
import { SigningState } from '../platform/auth/signing.ts';
import { putNew, replace, type Write } from '../platform/data/commit.ts';
import { signingKey } from '../platform/data/keys.ts';
import { readItem } from '../platform/data/table.ts';
import { planPublication } from './signing-key.ts';

export async function findSigningState(): Promise<SigningState | undefined> {
  return v.parse(v.optional(SigningState), await readItem(signingKey()));
}

/** Published with the first token: verifiers find the key before they see a token signed with it. */
export function publishKeys(keys: PlatformKey[], state: SigningState | undefined): Write[] {
  const published = planPublication(
    keys.map(({ publicKey }) => publicKey),
    state,
  );
  if (!published) return [];
  // The cached state is outdated by this write, or was already if the write fails.
  authorizationCache.forget([signingKey()]);
  return [saveSigningState(state, published)];
}

/** Of two rotations at once one happens; the other is decided again. */
export function saveSigningState(before: SigningState | undefined, after: SigningState): Write {
  const row = { ...signingKey(), ...after };
  return before ? replace(row, { version: before.version }) : putNew(row);
}
