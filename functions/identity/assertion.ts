// RFC 7523: a claimant proves who it is with a short-lived statement signed by its own key. Every way to fail looks
// the same from outside, so nothing here says why.

import { importJWK, jwtVerify } from 'jose';
import * as v from 'valibot';
import { epochSeconds } from '../platform/clock.ts';
import { CLOCK_SKEW_SECONDS, readClaimed } from '../platform/auth/token-shape.ts';
import type { Claimant } from './claimant.ts';

const AHEAD_SECONDS_MAX = 300;

const ClaimantId = v.pipe(v.string(), v.regex(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/));

const Claims = v.object({
  aud: v.union([v.string(), v.pipe(v.array(v.string()), v.length(1))]),
  iat: v.number(),
  exp: v.number(),
  jti: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
});

/** Whose assertion it says it is. */
export function claimantIdIn(assertion: string): string | undefined {
  const iss = readClaimed(assertion)?.claims.iss;
  return v.is(ClaimantId, iss) ? iss : undefined;
}

export interface Proven {
  keyId: string;
  jti: string;
  expiresAtSeconds: number;
}

/** Undefined unless the claimant itself signed it, for us, just now. The commit ensures that it is used only once. */
export async function proveAssertion(
  assertion: string,
  { actor, findKey }: Claimant,
  audiences: readonly string[],
  now: Date,
): Promise<Proven | undefined> {
  const claimed = readClaimed(assertion);
  const key = claimed && findKey(claimed.keyId);
  if (!key || (claimed.header.typ !== undefined && claimed.header.typ !== 'JWT')) return undefined;
  try {
    const { payload } = await jwtVerify(assertion, await importJWK(key, 'ES256'), {
      algorithms: ['ES256'],
      issuer: actor.id,
      subject: actor.id,
      audience: [...audiences],
      currentDate: now,
      clockTolerance: CLOCK_SKEW_SECONDS,
    });
    const { iat, exp, jti } = v.parse(Claims, payload);
    const latest = epochSeconds(now) + CLOCK_SKEW_SECONDS;
    if (iat > latest || iat >= exp || exp > latest + AHEAD_SECONDS_MAX) return undefined;
    return { keyId: claimed.keyId, jti, expiresAtSeconds: Math.ceil(exp) };
  } catch {
    return undefined;
  }
}
