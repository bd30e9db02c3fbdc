import type { Permission } from './permissions.ts';

/**
 * `public`: anyone. `signed_in`: whoever holds a valid token. `iam`: signed with AWS credentials, for the platform
 * team. Everything else is a permission, asked for in the project, the organisation, the node or the platform the path
 * names.
 */
export type Requirement = Permission | 'public' | 'signed_in' | 'iam';

/** The routes of one domain: its function carries these, and not those of the others. */
export type Table = Record<
  `${'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'} /${string}`,
  readonly [handler: string, permission: Requirement]
>;

export type HandlerName<T extends Table> = FirstOf<T[keyof T]>;

type FirstOf<Row> = Row extends readonly [infer Handler extends string, unknown] ? Handler : never;

/** Where a permission is asked for, by what the path names. */
export type Scope = 'project' | 'org' | 'node' | 'platform';

/** Where hosts speak for themselves. What administrators do with hosts is done on the platform. */
const OF_A_NODE = ' /api/v1/nodes/{node_id}/';

export function scopeOf(route: string): Scope {
  if (route.includes('{project_id}')) return 'project';
  if (route.includes('{org_id}')) return 'org';
  return route.includes(OF_A_NODE) ? 'node' : 'platform';
}
