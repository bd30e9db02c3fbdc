import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import * as v from 'valibot';
import { PublicJwk } from '../platform/auth/token-shape.ts';

export interface KeyPair {
  publicJwk: PublicJwk;
  /** PKCS #8. Handed out once and kept nowhere. */
  privateKeyPem: string;
}

export function makeKeyPair(): KeyPair {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    publicJwk: v.parse(PublicJwk, publicKey.export({ format: 'jwk' })),
    privateKeyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
  };
}

/** The public half of a private key somebody sent; nothing where it is no P-256 key. */
export function publicHalfOf(privateKeyPem: string): PublicJwk | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey(createPrivateKey({ key: privateKeyPem, format: 'pem' }));
    const parsed = v.safeParse(PublicJwk, key.export({ format: 'jwk' }));
    return parsed.success ? parsed.output : undefined;
  } catch {
    // What OpenSSL says of a key may quote it.
    return undefined;
  }
}

export function isSameKey(a: PublicJwk, b: PublicJwk): boolean {
  return a.x === b.x && a.y === b.y;
}
