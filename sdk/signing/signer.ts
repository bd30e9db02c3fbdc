// Who signs: a key, and the certificates that say whose it is.

import {
  constants,
  createPrivateKey,
  createPublicKey,
  sign,
  X509Certificate,
  type KeyObject,
} from 'node:crypto';
import { promisify } from 'node:util';
import { algorithmOf, hashOf, isElliptic, type Algorithm } from './algorithms.ts';
import { SigningError } from './signing-error.ts';

export interface Signer {
  algorithm: Algorithm;
  /** In DER, the signer's own first, its root last. */
  chain: Buffer[];
  /** RFC 7518 3.4 and 3.5: of a curve the two numbers one after the other, of RSA a PSS signature. */
  sign(data: Uint8Array): Promise<Uint8Array>;
}

const signInBackground = promisify(sign);

/** Signs with a private key in PEM. */
export function keySigner({ keyPem, chainPem }: { keyPem: string; chainPem: string }): Signer {
  const privateKey = readKey(keyPem);
  const { chain, algorithm } = openChain(chainPem, createPublicKey(privateKey));
  const key = { key: privateKey, ...paddingOf(algorithm), dsaEncoding: 'ieee-p1363' as const };
  return {
    algorithm,
    chain,
    sign: (data) => signInBackground(hashOf(algorithm), data, key),
  };
}

/** RFC 7518 3.5: a salt as long as the hash. */
export const paddingOf = (algorithm: Algorithm) =>
  isElliptic(algorithm)
    ? {}
    : { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };

/** The chain, if its first certificate is of this key, and the algorithm that goes with it. */
export function openChain(chainPem: string, publicKey: KeyObject): { chain: Buffer[]; algorithm: Algorithm } {
  const certificates = readChain(chainPem);
  if (certificates[0]?.publicKey.equals(publicKey) !== true) {
    throw new SigningError(
      'failed',
      'The first certificate of the chain belongs to another key.',
      "Put the signer's own certificate first in the chain, or give the key it was issued for.",
    );
  }
  return { chain: certificates.map(({ raw }) => raw), algorithm: algorithmOf(publicKey) };
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new SigningError(
      'failed',
      'The key cannot be read.',
      'Give a private key in PEM (PKCS #8, “BEGIN PRIVATE KEY”) without a password.',
    );
  }
}

function readChain(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch {
    // Told below, with a file in which no certificate was found at all.
  }
  throw new SigningError(
    'failed',
    'The chain has no readable certificate.',
    "Give certificates in PEM, one after the other: the signer's own first, its root last.",
  );
}
