// Which algorithm a key signs with. The key decides: Notary Project signature specification, "Algorithm Selection".

import type { KeyObject } from 'node:crypto';
import { SigningError } from './signing-error.ts';

export type Algorithm = 'ES256' | 'ES384' | 'ES512' | 'PS256' | 'PS384' | 'PS512';

export const KEY_TYPES = ['P-256', 'P-384', 'P-521', 'RSA-2048', 'RSA-3072', 'RSA-4096'] as const;
export type KeyType = (typeof KEY_TYPES)[number];

const ALGORITHMS: Record<KeyType, Algorithm> = {
  'P-256': 'ES256',
  'P-384': 'ES384',
  'P-521': 'ES512',
  'RSA-2048': 'PS256',
  'RSA-3072': 'PS384',
  'RSA-4096': 'PS512',
};

/** OpenSSL's names of the curves. */
const CURVES: Record<string, KeyType> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };

export function keyTypeOf(key: KeyObject): KeyType | undefined {
  const { namedCurve = '', modulusLength = 0 } = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === 'ec') return CURVES[namedCurve];
  return key.asymmetricKeyType === 'rsa'
    ? KEY_TYPES.find((type) => type === `RSA-${modulusLength}`)
    : undefined;
}

export function algorithmOf(key: KeyObject): Algorithm {
  const type = keyTypeOf(key);
  if (type !== undefined) return ALGORITHMS[type];
  throw new SigningError(
    'failed',
    `The Notary Project does not support a key of type ${key.asymmetricKeyType} and this size.`,
    `Use one of ${KEY_TYPES.join(', ')}.`,
  );
}

export const isElliptic = (algorithm: Algorithm): boolean => algorithm.startsWith('ES');

export const hashOf = (algorithm: Algorithm): 'sha256' | 'sha384' | 'sha512' => HASHES[algorithm];

const HASHES = {
  ES256: 'sha256',
  ES384: 'sha384',
  ES512: 'sha512',
  PS256: 'sha256',
  PS384: 'sha384',
  PS512: 'sha512',
} as const;
