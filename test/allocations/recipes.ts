import { allocationKey } from '../../functions/allocations/keys.ts';
import type { Project } from '../../functions/identity/project.ts';
import { type Command, FIRST_VERSION, inProject, onPlatform, PROJECT, readProject } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { allocated, madeVolume, offered, skuOf } from './held.ts';
import { CPU } from './planned.ts';

const SKU = '/api/v1/admin/skus/{sku}';
const ALLOCATIONS = `${PROJECT}/allocations` as const;
const VOLUMES = `${PROJECT}/volumes` as const;
const WRITE_OFF = '/api/v1/admin/allocations/{allocation_id}/write-off';

const allocationOf = async (scene: Scene, project: Project) => allocated(project, await offered(scene));

export const allocationsCommands: Command[] = [
  {
    route: `PUT ${SKU}`,
    prepare: onPlatform(async (scene, token) => {
      const sku = scene.slug();
      const call = { params: { sku }, body: CPU, token };
      return {
        call,
        subject: `sku:${sku}`,
        refused: { call: { ...call, headers: { 'if-match': '"7"' } }, code: 'precondition.failed' },
      };
    }),
  },
  {
    route: `DELETE ${SKU}`,
    prepare: onPlatform(async (scene, token) => {
      const { sku } = await skuOf(scene);
      const call = { params: { sku }, token, headers: FIRST_VERSION };
      return { call, subject: `sku:${sku}`, refused: { call, code: 'sku.unknown' } };
    }),
  },
  {
    route: `POST ${ALLOCATIONS}`,
    prepare: inProject(async (scene, { project, admin }) => {
      const { sku } = await offered(scene);
      const call = { params: { project_id: project.id }, body: { sku: sku.sku }, token: admin.token };
      return {
        call,
        subject: ({ id }) => `allocation:${id}`,
        refused: { call, code: 'allocation.no_capacity' },
      };
    }),
  },
  {
    route: `POST ${ALLOCATIONS}/{allocation_id}/release`,
    prepare: inProject(async (scene, { project, admin }) => {
      const { id } = await allocationOf(scene, project);
      const call = { params: { project_id: project.id, allocation_id: id }, token: admin.token };
      const elsewhere = { ...call, params: { ...call.params, allocation_id: project.id } };
      return {
        call,
        subject: `allocation:${id}`,
        refused: { call: elsewhere, code: 'allocation.unknown' },
      };
    }),
  },
  {
    route: `POST ${WRITE_OFF}`,
    prepare: async (scene) => {
      const { id: user, token } = await scene.platformAdmin();
      const { project } = await scene.place();
      const { id } = await allocationOf(scene, project);
      await scene.set(allocationKey(id), 'host_status', 'lost');
      const call = { params: { allocation_id: id }, body: { reason: 'The rack burned.' }, token };
      return {
        call,
        actor: `user:${user}`,
        about: () => ({ subject: `allocation:${id}`, org_id: project.org_id, project_id: project.id }),
        refused: {
          call: { ...call, params: { allocation_id: project.id } },
          code: 'allocation.unknown',
        },
      };
    },
  },
  {
    route: `POST ${VOLUMES}`,
    prepare: inProject(async (scene, { project, admin }) => {
      const { id } = await allocationOf(scene, project);
      const call = {
        params: { project_id: project.id },
        body: { allocation_id: id, size_gib: 10 },
        token: admin.token,
      };
      return {
        call,
        subject: (reply) => `volume:${reply['id']}`,
        refused: {
          call: { ...call, body: { ...call.body, size_gib: 5_000 } },
          code: 'volume.no_space',
        },
      };
    }),
  },
  {
    route: `DELETE ${VOLUMES}/{volume_id}`,
    prepare: inProject(async (scene, { project, admin }) => {
      const { id } = await madeVolume(await allocationOf(scene, project));
      const call = { params: { project_id: project.id, volume_id: id }, token: admin.token };
      const elsewhere = { ...call, params: { ...call.params, volume_id: project.id } };
      return { call, subject: `volume:${id}`, refused: { call: elsewhere, code: 'volume.unknown' } };
    }),
  },
];

/** A call of every route that only reads, by somebody with roles. */
export const allocationsReads = {
  'GET /api/v1/skus': async (scene) => ({ token: (await scene.person()).token }),
  'GET /api/v1/admin/skus/{sku}': async (scene) => ({
    params: { sku: (await skuOf(scene)).sku },
    token: (await scene.platformAdmin()).token,
  }),
  'GET /api/v1/projects/{project_id}/allocations': readProject,
  'GET /api/v1/projects/{project_id}/allocations/{allocation_id}': async (scene) => {
    const { project, admin } = await scene.place();
    const { id } = await allocationOf(scene, project);
    return { params: { project_id: project.id, allocation_id: id }, token: admin.token };
  },
  'GET /api/v1/admin/allocations': async (scene) => ({ token: (await scene.platformAdmin()).token }),
  'GET /api/v1/projects/{project_id}/placement/explain': async (scene) => {
    const { sku } = await offered(scene);
    return { ...(await readProject(scene)), query: { sku: sku.sku } };
  },
  'GET /api/v1/admin/placement/explain': async (scene) => ({
    query: { sku: (await offered(scene)).sku.sku },
    token: (await scene.platformAdmin()).token,
  }),
  'GET /api/v1/projects/{project_id}/volumes': readProject,
  'GET /api/v1/projects/{project_id}/volumes/{volume_id}': async (scene) => {
    const { project, admin } = await scene.place();
    const { id } = await madeVolume(await allocationOf(scene, project));
    return { params: { project_id: project.id, volume_id: id }, token: admin.token };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
