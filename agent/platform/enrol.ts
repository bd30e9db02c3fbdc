import { hash, randomUUID, type KeyObject } from 'node:crypto';
import { Enrolled } from '../../functions/nodes/agent-api.ts';
import type { Inventory } from '../../functions/nodes/inventory.ts';
import { askJson } from './http.ts';
import { publicJwkOf, signWith } from './node-key.ts';
import { nodePath } from './paths.ts';

export interface Enrolling {
  url: string;
  nodeId: string;
  joinToken: string;
  key: KeyObject;
  inventory: Inventory;
  now: Date;
}

/** Makes this machine the node the join token was made for. Repeated with the same key, it is answered the same again. */
export async function enrol({ url, nodeId, joinToken, key, inventory, now }: Enrolling): Promise<Enrolled> {
  const proof = await signWith(key, {
    aud: nodeId,
    join_token_sha256: hash('sha256', joinToken),
    iat: Math.floor(now.getTime() / 1000),
  });
  const body = { join_token: joinToken, public_key_jwk: await publicJwkOf(key), proof, inventory };
  const path = nodePath(nodeId, '/enrolment');
  return askJson(url, { method: 'POST', path, body, idempotencyKey: randomUUID() }, Enrolled);
}
