import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { planSecret } from '../../functions/tasks/plan-secret.ts';
import { type Command, onPlatform, type Prepared } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import type { Call } from '../api/world.ts';
import { addImage, launchOf, launchOn } from './launched.ts';

const TASKS = '/api/v1/admin/nodes/{node_id}/tasks';
const NODE = '/api/v1/nodes/{node_id}';

type Told = Pick<Prepared, 'call' | 'refused'> & { subject: string; node: { id: string } };

/** By a node that was asked to launch something. */
const byHost =
  (make: (scene: Scene, launched: Awaited<ReturnType<typeof launchOn>>) => Promise<Told>) =>
  async (scene: Scene): Promise<Prepared> => {
    const { call, refused, subject, node } = await make(scene, await launchOn(scene));
    const token = await scene.nodeToken(node);
    const as = (said: Call): Call => ({ ...said, params: { node_id: node.id, ...said.params }, token });
    return {
      call: as(call),
      actor: `node:${node.id}`,
      about: () => ({ subject }),
      ...(refused && { refused: { ...refused, call: as(refused.call) } }),
    };
  };

const readBy =
  (who: 'host' | 'admin') =>
  async (scene: Scene): Promise<Call & { task_id: string }> => {
    const { node, task } = await launchOn(scene);
    const token = who === 'host' ? await scene.nodeToken(node) : (await scene.platformAdmin()).token;
    return { params: { node_id: node.id }, token, task_id: task.id };
  };

const said = (fence: number) => ({ fence, at: new Date().toISOString() });

export const tasksCommands: Command[] = [
  {
    route: `POST ${TASKS}`,
    prepare: onPlatform(async (scene, token) => {
      const [{ project }, node] = [await scene.place(), await scene.node()];
      const payload = launchOf(await addImage(scene, project), project);
      const call = { params: { node_id: node.id }, body: { kind: 'oci.launch', payload }, token };
      const unknown = { kind: 'oci.remove', payload: { workload_id: newId() } };
      return {
        call,
        subject: ({ id }) => `task:${id as string}`,
        refused: { call: { ...call, body: unknown }, code: 'workload.unknown' },
      };
    }),
  },
  {
    route: `POST ${NODE}/pull-credentials`,
    prepare: byHost(async (_, { node, artifact: { repository } }) => ({
      call: { body: { repositories: [repository] } },
      subject: `node:${node.id}`,
      node,
    })),
  },
  {
    route: `POST ${NODE}/secrets`,
    prepare: byHost(async (_, { node }) => {
      const secretId = newId();
      const ctx = { newId: <T extends string>() => secretId as T, now: () => new Date() };
      const value = Buffer.from(newId());
      const { handle, writes } = planSecret(ctx, { node_id: node.id, value, seconds: 600 });
      await commit(writes);
      const unknown = { handle: 'x'.repeat(43), fetch_id: newId() };
      return {
        call: { body: { handle, fetch_id: newId() } },
        subject: `secret:${secretId}`,
        node,
        refused: { call: { body: unknown }, code: 'secret.unknown' },
      };
    }),
  },
  {
    route: `POST ${NODE}/workloads/{workload_id}/status`,
    prepare: byHost(async (_, { node, task: { workload_id = '', fence } }) => {
      const params = { workload_id };
      const body = { ...said(fence), state: 'ready', containers: [] };
      return {
        call: { params, body },
        subject: `workload:${workload_id}`,
        node,
        refused: { call: { params, body: { ...body, fence: fence + 1 } }, code: 'workload.fenced' },
      };
    }),
  },
  {
    route: `POST ${NODE}/tasks/{task_id}/outcome`,
    prepare: byHost(async (_, { node, task }) => {
      const params = { task_id: task.id };
      const body = { ...said(task.fence), status: 'succeeded', result: {} };
      return {
        call: { params, body },
        subject: `task:${task.id}`,
        node,
        refused: { call: { params, body: { ...body, fence: task.fence + 1 } }, code: 'task.fenced' },
      };
    }),
  },
];

export const tasksReads = {
  'GET /api/v1/admin/nodes/{node_id}/tasks': async (scene) => {
    const { params, token } = await readBy('admin')(scene);
    return { params, token };
  },
  'GET /api/v1/admin/nodes/{node_id}/tasks/{task_id}': async (scene) => {
    const { params, token, task_id } = await readBy('admin')(scene);
    return { params: { ...params, task_id }, token };
  },
  'GET /api/v1/nodes/{node_id}/trust': async (scene) => {
    const { params, token } = await readBy('host')(scene);
    return { params, token };
  },
  'GET /api/v1/nodes/{node_id}/workloads': async (scene) => {
    const { params, token } = await readBy('host')(scene);
    return { params, token };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;

export const tasksReports = {
  'POST /api/v1/nodes/{node_id}/tasks/{task_id}/progress': async (scene) => {
    const { params, token, task_id } = await readBy('host')(scene);
    return { params: { ...params, task_id }, body: { ...said(1), status: 'running', step: 'pull' }, token };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
