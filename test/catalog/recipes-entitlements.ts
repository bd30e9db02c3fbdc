import { type Command, inOrg, inProject, ORG, PROJECT, readOrg, readProject } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { entitle } from './entitled.ts';

const PUT = { enabled: true, policy_overrides: { max_instances: 3 } };

export const entitlementCommands: Command[] = [
  {
    route: `PUT ${PROJECT}/apps/entitlements/{app_slug}`,
    prepare: inProject(async (scene, { project, admin }) => {
      const { slug } = await scene.app();
      const call = { params: { project_id: project.id, app_slug: slug }, body: PUT, token: admin.token };
      const unknown = { ...call.params, app_slug: scene.slug() };
      return {
        call,
        subject: `entitlement:${slug}`,
        refused: { call: { ...call, params: unknown }, code: 'app.unknown' },
      };
    }),
  },
  {
    route: `PUT ${ORG}/apps/entitlements/{app_slug}`,
    prepare: inOrg(async (scene, { org, admin }) => {
      const { slug } = await scene.app();
      const call = { params: { org_id: org.id, app_slug: slug }, body: PUT, token: admin.token };
      const unknown = { ...call.params, app_slug: scene.slug() };
      return {
        call,
        subject: `entitlement:${slug}`,
        refused: { call: { ...call, params: unknown }, code: 'app.unknown' },
      };
    }),
  },
];

export const entitlementReads = {
  'GET /api/v1/apps/catalog': async (scene) => {
    await scene.app();
    return { token: (await scene.person()).token };
  },
  'GET /api/v1/projects/{project_id}/apps/catalog': async (scene) => {
    await scene.app();
    return readProject(scene);
  },
  'GET /api/v1/projects/{project_id}/apps/entitlements': readProject,
  'GET /api/v1/projects/{project_id}/apps/entitlements/{app_slug}': async (scene) => {
    const { slug } = await scene.app();
    const { project, admin } = await scene.place();
    await entitle({ org_id: project.org_id, project_id: project.id }, slug);
    return { params: { project_id: project.id, app_slug: slug }, token: admin.token };
  },
  'GET /api/v1/orgs/{org_id}/apps/entitlements': readOrg,
  'GET /api/v1/orgs/{org_id}/apps/entitlements/{app_slug}': async (scene) => {
    const { slug } = await scene.app();
    const { org, admin } = await scene.place();
    await entitle({ org_id: org.id }, slug);
    return { params: { org_id: org.id, app_slug: slug }, token: admin.token };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
