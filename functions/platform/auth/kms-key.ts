// Keys of the platform that sign: the private half never leaves KMS. Only a bundle whose function may use such a key
// carries this file.

import { createHash, createPublicKey } from 'node:crypto';
import { GetPublicKeyCommand, SignCommand } from '@aws-sdk/client-kms';
import { calculateJwkThumbprint } from 'jose';
import * as v from 'valibot';
import { kms } from '../clients.ts';
import type { PublicKey } from './signing.ts';
import { PublicJwk } from './token-shape.ts';

export interface KmsKey {
  kid: string;
  kmsKeyId: string;
  publicKey: PublicKey;
}

const COORDINATE_BYTES = 32;

/** A key in KMS never changes, so whoever asks may remember the answer. */
export async function fetchKmsKey(kmsKeyId: string): Promise<KmsKey> {
  const { PublicKey } = await kms().send(new GetPublicKeyCommand({ KeyId: kmsKeyId }));
  const key = createPublicKey({ key: Buffer.from(PublicKey ?? []), format: 'der', type: 'spki' });
  const jwk = v.parse(PublicJwk, key.export({ format: 'jwk' }));
  const kid = await calculateJwkThumbprint(jwk);
  return { kid, kmsKeyId, publicKey: { ...jwk, kid } };
}

/** The compact form of RFC 7515 §7.1, signed where the key is. */
export async function signCompact(header: object, payload: object, key: KmsKey): Promise<string> {
  const signed = `${encode(header)}.${encode(payload)}`;
  const { Signature } = await kms().send(
    new SignCommand({
      KeyId: key.kmsKeyId,
      Message: createHash('sha256').update(signed).digest(),
      MessageType: 'DIGEST',
      SigningAlgorithm: 'ECDSA_SHA_256',
    }),
  );
  return `${signed}.${rawSignature(Buffer.from(Signature ?? [])).toString('base64url')}`;
}

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/**
 * KMS answers an ASN.1 sequence of two integers, JWS wants the two numbers side by side (RFC 7518 §3.4). An integer
 * has a zero before it when its first bit is set, and none of its own leading zeros.
 */
export function rawSignature(der: Buffer): Buffer {
  const rBytes = der[3] ?? 0;
  const r = der.subarray(4, 4 + rBytes);
  const s = der.subarray(6 + rBytes, 6 + rBytes + (der[5 + rBytes] ?? 0));
  return Buffer.concat([coordinate(r), coordinate(s)]);
}

function coordinate(integer: Buffer): Buffer {
  const significant = integer.subarray(Math.max(0, integer.length - COORDINATE_BYTES));
  return Buffer.concat([Buffer.alloc(COORDINATE_BYTES - significant.length), significant]);
}
