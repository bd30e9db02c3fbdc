import * as v from 'valibot';
import { query } from '../platform/http/endpoint.ts';
import type { PlaceId } from '../platform/ids.ts';
import { type Grant, type Permission, permissionsOf } from '../platform/permissions.ts';
import { type Named, readCaller } from './member-store.ts';
import { RoleName } from './user.ts';

const Place = v.object({ id: v.string(), slug: v.optional(v.string()), name: v.optional(v.string()) });

const MeView = v.object({
  kind: v.picklist(['user', 'service_account', 'node', 'platform_team', 'platform', 'anonymous']),
  id: v.string(),
  email: v.optional(v.string()),
  /** What the caller may do everywhere on the platform; in their own places, their roles there say. */
  permissions: v.array(v.string()),
  grants: v.array(
    v.object({
      role: RoleName,
      /** Only where the role is `custom`. */
      permissions: v.optional(v.array(v.string())),
      org: v.optional(Place),
      project: v.optional(Place),
    }),
  ),
});
type MeView = v.InferOutput<typeof MeView>;

export const getMe = query(
  { summary: 'Get your own identity, roles and permissions', reply: MeView },
  async (ctx): Promise<MeView> => {
    const { grants, names } = await readCaller(ctx);
    return {
      ...ctx.actor,
      permissions: platformPermissions(grants),
      grants: grants.map((grant) => viewGrant(grant, names)),
    };
  },
);

function platformPermissions(grants: Grant[]): Permission[] {
  const everywhere = grants.filter(({ org_id, node_id }) => org_id === undefined && node_id === undefined);
  return [...new Set(everywhere.flatMap(permissionsOf))].sort();
}

function viewGrant(
  { role, permissions, org_id, project_id }: Grant,
  names: Map<PlaceId, Named>,
): MeView['grants'][number] {
  const placed = (id: PlaceId) => names.get(id) ?? { id };
  return {
    role,
    ...(permissions && { permissions: [...permissions] }),
    ...(org_id !== undefined && { org: placed(org_id) }),
    ...(project_id !== undefined && { project: placed(project_id) }),
  };
}
