// A person as the platform knows them: who they are and which roles they hold where.

import * as v from 'valibot';
import { type OrgId, type ProjectId, textOf, type UserId } from '../platform/ids.ts';
import { type Role, ROLES } from '../platform/permissions.ts';

export const RoleName = v.picklist(Object.keys(ROLES) as Role[]);

const Membership = v.object({
  role: RoleName,
  org_id: textOf<OrgId>(),
  /** Without one, the role reaches every project of the organisation. */
  project_id: v.optional(textOf<ProjectId>()),
  since: v.optional(v.string()),
});
export type Membership = v.InferOutput<typeof Membership>;

export const User = v.object({
  id: textOf<UserId>(),
  email: v.optional(v.string()),
  grants: v.array(Membership),
  /** 0 until it is first kept. */
  version: v.number(),
});
export type User = v.InferOutput<typeof User>;

/** Somebody who has signed in and holds no role yet. */
export function newcomer(id: UserId, email: string | undefined): User {
  return { id, ...(email !== undefined && { email }), grants: [], version: 0 };
}
