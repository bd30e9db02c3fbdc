import { CLOCK_SKEW_SECONDS } from '../platform/auth/token-shape.ts';
import { environment } from '../platform/environment.ts';
import { claimantIdIn, proveAssertion } from './assertion.ts';
import type { Claimant } from './claimant.ts';
import type { Proof } from './issue-token.ts';
import { spendAssertion } from './service-account-store.ts';

/** Nothing unless a claimant that is known here signed it, for us or for one of these paths, and shows it the first time. */
export async function proveByAssertion(
  assertion: string,
  paths: readonly string[],
  find: (id: string) => Promise<Claimant | undefined>,
  now: Date,
): Promise<Proof | undefined> {
  const id = claimantIdIn(assertion);
  const claimant = id === undefined ? undefined : await find(id);
  const proven = claimant && (await proveAssertion(assertion, claimant, audiences(paths), now));
  if (!proven) return undefined;
  const { keyId, jti, expiresAtSeconds } = proven;
  const spent = spendAssertion(claimant.actor.id, jti, expiresAtSeconds + 2 * CLOCK_SKEW_SECONDS);
  return { claimant, keyId, method: 'assertion', writes: [spent] };
}

/** Ourselves, or the address the assertion is sent to. */
function audiences(paths: readonly string[]): string[] {
  const issuer = environment('TOKEN_ISSUER');
  return [issuer, ...paths.map((path) => issuer + path)];
}
