// The tokens a service account or a node gets for proving who it is.

import * as v from 'valibot';
import { epochSeconds } from '../platform/clock.ts';
import { ACCESS_TOKEN_TYPE, API_AUDIENCE, TOKEN_CHARACTERS_MAX } from '../platform/auth/token-shape.ts';
import type { Claimant } from './claimant.ts';

/** RFC 7523 §2.1 */
export const ASSERTION_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export const TOKEN_PATHS = ['/api/v1/auth/service-account/token', '/api/v1/auth/sa/token'] as const;

const TTL_SECONDS_MAX = 3_600;
/** Each costs a signature, and what is taken from a node bites at once all the same: its own item is asked. */
export const NODE_TTL_SECONDS = 3_600;

/** A signed assertion; or, as the quickstart shows, the private key itself. What is in them is judged later. */
export const TokenRequest = v.union([
  v.strictObject({
    grant_type: v.optional(v.literal(ASSERTION_GRANT)),
    assertion: v.pipe(v.string(), v.maxLength(TOKEN_CHARACTERS_MAX)),
  }),
  v.strictObject({
    service_account_id: v.pipe(v.string(), v.maxLength(64)),
    key_id: v.pipe(v.string(), v.maxLength(64)),
    private_key_pem: v.pipe(v.string(), v.maxLength(4_096)),
  }),
]);

export const NodeTokenRequest = TokenRequest.options[0];

export const TokenReply = v.object({
  access_token: v.string(),
  token_type: v.literal('Bearer'),
  expires_in: v.number(),
});

/** Header and claims, before they are signed; the key adds its name. */
export interface PlannedToken {
  header: { typ: typeof ACCESS_TOKEN_TYPE };
  claims: {
    iss: string;
    sub: string;
    aud: string;
    exp: number;
    iat: number;
    jti: string;
    client_id: string;
  } & Claimant['claims'];
}

/** RFC 9068 §2.2 */
export function planToken(
  { actor, subject, claims }: Claimant,
  { issuer, jti, ttlSeconds }: { issuer: string; jti: string; ttlSeconds: number },
  now: Date,
): PlannedToken {
  const iat = epochSeconds(now);
  return {
    header: { typ: ACCESS_TOKEN_TYPE },
    claims: {
      iss: issuer,
      sub: subject,
      aud: API_AUDIENCE,
      exp: iat + ttlSeconds,
      iat,
      jti,
      client_id: actor.id,
      ...claims,
    },
  };
}

export function readTtl(text: string): number {
  const seconds = Number(text);
  if (!Number.isInteger(seconds) || seconds < 1 || seconds > TTL_SECONDS_MAX) {
    throw new Error(`A token's time to live is 1 to ${TTL_SECONDS_MAX} seconds.`);
  }
  return seconds;
}
