// The tokens a service account gets for proving who it is.

import * as v from 'valibot';
import { epochSeconds } from '../platform/clock.ts';
import { ACCESS_TOKEN_TYPE, API_AUDIENCE, TOKEN_CHARACTERS_MAX } from '../platform/auth/token-shape.ts';
import type { OrgId, ProjectId, ServiceAccountId } from '../platform/ids.ts';
import type { ServiceAccount } from './service-account.ts';

/** RFC 7523 §2.1 */
export const ASSERTION_GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';

export const TOKEN_PATHS = ['/api/v1/auth/service-account/token', '/api/v1/auth/sa/token'] as const;

const TTL_SECONDS_MAX = 3_600;

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

export const TokenReply = v.object({
  access_token: v.string(),
  token_type: v.literal('Bearer'),
  expires_in: v.number(),
});

/** Header and claims, before they are signed. */
export interface PlannedToken {
  header: { alg: 'ES256'; typ: typeof ACCESS_TOKEN_TYPE; kid: string };
  claims: {
    iss: string;
    sub: string;
    aud: string;
    exp: number;
    iat: number;
    jti: string;
    client_id: ServiceAccountId;
    project_id: ProjectId;
    org_id: OrgId;
  };
}

/** RFC 9068 §2.2 */
export function planToken(
  account: ServiceAccount,
  { issuer, kid, jti, ttlSeconds }: { issuer: string; kid: string; jti: string; ttlSeconds: number },
  now: Date,
): PlannedToken {
  const iat = epochSeconds(now);
  return {
    header: { alg: 'ES256', typ: ACCESS_TOKEN_TYPE, kid },
    claims: {
      iss: issuer,
      sub: `sa:${account.id}`,
      aud: API_AUDIENCE,
      exp: iat + ttlSeconds,
      iat,
      jti,
      client_id: account.id,
      project_id: account.project_id,
      org_id: account.org_id,
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
