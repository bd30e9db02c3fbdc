// Who may do what, told once. A role is a list of permission keys; a grant gives a role in a project, in a whole
// organisation, on the platform, or, to a node, in its own place alone.

import type { NodeId, OrgId, ProjectId } from './ids.ts';

const READ_PROJECT = [
  // Reaches an organisation only where the role was given in all of it.
  'org.read',
  'project.read',
  'project.member.read',
  'service_account.read',
  'event.read',
  'apps.catalog.read',
  'apps.entitlement.read',
  'apps.instance.read',
  'apps.artifact.read',
  'allocation.read',
] as const;

const OPERATE = [
  ...READ_PROJECT,
  'apps.instance.create',
  'apps.instance.delete',
  'apps.instance.upgrade',
  'apps.artifact.publish',
  'allocation.create',
  'allocation.release',
] as const;

const DEVELOP = [...OPERATE, 'apps.manifest.submit'] as const;

const ADMINISTER_PROJECT = [
  ...DEVELOP,
  'project.write',
  'project.archive',
  'project.member.write',
  'service_account.write',
  'audit.read',
  'apps.entitlement.write',
  'apps.artifact.revoke',
] as const;

const ADMINISTER_ORG = [
  ...ADMINISTER_PROJECT,
  'org.write',
  'org.member.read',
  'org.member.write',
  'project.create',
] as const;

const ADMINISTER_PLATFORM = [
  ...ADMINISTER_ORG,
  'platform.org.create',
  'platform.audit.read',
  'platform.signing_key.rotate',
  'platform.selftest.run',
  'apps.catalog.publish',
  'apps.trust.write',
  'platform.node.read',
  'platform.node.write',
  'platform.node.drain',
  'platform.node.remove',
  'platform.node.task',
  'platform.sku.read',
  'platform.sku.write',
  'allocation.write_off',
] as const;

/** What a host may do for itself; nobody else may, not even an administrator of the platform. */
const SERVE_AS_NODE = [
  'node.report',
  'node.credential.issue',
  'node.trust.read',
  'node.secret.read',
  'node.workload.read',
] as const;

/** Every key there is. */
export const PERMISSIONS = [...ADMINISTER_PLATFORM, ...SERVE_AS_NODE] as const;

export type Permission = (typeof PERMISSIONS)[number];

export const ROLES = {
  platform_admin: ADMINISTER_PLATFORM,
  org_admin: ADMINISTER_ORG,
  project_admin: ADMINISTER_PROJECT,
  app_developer: DEVELOP,
  app_operator: OPERATE,
  viewer: READ_PROJECT,
  /** A host, in its own place. */
  node: SERVE_AS_NODE,
  /** An app instance acting for itself. */
  app: ['project.read', 'apps.instance.read'],
  /** A service account whose permissions are listed one by one, with the account. */
  custom: [],
} as const satisfies Record<string, readonly Permission[]>;

export type Role = keyof typeof ROLES;

/** Where each kind of grant may be given. */
export const ORG_ROLES = ['org_admin', 'viewer'] as const satisfies Role[];
export const PROJECT_ROLES = [
  'project_admin',
  'app_developer',
  'app_operator',
  'viewer',
] as const satisfies Role[];
export const SERVICE_ACCOUNT_ROLES = ['app_operator', 'app_developer', 'viewer'] as const satisfies Role[];

/**
 * A role in a project; without one, in all projects of the organisation; without either, everywhere that is not a
 * node's. A node's own role is in its place and nowhere else.
 */
export interface Grant {
  role: Role;
  /** Of the role `custom`, which means nothing without; of no other role. */
  permissions?: readonly Permission[];
  org_id?: OrgId;
  project_id?: ProjectId;
  node_id?: NodeId;
}

export interface Place {
  org_id?: OrgId;
  project_id?: ProjectId;
  node_id?: NodeId;
}

export type Access = 'allowed' | 'forbidden' | 'invisible';

/**
 * Someone with no grant that reaches the place must not learn whether it exists; someone with a lesser grant
 * there may be told that it is not enough.
 */
export function judge(grants: readonly Grant[], permission: Permission, place: Place): Access {
  const reaching = grants.filter((grant) => reaches(grant, place));
  if (reaching.some((grant) => permissionsOf(grant).includes(permission))) return 'allowed';
  const isNear =
    place.org_id !== undefined &&
    place.project_id === undefined &&
    grants.some((grant) => grant.org_id === place.org_id);
  return reaching.length > 0 || isNear ? 'forbidden' : 'invisible';
}

/** What a role lets its holder do, or the list that stands for one. */
export function permissionsOf({ role, permissions = [] }: Grant): readonly Permission[] {
  return role === 'custom' ? permissions : ROLES[role];
}

function reaches(grant: Grant, place: Place): boolean {
  if (grant.node_id !== place.node_id) return false;
  if (grant.org_id === undefined) return true;
  if (grant.org_id !== place.org_id) return false;
  return grant.project_id === undefined || grant.project_id === place.project_id;
}
