import { nameActor } from '../platform/actor.ts';
import { signJws } from '../platform/auth/sign-jws.ts';
import { recallSigningState } from '../platform/auth/token-keys.ts';
import type { Context } from '../platform/context.ts';
import type { Change } from '../platform/data/change.ts';
import type { Write } from '../platform/data/commit.ts';
import { environment } from '../platform/environment.ts';
import type { Claimant } from './claimant.ts';
import { signingKeyId } from './signing-key.ts';
import { platformKeys } from './signing-keys.ts';
import { publishKeys } from './signing-store.ts';
import { planToken } from './token.ts';

/** Who asks, and how they showed it. */
export interface Proof {
  claimant: Claimant;
  keyId: string;
  method: 'assertion' | 'private_key';
  writes: Write[];
}

/** A token for whoever proved who they are; the answer is a secret. */
export async function issueToken(
  ctx: Context,
  { claimant, keyId, method, writes }: Proof,
  ttlSeconds: number,
): Promise<Change> {
  const now = ctx.now();
  const keys = await platformKeys();
  const kids = keys.map((key) => key.kid);
  const state = await recallSigningState(ctx.now);
  const kid = signingKeyId(kids, state, now);
  const key = keys.find((each) => each.kid === kid);
  if (!key) throw new Error('The active signing key is not among those configured; rotate to one that is.');
  const planned = { issuer: environment('TOKEN_ISSUER'), jti: ctx.newId(), ttlSeconds };
  const { header, claims } = planToken(claimant, planned, now);
  return {
    actor: claimant.actor,
    place: claimant.place,
    subject: nameActor(claimant.actor),
    after: { key_id: keyId, method, jti: claims.jti, expires_at: claims.exp },
    writes: [...writes, ...publishKeys(keys, state)],
    reply: { token_type: 'Bearer', expires_in: ttlSeconds },
    secrets: { access_token: await signJws(header, claims, key) },
  };
}
