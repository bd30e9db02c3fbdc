// Whether a bearer token is genuine. RFC 8725 throughout: each issuer has its algorithms, its type and its audience,
// fixed by configuration; the token chooses among configured issuers and their keys, and nothing else.

import { hash } from 'node:crypto';
import {
  type CryptoKey,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type JWTVerifyOptions,
} from 'jose';
import * as v from 'valibot';
import type { WithoutEmail } from '../actor.ts';
import { epochSeconds } from '../clock.ts';
import { environment } from '../environment.ts';
import { Refusal, refuse } from '../errors.ts';
import { Email } from '../name.ts';
import { findIssuer, type Issuer } from './token-issuers.ts';
import {
  ACCESS_TOKEN_TYPE,
  API_AUDIENCE,
  type Claimed,
  CLOCK_SKEW_SECONDS,
  readClaimed,
} from './token-shape.ts';

/** Those whose tokens are the platform's own. */
type OwnKind = 'service_account' | 'node';

/** Whom a token is about. */
interface Subject {
  kind: 'user' | OwnKind;
  id: string;
  subject: string;
}

/** A token as it is presented. Nothing of it is believed yet. */
export interface PresentedToken extends Subject, Claimed {
  token: string;
  /** Absent for the platform's own. */
  issuer?: Issuer;
}

export interface VerifiedToken extends Subject {
  email?: string;
  /** Why there is no address; for people alone. */
  withoutEmail?: WithoutEmail;
  /** Which of the platform's keys signed it, for the platform's own tokens. */
  keyId?: string;
  /** Of a node's: the thumbprint of the key it was given for (RFC 7800 §3.1). */
  heldKey?: string;
}

const LIFETIME_SECONDS_MAX = 24 * 3600;
const BEARER = /^Bearer +(\S.*)$/i;
const OWN_SUBJECT = /^(sa|node):([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})$/;

// OpenID Connect Core §2
const SubjectName = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/));

const Claims = v.looseObject({
  sub: SubjectName,
  iat: v.number(),
  exp: v.number(),
  email: v.optional(v.unknown()),
  email_verified: v.optional(v.unknown()),
  cnf: v.optional(v.unknown()),
});
/** RFC 9449 §6 */
const Confirmation = v.object({ jkt: v.string() });

type Claims = v.InferOutput<typeof Claims>;

/** Whose the token says it is. */
export function readToken(authorization: string | undefined): PresentedToken {
  const token = BEARER.exec(authorization ?? '')?.[1];
  if (token === undefined) throw refuse('auth.missing');
  const claimed = readClaimed(token);
  const subject = claimed?.claims.sub;
  if (!claimed || !v.is(SubjectName, subject)) throw refuse('auth.invalid');
  if (claimed.claims.iss === environment('TOKEN_ISSUER')) {
    const [, prefix, id] = OWN_SUBJECT.exec(subject) ?? [];
    if (id === undefined || claimed.header.typ !== ACCESS_TOKEN_TYPE) throw refuse('auth.invalid');
    return { ...claimed, token, kind: prefix === 'node' ? 'node' : 'service_account', id, subject };
  }
  const issuer = findIssuer(claimed.claims.iss);
  if (!issuer) throw refuse('auth.invalid');
  return { ...claimed, token, issuer, kind: 'user', id: userIdOf(issuer.issuer, subject), subject };
}

/** Says whose token it is; what they may do is judged elsewhere, and from what is true now. */
export async function verifyToken(
  presented: PresentedToken,
  now: Date,
  findOwnKey: (keyId: string) => Promise<CryptoKey | undefined>,
): Promise<VerifiedToken> {
  const { issuer } = presented;
  return issuer ? verifyPerson(presented, issuer, now) : verifyOwn(presented, now, findOwnKey);
}

/** The same person is the same user for ever: made of who vouches for them and under which name. */
export function userIdOf(issuer: string, subject: string): string {
  const bytes = hash('sha256', `${issuer}\n${subject}`, 'buffer').subarray(0, 16);
  // RFC 9562 §5.8: a UUID of our own making.
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

async function verifyOwn(
  { token, keyId, kind, id, subject }: PresentedToken,
  now: Date,
  findKey: (keyId: string) => Promise<CryptoKey | undefined>,
): Promise<VerifiedToken> {
  const key = await findKey(keyId);
  if (!key) throw refuse('auth.invalid');
  const { cnf } = await verifyClaims(token, () => key, now, {
    issuer: environment('TOKEN_ISSUER'),
    audience: API_AUDIENCE,
    algorithms: ['ES256'],
  });
  return { kind, id, subject, keyId, ...(v.is(Confirmation, cnf) && { heldKey: cnf.jkt }) };
}

async function verifyPerson(
  { token, header, kind, id, subject }: PresentedToken,
  issuer: Issuer,
  now: Date,
): Promise<VerifiedToken> {
  if (issuer.typ === null && header.typ !== undefined) throw refuse('auth.invalid');
  const claims = await verifyClaims(token, issuer.keys, now, {
    issuer: issuer.issuer,
    algorithms: issuer.algorithms,
    ...(issuer.typ !== null && { typ: issuer.typ }),
    ...(issuer.audience_claim === 'aud' && { audience: issuer.audience }),
  });
  if (issuer.audience_claim === 'client_id' && !issuer.audience.includes(String(claims['client_id'])))
    throw refuse('auth.invalid');
  // Where an issuer tells its tokens apart by this claim, an identity token is not an access token.
  if (claims['token_use'] !== undefined && claims['token_use'] !== 'access') throw refuse('auth.invalid');
  return { kind, id, subject, ...addressIn(claims, issuer) };
}

// An address somebody merely typed in would let them pass for its owner.
function addressIn(
  { email, email_verified }: Claims,
  { tells_email }: Issuer,
): Pick<VerifiedToken, 'email' | 'withoutEmail'> {
  if (email === undefined) return { withoutEmail: tells_email ? 'missing' : 'untold' };
  if (!v.is(Email, email)) return { withoutEmail: 'unreadable' };
  return email_verified === true ? { email } : { withoutEmail: 'unverified' };
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
