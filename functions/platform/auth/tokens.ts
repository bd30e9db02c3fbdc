// Whether a bearer token is genuine. RFC 8725 throughout: each issuer has its algorithms, its type and its audience,
// fixed by configuration; the token chooses among configured issuers and their keys, and nothing else.

import { hash } from 'node:crypto';
import { type JWTPayload, jwtVerify, type JWTVerifyGetKey, type JWTVerifyOptions } from 'jose';
import * as v from 'valibot';
import { epochSeconds } from '../clock.ts';
import { environment } from '../environment.ts';
import { Refusal, refuse } from '../errors.ts';
import { findIssuer, type Issuer } from './token-issuers.ts';
import { platformKeys } from './token-keys.ts';
import {
  ACCESS_TOKEN_TYPE,
  API_AUDIENCE,
  type Claimed,
  CLOCK_SKEW_SECONDS,
  readClaimed,
} from './token-shape.ts';

export interface VerifiedToken {
  kind: 'user' | 'service_account';
  id: string;
  subject: string;
  email?: string;
  /** Which of the platform's keys signed it, for the platform's own tokens. */
  keyId?: string;
}

const LIFETIME_SECONDS_MAX = 24 * 3600;
const BEARER = /^Bearer +(\S.*)$/i;
const OWN_SUBJECT = /^sa:([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

const Claims = v.looseObject({
  // OpenID Connect Core §2
  sub: v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/)),
  iat: v.number(),
  exp: v.number(),
  email: v.fallback(v.optional(v.pipe(v.string(), v.email(), v.maxLength(254))), undefined),
  email_verified: v.optional(v.unknown()),
});
type Claims = v.InferOutput<typeof Claims>;

/** Says whose token it is; what they may do is judged elsewhere, and from what is true now. */
export async function verifyToken(authorization: string | undefined, now: Date): Promise<VerifiedToken> {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token === undefined) throw refuse('auth.missing');
  const claimed = readClaimed(token);
  if (!claimed) throw refuse('auth.invalid');
  if (claimed.claims.iss === environment('TOKEN_ISSUER')) return verifyOwn(token, claimed, now);
  const issuer = findIssuer(claimed.claims.iss);
  if (!issuer) throw refuse('auth.invalid');
  return verifyPerson(token, issuer, claimed, now);
}

/** The same person is the same user for ever: made of who vouches for them and under which name. */
export function userIdOf(issuer: string, subject: string): string {
  const bytes = hash('sha256', `${issuer}\n${subject}`, 'buffer').subarray(0, 16);
  // RFC 9562 §5.8: a UUID of our own making.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

async function verifyOwn(token: string, { header, keyId }: Claimed, now: Date): Promise<VerifiedToken> {
  const key = (await platformKeys()).find(({ kid }) => kid === keyId);
  if (!key || header.typ !== ACCESS_TOKEN_TYPE) throw refuse('auth.invalid');
  const { sub } = await verifyClaims(token, () => key.verifying, now, {
    issuer: environment('TOKEN_ISSUER'),
    audience: API_AUDIENCE,
    algorithms: ['ES256'],
  });
  const id = OWN_SUBJECT.exec(sub)?.[1];
  if (id === undefined) throw refuse('auth.invalid');
  return { kind: 'service_account', id, subject: sub, keyId };
}

async function verifyPerson(
  token: string,
  issuer: Issuer,
  { header }: Claimed,
  now: Date,
): Promise<VerifiedToken> {
  if (issuer.typ === null && header.typ !== undefined) throw refuse('auth.invalid');
  const claims = await verifyClaims(token, issuer.keys, now, {
    issuer: issuer.issuer,
    algorithms: issuer.algorithms,
    ...(issuer.typ !== null && { typ: issuer.typ }),
    ...(issuer.audience_claim === 'aud' && { audience: issuer.audience }),
  });
  if (issuer.audience_claim === 'client_id' && claims['client_id'] !== issuer.audience)
    throw refuse('auth.invalid');
  // Where an issuer tells its tokens apart by this claim, an identity token is not an access token.
  if (claims['token_use'] !== undefined && claims['token_use'] !== 'access') throw refuse('auth.invalid');
  const { sub, email, email_verified } = claims;
  // An address somebody merely typed in would let them pass for its owner.
  const isTheirs = email !== undefined && email_verified === true;
  return { kind: 'user', id: userIdOf(issuer.issuer, sub), subject: sub, ...(isTheirs && { email }) };
}

async function verifyClaims(
  token: string,
  key: JWTVerifyGetKey,
  now: Date,
  options: JWTVerifyOptions,
): Promise<Claims> {
  const payload = await verifySignature(token, key, {
    ...options,
    currentDate: now,
    clockTolerance: CLOCK_SKEW_SECONDS,
    requiredClaims: ['iss', 'sub', 'exp', 'iat'],
  });
  const claims = v.safeParse(Claims, payload);
  if (!claims.success) throw refuse('auth.invalid');
  const { iat, exp } = claims.output;
  const isSane =
    iat <= epochSeconds(now) + CLOCK_SKEW_SECONDS && iat < exp && exp - iat <= LIFETIME_SECONDS_MAX;
  if (!isSane) throw refuse('auth.invalid');
  return claims.output;
}

async function verifySignature(
  token: string,
  key: JWTVerifyGetKey,
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, key, options)).payload;
  } catch (error) {
    // Whatever else is wrong with a token is the token's fault.
    throw error instanceof Refusal ? error : refuse('auth.invalid');
  }
}
