// Who a node is, as authorization and whoever issues tokens see it. Its role is not in here: whatever the row says, it
// gives the role `node` in the place of that node, and nothing else.

import * as v from 'valibot';
import { type NodeId, textOf } from '../ids.ts';
import type { Grant } from '../permissions.ts';
import type { ScopedNode } from '../scope.ts';
import { PublicJwk } from './token-shape.ts';

/** pending: no agent has enrolled yet. revoked: removed, for good. */
const NODE_PRINCIPAL_STATUSES = ['pending', 'active', 'revoked'] as const;

/** `sub` of a node's token; `iss` and `sub` of its assertions are the id alone. */
export const nodeSubject = (id: NodeId): string => `node:${id}`;

/** Relative to the platform's address. Assertions name the platform's address, or this path below it, as `aud`. */
export const NODE_TOKEN_PATH = '/api/v1/auth/node/token';

export const NodePrincipal = v.object({
  id: textOf<NodeId>(),
  status: v.picklist(NODE_PRINCIPAL_STATUSES),
  /** Of the agent that enrolled last. */
  public_key_jwk: v.optional(PublicJwk),
  /** RFC 7638, of that key. */
  thumbprint: v.optional(v.string()),
  /** SHA-256 of the join token that was given out last. */
  join_token_hash: v.string(),
  join_expires_at: v.string(),
  /** The thumbprint of the key that was enrolled with that token; absent until one is. */
  joined_by: v.optional(v.string()),
  version: v.number(),
});
export type NodePrincipal = v.InferOutput<typeof NodePrincipal>;

/** The node and the one grant it has, unless it is removed, or this is not the key it joined with last. */
export function grantOfNode(
  item: unknown,
  heldKey: string | undefined,
): { node: ScopedNode; grant: Grant } | undefined {
  const principal = v.safeParse(NodePrincipal, item);
  if (!principal.success || principal.output.status !== 'active') return undefined;
  const { id, public_key_jwk, thumbprint } = principal.output;
  if (!public_key_jwk || thumbprint === undefined || thumbprint !== heldKey) return undefined;
  return { node: { id, public_key_jwk }, grant: { role: 'node', node_id: id } };
}
