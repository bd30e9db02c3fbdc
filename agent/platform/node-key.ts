// The key that is this node. It is made here, never leaves the host, and is the only thing that proves who the agent is.

import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CompactSign, exportJWK } from 'jose';
import type { PublicJwk } from '../../functions/platform/auth/token-shape.ts';
import { writeWhole } from '../config/write-whole.ts';

export const keyFile = (stateDir: string): string => join(stateDir, 'node-key.pem');

/** Kept across attempts to enrol: an answer that was lost is only given again to the same key. */
export function ensureNodeKey(stateDir: string): KeyObject {
  if (!existsSync(keyFile(stateDir))) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' });
    writeWhole(keyFile(stateDir), pem.toString(), { mode: 0o600 });
  }
  return readNodeKey(stateDir);
}

export const readNodeKey = (stateDir: string): KeyObject => createPrivateKey(readFileSync(keyFile(stateDir)));

export async function publicJwkOf(key: KeyObject): Promise<PublicJwk> {
  const { crv, x, y } = await exportJWK(key);
  return { kty: 'EC', crv, x, y } as PublicJwk;
}

/** A compact JWS, ES256. */
export async function signWith(key: KeyObject, payload: object, kid?: string): Promise<string> {
  const header = { alg: 'ES256', ...(kid !== undefined && { kid }) };
  return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
    .setProtectedHeader(header)
    .sign(key);
}
