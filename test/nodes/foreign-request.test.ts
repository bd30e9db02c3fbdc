import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { nodesRoutes } from '../../functions/nodes/routes.ts';
import { scopeOf } from '../../functions/platform/route.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { createContext } from '../../functions/platform/context.ts';
import { newId } from '../../functions/platform/ids.ts';
import { limitCaller, LIMITS } from '../../functions/platform/rates/rates.ts';
import { tasksRoutes } from '../../functions/tasks/routes.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { type Answer, openWorld, type World } from '../api/world.ts';

// What is a node's is that node's alone: not another's, not an administrator's.

let world: World;
let scene: Scene;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
});

afterAll(() => world.close());

const OWN = Object.entries({ ...nodesRoutes, ...tasksRoutes })
  .filter(([route, [, permission]]) => scopeOf(route) === 'node' && (permission as string) !== 'public')
  .map(([route]) => route);

const ask = (route: string, id: string, token: string): Promise<Answer> =>
  world.call(route, { params: { node_id: id }, token, ...(route.startsWith('GET ') ? {} : { body: {} }) });

const recordsOf = async (id: string) => ({
  audits: (await world.items('AUDIT#')).filter(({ actor }) => actor === `node:${id}`),
  events: (await world.items('OUTBOX#')).filter(
    ({ event }) => (event as { actor: string }).actor === `node:${id}`,
  ),
});

describe.each(OWN)('%s', (route) => {
  test('of another node is unknown to a node, recorded and published', async () => {
    const [one, other] = [await scene.node(), await scene.node()];
    const token = await scene.nodeToken(one);
    expect(await ask(route, other.id, token)).toMatchObject({ status: 404, body: { code: 'node.unknown' } });
    const asked = `node:${other.id}`;
    expect(await recordsOf(one.id)).toMatchObject({
      audits: [{ action: 'node.foreign_request.refuse', subject: asked, after: { route } }],
      events: [
        {
          event: {
            type: 'platform.node.foreign_request_refused',
            data: { node_id: one.id, route, asked },
          },
        },
      ],
    });
  });

  test('is unknown to an administrator of the platform, of whom nothing is recorded', async () => {
    const { id } = await scene.node();
    const { token } = await scene.platformAdmin();
    const before = await world.items('AUDIT#');
    expect(await ask(route, id, token)).toMatchObject({ status: 404, body: { code: 'node.unknown' } });
    expect(await world.items('AUDIT#')).toHaveLength(before.length);
  });
});

describe('a node', () => {
  test('is told apart from one that never was by nothing at all', async () => {
    const [one, other] = [await scene.node(), await scene.node()];
    const token = await scene.nodeToken(one);
    const shown = async (id: string) => {
      const { status, text } = await world.call('POST /api/v1/nodes/{node_id}/heartbeat', {
        params: { node_id: id },
        token,
        body: {},
        headers: { 'x-request-id': 'same' },
      });
      return [status, text];
    };
    expect(await shown(other.id)).toEqual(await shown(newId()));
  });

  test('finds itself however it spells its id', async () => {
    const node = await scene.node();
    const answer = await ask(
      'POST /api/v1/nodes/{node_id}/heartbeat',
      node.id.toUpperCase(),
      await scene.nodeToken(node),
    );
    expect(answer).toMatchObject({ status: 400 });
  });

  test('may nothing that is not a node’s', async () => {
    const node = await scene.node();
    const token = await scene.nodeToken(node);
    const { org, project } = await scene.place();
    expect(await world.call('GET /api/v1/admin/nodes', { token })).toMatchObject({ status: 403 });
    expect(
      await world.call('GET /api/v1/projects/{project_id}', { params: { project_id: project.id }, token }),
    ).toMatchObject({ status: 404 });
    expect(
      await world.call('GET /api/v1/orgs/{org_id}', { params: { org_id: org.id }, token }),
    ).toMatchObject({ status: 404 });
    expect((await world.call('GET /api/v1/me', { token })).body).toMatchObject({
      kind: 'node',
      id: node.id,
      permissions: [],
      grants: [{ role: 'node' }],
    });
  });

  test('that keeps asking for another is told to wait before it has filled the audit log', async () => {
    const [one, other] = [await scene.node(), await scene.node()];
    const token = await scene.nodeToken(one);
    const actor = { kind: 'node', id: one.id } as const;
    // All that it may ask at once, a little later: the bucket is empty now.
    const context = { ...createContext(newId()), actor, now: () => secondsAfter(new Date(), 3) };
    for (let calls = 0; calls < LIMITS.principal.quota; calls += 1) limitCaller(context);
    const answer = await ask('POST /api/v1/nodes/{node_id}/heartbeat', other.id, token);
    expect(answer).toMatchObject({ status: 429, body: { code: 'rate.exceeded' } });
    expect(await recordsOf(one.id)).toEqual({ audits: [], events: [] });
  });
});
