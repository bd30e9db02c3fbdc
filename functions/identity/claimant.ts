// Whoever proves by a signed assertion who they are, and gets a token for it: a service account, or a node.

import type { Actor } from '../platform/actor.ts';
import { type NodePrincipal, nodeSubject } from '../platform/auth/node-principal.ts';
import type { PublicJwk } from '../platform/auth/token-shape.ts';
import type { OrgId, ProjectId } from '../platform/ids.ts';
import { findWorkingKey, type ServiceAccount } from './service-account.ts';

export interface Claimant {
  actor: Extract<Actor, { kind: 'service_account' | 'node' }>;
  /** `sub` of its tokens. */
  subject: string;
  /** Where its tokens are audited, which they tell besides. */
  place: { project_id?: ProjectId; org_id?: OrgId };
  /** The key of that name with which it may prove itself now; nothing where there is none, for whatever reason. */
  findKey: (keyId: string) => PublicJwk | undefined;
}

export function accountClaimant(account: ServiceAccount, now: Date): Claimant {
  const { id, project_id, org_id } = account;
  return {
    actor: { kind: 'service_account', id },
    subject: `sa:${id}`,
    place: { project_id, org_id },
    findKey: (keyId) => findWorkingKey(account, keyId, now)?.public_key_jwk,
  };
}

/** A node has one key at a time, which goes by the node's own id. */
export function nodeClaimant({ id, status, public_key_jwk }: NodePrincipal): Claimant {
  return {
    actor: { kind: 'node', id },
    subject: nodeSubject(id),
    place: {},
    findKey: (keyId) => (status === 'active' && keyId === id ? public_key_jwk : undefined),
  };
}
