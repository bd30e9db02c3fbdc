import { createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand } from '@aws-sdk/client-kms';
import { calculateJwkThumbprint } from 'jose';
import * as v from 'valibot';
import { kms } from '../clients.ts';
import type { PublicKey } from './signing.ts';
import { PublicJwk } from './token-shape.ts';

/** A key the platform signs with. The private half never leaves KMS. */
export interface PlatformKey {
  kid: string;
  kmsKeyId: string;
  publicKey: PublicKey;
}

const known = new Map<string, Promise<PlatformKey>>();

/** Asked for once: a key in KMS never changes. */
export function platformKey(kmsKeyId: string): Promise<PlatformKey> {
  const key = known.get(kmsKeyId) ?? fetchKey(kmsKeyId);
  known.set(kmsKeyId, key);
  key.catch(() => known.delete(kmsKeyId));
  return key;
}

async function fetchKey(kmsKeyId: string): Promise<PlatformKey> {
  const { PublicKey } = await kms().send(new GetPublicKeyCommand({ KeyId: kmsKeyId }));
  const key = createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' });
  const jwk = v.parse(PublicJwk, key.export({ format: 'jwk' }));
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, kmsKeyId, publicKey: { ...jwk, kid } };
}
