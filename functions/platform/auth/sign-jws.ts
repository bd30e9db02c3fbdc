import { createHash } from 'node:crypto';
import { SignCommand } from '@aws-sdk/client-kms';
import { kms } from '../clients.ts';
import type { PlatformKey } from './platform-key.ts';

const COORDINATE_BYTES = 32;

/** The compact form of RFC 7515 §7.1 (ES256), signed where the key is. */
export async function signJws(
  header: Record<string, string>,
  claims: object,
  key: PlatformKey,
): Promise<string> {
  const signed = `${encode({ alg: 'ES256', ...header, kid: key.kid })}.${encode(claims)}`;
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
