import { openQueue } from '../../functions/nodes/node-queue.ts';
import { newId } from '../../functions/platform/ids.ts';
import { type Command, onPlatform, type Prepared } from '../api/recipe.ts';
import type { Scene } from '../api/scene.ts';
import { anyAddress, type Call, signAssertion } from '../api/world.ts';
import { enrolmentOf, newHost } from './enrolments.ts';
import { sampleInventory } from './inventories.ts';

const ADMIN_NODE = '/api/v1/admin/nodes/{node_id}';
const NODE = '/api/v1/nodes/{node_id}';

type Enrolled = Awaited<ReturnType<Scene['node']>>;

/** By a platform admin, about a node that has joined. */
const onNode = (
  body?: unknown,
  { stated = {}, refused }: { stated?: Parameters<Scene['node']>[0]; refused?: Prepared['refused'] } = {},
) =>
  onPlatform(async (scene, token) => {
    const node = await scene.node(stated);
    const call = { params: { node_id: node.id }, body, token };
    return { call, subject: `node:${node.id}`, ...(refused && { refused: { ...refused, call } }) };
  });

/** By the node itself, about itself. */
const byNode =
  (body: (node: Enrolled) => unknown) =>
  async (scene: Scene): Promise<Prepared> => {
    const node = await scene.node();
    return {
      call: { params: { node_id: node.id }, body: await body(node), token: await scene.nodeToken(node) },
      actor: `node:${node.id}`,
      about: () => ({ subject: `node:${node.id}` }),
    };
  };

/** With the version a node has before anything was changed: what was changed since is at a later one. */
const stale = (call: Call): Call => ({ ...call, headers: { 'if-match': '"1"' } });

export const nodesCommands: Command[] = [
  {
    route: 'POST /api/v1/auth/node/token',
    prepare: async (scene) => {
      const node = await scene.node();
      const assertion = await signAssertion({ ...node, key_id: node.id });
      const call = { body: { assertion }, sourceIp: anyAddress() };
      return {
        call,
        actor: `node:${node.id}`,
        about: () => ({ subject: `node:${node.id}` }),
        refused: { call, code: 'auth.assertion_refused' },
      };
    },
  },
  {
    route: 'POST /api/v1/admin/nodes',
    prepare: onPlatform(async (_, token) => ({
      call: { body: { name: 'A host', labels: { rack: 'r1' } }, token },
      subject: (reply) => `node:${reply['id']}`,
    })),
  },
  {
    route: `POST ${ADMIN_NODE}/join-token`,
    prepare: onPlatform(async (scene, token) => {
      const node = await scene.node({ isPending: true });
      const call = { params: { node_id: node.id }, body: {}, token };
      return {
        call,
        subject: `node:${node.id}`,
        refused: { call: stale(call), code: 'precondition.failed' },
      };
    }),
  },
  { route: `POST ${ADMIN_NODE}/cordon`, prepare: onNode({ reason: 'A fan is loud' }) },
  { route: `POST ${ADMIN_NODE}/uncordon`, prepare: onNode(undefined, { stated: { placement: 'cordoned' } }) },
  { route: `POST ${ADMIN_NODE}/drain`, prepare: onNode({ mode: 'wait', reason: 'To be moved' }) },
  {
    route: `DELETE ${ADMIN_NODE}`,
    prepare: onPlatform(async (scene, token) => {
      const node = await scene.node();
      const call = { params: { node_id: node.id }, token };
      return { call, subject: `node:${node.id}`, refused: { call, code: 'node.unknown' } };
    }),
  },
  {
    route: `POST ${NODE}/enrolment`,
    prepare: async (scene) => {
      const node = await scene.node({ isPending: true });
      const body = await enrolmentOf(node.id, node.join_token, newHost());
      const call = { params: { node_id: node.id }, body, sourceIp: anyAddress() };
      const other = await enrolmentOf(node.id, 'x'.repeat(43), newHost());
      return {
        call,
        actor: `node:${node.id}`,
        about: () => ({ subject: `node:${node.id}` }),
        refused: { call: { ...call, body: other }, code: 'join_token.invalid' },
      };
    },
  },
  {
    route: `PUT ${NODE}/inventory`,
    prepare: byNode(() => ({ inventory: sampleInventory({ vcpu: 32 }) })),
  },
  {
    route: `POST ${NODE}/queue-credentials`,
    prepare: byNode(async ({ id }) => {
      await openQueue(id);
    }),
  },
];

export const nodesReads = {
  'GET /api/v1/admin/nodes': async (scene) => ({ token: (await scene.platformAdmin()).token }),
  'GET /api/v1/admin/nodes/{node_id}': async (scene) => ({
    params: { node_id: (await scene.node()).id },
    token: (await scene.platformAdmin()).token,
  }),
} satisfies Record<string, (scene: Scene) => Promise<Call>>;

export const heartbeatOf = (run_id: string = newId(), started = new Date(), sequence = 1) => ({
  run_id,
  run_started_at: started.toISOString(),
  sequence,
  agent_version: '0.1.0',
});

export const nodesReports = {
  'POST /api/v1/nodes/{node_id}/heartbeat': async (scene) => {
    const node = await scene.node();
    return {
      params: { node_id: node.id },
      body: heartbeatOf(),
      token: await scene.nodeToken(node),
    };
  },
} satisfies Record<string, (scene: Scene) => Promise<Call>>;
