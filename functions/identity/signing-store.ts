import * as v from 'valibot';
import { authorizationCache } from '../platform/auth/authorization-cache.ts';
import { SigningState } from '../platform/auth/signing.ts';
import { putNew, replace, type Write } from '../platform/data/commit.ts';
import { signingKey } from '../platform/data/keys.ts';
import { readItem } from '../platform/data/table.ts';
import { planPublication } from './signing-key.ts';
import type { PlatformKey } from './signing-keys.ts';

export async function findSigningState(): Promise<SigningState | undefined> {
  return v.parse(v.optional(SigningState), await readItem(signingKey()));
}

/** With a token that is signed: its key stands where others look for it, before they are shown the token. */
export function publishKeys(keys: PlatformKey[], state: SigningState | undefined): Write[] {
  const published = planPublication(
    keys.map(({ publicKey }) => publicKey),
    state,
  );
  if (!published) return [];
  // What is remembered is out of date with this write, or was already, should the write fail.
  authorizationCache.forget([signingKey()]);
  return [saveSigningState(state, published)];
}

/** Of two rotations at once one happens; the other is decided again. */
export function saveSigningState(before: SigningState | undefined, after: SigningState): Write {
  const row = { ...signingKey(), ...after };
  return before ? replace(row, { version: before.version }) : putNew(row);
}
