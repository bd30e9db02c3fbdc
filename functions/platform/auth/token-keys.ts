import { createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand } from '@aws-sdk/client-kms';
import { calculateJwkThumbprint, type CryptoKey, importJWK } from 'jose';
import * as v from 'valibot';
import { kms } from '../clients.ts';
import { environment } from '../environment.ts';
import { PublicJwk } from './token-shape.ts';

/** A key the platform signs its tokens with. The private half never leaves KMS. */
export interface PlatformKey {
  /** RFC 7638: made of the key itself, so the same everywhere and never another key's. */
  kid: string;
  kmsKeyId: string;
  jwk: PublicJwk;
  verifying: CryptoKey;
}

let known: Promise<PlatformKey[]> | undefined;

/** In the order they are configured. Asked for once: a key in KMS never changes. */
export function platformKeys(): Promise<PlatformKey[]> {
  known ??= Promise.all(environment('SIGNING_KEY_IDS').split(',').map(fetchKey)).catch((error: unknown) => {
    known = undefined;
    throw error;
  });
  return known;
}

async function fetchKey(kmsKeyId: string): Promise<PlatformKey> {
  const { PublicKey } = await kms().send(new GetPublicKeyCommand({ KeyId: kmsKeyId }));
  const key = createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' });
  const jwk = v.parse(PublicJwk, key.export({ format: 'jwk' }));
  const verifying = await importJWK(jwk, 'ES256');
  return { kid: await calculateJwkThumbprint(jwk), kmsKeyId, jwk, verifying };
}
