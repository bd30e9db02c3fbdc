// How an agent becomes a node: it shows the join token, once, and that it holds the key it brings.

import { importJWK, jwtVerify } from 'jose';
import * as v from 'valibot';
import { hashOneTimeToken, isOneTimeToken } from '../platform/auth/one-time-token.ts';
import type { NodePrincipal } from '../platform/auth/node-principal.ts';
import type { PublicJwk } from '../platform/auth/token-shape.ts';
import { epochSeconds, secondsAfter } from '../platform/clock.ts';
import type { NodeId } from '../platform/ids.ts';
import type { Enrol } from './agent-api.ts';

/** A host that was just installed may not have its clock right yet, and the token is what admits it. */
const PROOF_SECONDS_MAX = 300;

const Proof = v.object({ aud: v.string(), join_token_sha256: v.string(), iat: v.number() });

/** The node before anybody has joined as it. */
export const planPrincipal = (id: NodeId, token: JoinToken): NodePrincipal => ({
  id,
  status: 'pending',
  ...token,
  version: 1,
});

interface JoinToken {
  join_token_hash: string;
  join_expires_at: string;
}

export const planJoinToken = (join_token_hash: string, ttlSeconds: number, now: Date): JoinToken => ({
  join_token_hash,
  join_expires_at: secondsAfter(now, ttlSeconds).toISOString(),
});

/** Whoever joined before goes on until somebody joins with the new token. */
export function withNewToken(principal: NodePrincipal, token: JoinToken): NodePrincipal {
  const { joined_by: _, ...rest } = principal;
  return { ...rest, ...token, version: principal.version + 1 };
}

/** Whether it is the token that was given out last for this node, used or not. */
export const isJoinToken = (principal: NodePrincipal | undefined, token: string): boolean =>
  principal !== undefined &&
  principal.status !== 'revoked' &&
  isOneTimeToken(token, principal.join_token_hash);

/** Whether whoever brings the public key holds the private one, and means this node and this token. */
export async function holdsKey(
  { public_key_jwk, proof, join_token }: v.InferOutput<typeof Enrol>,
  nodeId: NodeId,
  now: Date,
): Promise<boolean> {
  try {
    const key = await importJWK(public_key_jwk, 'ES256');
    const { payload } = await jwtVerify(proof, key, {
      algorithms: ['ES256'],
      audience: nodeId,
      currentDate: now,
    });
    const { iat, join_token_sha256 } = v.parse(Proof, payload);
    const isFresh = Math.abs(epochSeconds(now) - iat) <= PROOF_SECONDS_MAX;
    return isFresh && join_token_sha256 === hashOneTimeToken(join_token);
  } catch {
    return false;
  }
}

export type JoinRefusal = 'join_token.used' | 'join_token.expired' | 'node.key_taken';
export type JoinVerdict = 'join' | 'joined_before' | JoinRefusal;

/** Of somebody who has the token and holds the key. `holder` is whose key it is, where it is anybody's. */
export function judgeJoin(
  { id, joined_by, join_expires_at }: NodePrincipal,
  thumbprint: string,
  holder: NodeId | undefined,
  now: Date,
): JoinVerdict {
  // The answer was lost: the same is told again.
  if (joined_by === thumbprint) return 'joined_before';
  if (joined_by !== undefined) return 'join_token.used';
  if (now >= new Date(join_expires_at)) return 'join_token.expired';
  return holder === undefined || holder === id ? 'join' : 'node.key_taken';
}

export const joined = (
  principal: NodePrincipal,
  public_key_jwk: PublicJwk,
  thumbprint: string,
): NodePrincipal => ({
  ...principal,
  status: 'active',
  public_key_jwk,
  thumbprint,
  joined_by: thumbprint,
  version: principal.version + 1,
});

/** For good: the key proves nothing any more, and no token admits anybody. */
export const revoked = (principal: NodePrincipal): NodePrincipal => ({
  ...principal,
  status: 'revoked',
  version: principal.version + 1,
});
