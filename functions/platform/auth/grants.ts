// What the items of people, service accounts and nodes let them do.

import * as v from 'valibot';
import { type OrgId, type ProjectId, textOf } from '../ids.ts';
import { type ScopedNode } from '../scope.ts';
import { NodePrincipal } from './node-principal.ts';
import { type Grant, PERMISSIONS, ROLES, type Role } from '../permissions.ts';

const RoleName = v.picklist(Object.keys(ROLES) as Role[]);

const User = v.object({
  grants: v.array(
    v.object({ role: RoleName, org_id: textOf<OrgId>(), project_id: v.optional(textOf<ProjectId>()) }),
  ),
});

const ServiceAccount = v.object({
  project_id: textOf<ProjectId>(),
  org_id: textOf<OrgId>(),
  role: RoleName,
  permissions: v.optional(v.array(v.picklist(PERMISSIONS))),
  status: v.picklist(['active', 'disabled']),
});

/** None for somebody who was given nothing yet. */
export function grantsOfUser(item: unknown): Grant[] {
  return item === undefined ? [] : v.parse(User, item).grants;
}

/** Nothing for an account that is disabled, or gone. */
export function grantOfAccount(item: unknown): Grant | undefined {
  const account = v.safeParse(ServiceAccount, item);
  if (!account.success || account.output.status !== 'active') return undefined;
  const { status: _, ...grant } = account.output;
  return grant;
}

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
