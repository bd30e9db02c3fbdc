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
  /** Where it belongs, and so its tokens are audited. */
  place: { project_id?: ProjectId; org_id?: OrgId };
  /** What its tokens tell besides. */
  claims: { project_id?: ProjectId; org_id?: OrgId; cnf?: { jkt: string } };
  /** The key of that name with which it may prove itself now; nothing where there is none, for whatever reason. */
  findKey: (keyId: string) => PublicJwk | undefined;
}

export function accountClaimant(account: ServiceAccount, now: Date): Claimant {
  const { id, project_id, org_id } = account;
  return {
    actor: { kind: 'service_account', id },
    subject: `sa:${id}`,
    place: { project_id, org_id },
    claims: { project_id, org_id },
    findKey: (keyId) => findWorkingKey(account, keyId, now)?.public_key_jwk,
  };
}

/**
 * A node has one key at a time, which goes by the node's own id. Its tokens name the key (RFC 7800 §3.1): they end with
 * it, when another host joins as the node.
 */
export function nodeClaimant({ id, status, public_key_jwk, thumbprint = '' }: NodePrincipal): Claimant {
  return {
    actor: { kind: 'node', id },
    subject: nodeSubject(id),
    place: {},
    claims: { cnf: { jkt: thumbprint } },
    findKey: (keyId) => (status === 'active' && keyId === id ? public_key_jwk : undefined),
  };
}
