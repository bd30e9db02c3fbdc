// Which of the platform's keys signs, and how the next one takes its turn.

import * as v from 'valibot';
import { secondsAfter } from '../platform/clock.ts';
import { event } from '../platform/events.ts';
import { Time } from '../platform/name.ts';
import { activeKeyId, isLiveKey, type PublicKey, type SigningState } from '../platform/auth/signing.ts';
import { refuse } from './problems.ts';

/** The key before signs on until every warm function, which remembers for 5 s, has heard of the next one. */
const HANDOVER_SECONDS = 10;
/** What the handover takes, and what clocks may differ. */
const MARGIN_SECONDS = 60;

export const SigningKeys = v.object({
  items: v.array(
    v.object({
      key_id: v.string(),
      /** `retiring`: no longer signs, and what it signed is believed until then. */
      status: v.picklist(['active', 'retiring', 'standby']),
      believed_until: v.optional(v.string()),
    }),
  ),
  next_cursor: v.null(),
  rotated_at: v.nullable(v.string()),
  version: v.number(),
});

export function viewSigningKeys(
  kids: readonly string[],
  state: SigningState | undefined,
  now: Date,
): v.InferOutput<typeof SigningKeys> {
  const active = activeKeyId(kids, state);
  const items = kids.map((key_id) => {
    if (key_id === active) return { key_id, status: 'active' as const };
    if (!isLiveKey(key_id, state, now)) return { key_id, status: 'standby' as const };
    return { key_id, status: 'retiring' as const, believed_until: state?.overlap_until };
  });
  return { items, next_cursor: null, rotated_at: state?.rotated_at ?? null, version: state?.version ?? 0 };
}

/** The key to sign with now. */
export function signingKeyId(kids: readonly string[], state: SigningState | undefined, now: Date): string {
  const active = activeKeyId(kids, state);
  if (!state?.rotated_at || now >= secondsAfter(new Date(state.rotated_at), HANDOVER_SECONDS)) return active;
  return kids.find((kid) => kid !== active) ?? active;
}

/**
 * The state to write before a token goes out, so that whoever is shown one finds its key; nothing where it stands there
 * already.
 */
export function planPublication(
  keys: readonly PublicKey[],
  state: SigningState | undefined,
): SigningState | undefined {
  const published = new Set(state?.public_keys.map(({ kid }) => kid));
  if (keys.every(({ kid }) => published.has(kid))) return undefined;
  const kids = keys.map(({ kid }) => kid);
  return { version: 0, ...state, active_key_id: activeKeyId(kids, state), public_keys: [...keys] };
}

/** Every token of the key before must have expired before that key may sign again. */
export function planRotation(
  keys: readonly PublicKey[],
  state: SigningState | undefined,
  ttlSeconds: number,
  now: Date,
): Required<SigningState> {
  const waitMs = state?.overlap_until ? Date.parse(state.overlap_until) - now.getTime() : 0;
  if (waitMs > 0) {
    throw refuse('signing_key.just_rotated', {
      headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
    });
  }
  const kids = keys.map(({ kid }) => kid);
  const active = activeKeyId(kids, state);
  const next = kids.find((kid) => kid !== active);
  if (next === undefined) throw new Error('There is no second signing key to rotate to.');
  return {
    active_key_id: next,
    rotated_at: now.toISOString(),
    overlap_until: secondsAfter(now, ttlSeconds + MARGIN_SECONDS).toISOString(),
    version: (state?.version ?? 0) + 1,
    public_keys: [...keys],
  };
}

export const SigningKeyRotated = event(
  'identity.signing_key.rotated',
  1,
  v.object({ active_key_id: v.string(), overlap_until: Time }),
);
