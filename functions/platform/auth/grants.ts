// What the items of people and service accounts let them do; those of nodes stand apart (node-principal.ts).

import * as v from 'valibot';
import { type OrgId, type ProjectId, textOf } from '../ids.ts';
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
