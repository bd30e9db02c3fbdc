import { createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand } from '@aws-sdk/client-kms';
import { calculateJwkThumbprint } from 'jose';
import * as v from 'valibot';
import { PublicJwk } from '../platform/auth/token-shape.ts';
import type { PublicKey } from '../platform/auth/signing.ts';
import { kms } from '../platform/clients.ts';
import { environment } from '../platform/environment.ts';

/** A key the platform signs its tokens with. The private half never leaves KMS. */
export interface PlatformKey {
  kid: string;
  kmsKeyId: string;
  publicKey: PublicKey;
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
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, kmsKeyId, publicKey: { ...jwk, kid } };
}
