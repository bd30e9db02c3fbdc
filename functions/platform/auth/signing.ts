import * as v from 'valibot';

/**
 * Which of the platform's two signing keys signs, and until when the one before it is still believed. Rotating
 * swaps them; a key that was rotated out is refused until it is brought back.
 */
export const SigningState = v.object({
  active_key_id: v.string(),
  rotated_at: v.string(),
  /** Tokens of the other key are believed until then. */
  overlap_until: v.string(),
  version: v.number(),
});
export type SigningState = v.InferOutput<typeof SigningState>;

/** Before the first rotation there is no state: the first key signs and the second has signed nothing. */
export function activeKeyId(keyIds: readonly string[], state: SigningState | undefined): string {
  const [first] = keyIds;
  if (first === undefined) throw new Error('No signing key is configured.');
  return state?.active_key_id ?? first;
}

export function isLiveKey(keyId: string, state: SigningState | undefined, now: Date): boolean {
  if (state === undefined || keyId === state.active_key_id) return true;
  return now < new Date(state.overlap_until);
}
