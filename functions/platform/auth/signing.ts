import * as v from 'valibot';
import { PublicJwk } from './token-shape.ts';

/** What it takes to verify the tokens of one of the platform's keys. */
export const PublicKey = v.object({
  ...PublicJwk.entries,
  /** RFC 7638: made of the key itself, so never another key's. */
  kid: v.string(),
});
export type PublicKey = v.InferOutput<typeof PublicKey>;

/**
 * Which of the platform's two signing keys signs, and until when the one before it is still believed. Rotating
 * swaps them; a key that was rotated out is refused until it is brought back.
 */
export const SigningState = v.object({
  active_key_id: v.string(),
  /** Absent before the first rotation, like the next. */
  rotated_at: v.optional(v.string()),
  /** Tokens of the other key are believed until then. */
  overlap_until: v.optional(v.string()),
  version: v.number(),
  /** Put there by whoever signs; of a row from before that, nothing verifies until the next token is signed. */
  public_keys: v.optional(v.array(PublicKey), []),
});
export type SigningState = v.InferOutput<typeof SigningState>;

/** Before the first token there is no state: the first key is to sign. */
export function activeKeyId(keyIds: readonly string[], state: SigningState | undefined): string {
  const [first] = keyIds;
  if (first === undefined) throw new Error('No signing key is configured.');
  return state?.active_key_id ?? first;
}

export function isLiveKey(keyId: string, state: SigningState | undefined, now: Date): boolean {
  if (keyId === state?.active_key_id) return true;
  return state?.overlap_until !== undefined && now < new Date(state.overlap_until);
}
