import { hash } from 'node:crypto';
import { importPKCS8, SignJWT } from 'jose';
import { makeKeyPair } from '../../functions/identity/service-account-key-pair.ts';
import type { PublicJwk } from '../../functions/platform/auth/token-shape.ts';
import { sampleInventory } from './inventories.ts';

export interface HostKeys {
  public_jwk: PublicJwk;
  private_key_pem: string;
}

export function newHost(): HostKeys {
  const { publicJwk, privateKeyPem } = makeKeyPair();
  return { public_jwk: publicJwk, private_key_pem: privateKeyPem };
}

/** What an agent sends to join, with anything of the proof changed that a test wants wrong. */
export async function enrolmentOf(
  nodeId: string,
  joinToken: string,
  host: HostKeys,
  claims: Record<string, unknown> = {},
) {
  const payload = {
    aud: nodeId,
    join_token_sha256: hash('sha256', joinToken),
    iat: Math.floor(Date.now() / 1000),
    ...claims,
  };
  const key = await importPKCS8(host.private_key_pem, 'ES256');
  return {
    join_token: joinToken,
    public_key_jwk: host.public_jwk,
    proof: await new SignJWT(payload).setProtectedHeader({ alg: 'ES256' }).sign(key),
    inventory: sampleInventory(),
  };
}
