import { command } from '../platform/http/endpoint.ts';
import { environment } from '../platform/environment.ts';
import { planRotation, SigningKeyRotated, SigningKeys, viewSigningKeys } from './signing-key.ts';
import { platformKeys } from './signing-keys.ts';
import { findSigningState, saveSigningState } from './signing-store.ts';
import { NODE_TTL_SECONDS, readTtl } from './token.ts';

export const rotateSigningKey = command(
  {
    summary: 'Switch to the other signing key; tokens already issued stay valid until they expire',
    action: 'identity.signing_key.rotate',
    reply: SigningKeys,
    refusals: ['signing_key.just_rotated'],
    idempotency: 'required',
  },
  async (ctx) => {
    const now = ctx.now();
    const keys = (await platformKeys()).map(({ publicKey }) => publicKey);
    const kids = keys.map(({ kid }) => kid);
    const state = await findSigningState();
    const ttlSeconds = Math.max(readTtl(environment('TOKEN_TTL_SECONDS')), NODE_TTL_SECONDS);
    const rotated = planRotation(keys, state, ttlSeconds, now);
    return {
      subject: `signing_key:${rotated.active_key_id}`,
      before: viewSigningKeys(kids, state, now),
      after: viewSigningKeys(kids, rotated, now),
      writes: [saveSigningState(state, rotated)],
      events: [SigningKeyRotated(rotated)],
      reply: viewSigningKeys(kids, rotated, now),
    };
  },
);
