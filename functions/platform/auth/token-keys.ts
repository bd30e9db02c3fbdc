import { type CryptoKey, importJWK } from 'jose';
import * as v from 'valibot';
import type { Clock } from '../clock.ts';
import { signingKey } from '../data/keys.ts';
import type { Key } from '../data/table.ts';
import { authorizationCache } from './authorization-cache.ts';
import { type PublicKey, SigningState } from './signing.ts';

/** As authorization knows it, at no request while it is fresh. */
export async function recallSigningState(now: Clock, after?: number): Promise<SigningState | undefined> {
  const [item] = await authorizationCache.read([signingKey()], now, after);
  return v.parse(v.optional(SigningState), item);
}

/**
 * The key of that name, with which the platform's own tokens are verified; nothing where none was published. `rows` are
 * all that the call needs to be let through: a function that has just started reads them with the signing state, by one
 * request. One that knows the state reads no row of anybody for a token it has not verified.
 */
export async function findTokenKey(keyId: string, rows: Key[], now: Clock): Promise<CryptoKey | undefined> {
  const isRemembered = authorizationCache.isRemembered([signingKey()], now);
  if (!isRemembered) await authorizationCache.read(rows, now);
  const known = await publishedKey(keyId, now);
  if (known || !isRemembered || !mayLookAgain(now)) return known;
  // It may have been published a moment ago.
  return publishedKey(keyId, now, authorizationCache.reads);
}

/** Anybody can make up the name of a key: however many do, they cost a few reads a second. */
const LOOKED_AGAIN_EVERY_MS = 200;
let lookedAgainMs = 0;

function mayLookAgain(now: Clock): boolean {
  const nowMs = now().getTime();
  if (Math.abs(nowMs - lookedAgainMs) < LOOKED_AGAIN_EVERY_MS) return false;
  lookedAgainMs = nowMs;
  return true;
}

async function publishedKey(keyId: string, now: Clock, after?: number): Promise<CryptoKey | undefined> {
  const state = await recallSigningState(now, after);
  const published = state?.public_keys.find(({ kid }) => kid === keyId);
  return published && verifyingKey(published);
}

/** As many as are ever published at once, and those before them. */
const VERIFYING_MAX = 16;

/** A key's name is made of the key, so what is kept stays true; the longest known makes room. */
const verifying = new Map<string, CryptoKey>();

async function verifyingKey({ kid, ...jwk }: PublicKey): Promise<CryptoKey> {
  const key = verifying.get(kid) ?? (await importJWK(jwk, 'ES256'));
  verifying.set(kid, key);
  const [longestKnown] = verifying.keys();
  if (verifying.size > VERIFYING_MAX && longestKnown !== undefined) verifying.delete(longestKnown);
  return key;
}
