import { GetQueueUrlCommand } from '@aws-sdk/client-sqs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Capacity, emptyCapacity, type Hold } from '../../functions/nodes/capacity.ts';
import { capacityKey, nodeKey, queueNameOf, workloadKey } from '../../functions/nodes/keys.ts';
import { openQueue } from '../../functions/nodes/node-queue.ts';
import { handler } from '../../functions/nodes/react-to-events.ts';
import { sqs } from '../../functions/platform/clients.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import { nodePrincipalKey } from '../../functions/platform/data/keys.ts';
import { newId } from '../../functions/platform/ids.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { type Answer, openWorld, type World } from '../api/world.ts';
import { react } from '../react.ts';
import { gpuInventory } from './inventories.ts';
import { heartbeatOf } from './recipes.ts';

const NODE = '/api/v1/admin/nodes/{node_id}';

let world: World;
let scene: Scene;
let admin: string;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  admin = (await scene.platformAdmin()).token;
});

afterAll(() => world.close());

const ask = (route: string, id: string, body?: unknown, headers: Record<string, string> = {}) =>
  world.call(route, { params: { node_id: id }, body, token: admin, headers });

const codeOf = ({ body }: Answer): unknown => (body as { code?: string }).code;

const list = (query: Record<string, string> = {}) =>
  world.call('GET /api/v1/admin/nodes', { query, token: admin });

const idsOf = ({ body }: Answer): string[] => (body as { items: { id: string }[] }).items.map(({ id }) => id);

const saidOf = async (id: string): Promise<PlatformEvent[]> =>
  (await world.items('OUTBOX#'))
    .map(({ event }) => event as PlatformEvent)
    .filter(({ data }) => data['node_id'] === id);

const typesOf = async (id: string) =>
  (await saidOf(id)).map(({ type }) => type.replace('platform.node.', ''));

const aHold = (): Hold => ({
  allocation_id: newId(),
  project_id: newId(),
  kind: 'gpu_slice',
  gpu_uuids: ['GPU-00000001'],
  vcpu: 4,
  memory_mib: 1_000,
  disk_gib: 10,
});

const holding = (id: string, more: Partial<Capacity>) =>
  world.put({ ...capacityKey(id), ...emptyCapacity(id), version: 1, ...more });

describe('creating a node', () => {
  test.each<[string, object]>([
    ['a range of ports that ends before it begins', { port_range: { from: 30_000, to: 20_000 } }],
    ['ports that need root', { port_range: { from: 80, to: 20_000 } }],
    ['a label with a blank', { labels: { 'a b': 'c' } }],
    ['a token for a week', { join_ttl_seconds: 7 * 24 * 3600 }],
    ['a name of two lines', { name: 'a\nb' }],
  ])('refuses %s', async (_, more) => {
    const answer = await world.call('POST /api/v1/admin/nodes', {
      body: { name: 'A host', ...more },
      token: admin,
      headers: { 'x-idempotency-key': newId() },
    });
    expect(codeOf(answer)).toBe('request.invalid');
  });
});

describe('a node', () => {
  test('is shown with its inventory, what is held of it and when it was heard of', async () => {
    const node = await scene.node({ inventory: gpuInventory() });
    await holding(node.id, { holds: [aHold()] });
    const token = await scene.nodeToken(node);
    await world.call('POST /api/v1/nodes/{node_id}/heartbeat', {
      params: { node_id: node.id },
      body: { ...heartbeatOf(), problems: ['The clock is wrong'] },
      token,
    });
    const { body } = await ask(`GET ${NODE}`, node.id);
    expect(body).toMatchObject({
      status: 'ready',
      accelerator: 'nvidia',
      capacity: { allocations: 1, gpus: { held: 1, total: 2 }, vcpu: { held: 4, total: 16 } },
      last_heartbeat: { agent_version: '0.1.0', problems: ['The clock is wrong'] },
    });
    expect(body).not.toHaveProperty('queue_url');
  });

  test('that never was is unknown', async () => {
    expect(codeOf(await ask(`GET ${NODE}`, newId()))).toBe('node.unknown');
  });

  test('is listed by status and by placement', async () => {
    const [open, cordoned, draining, drained] = await Promise.all([
      scene.node(),
      scene.node({ placement: 'cordoned', status: 'lost' }),
      scene.node({ placement: 'draining' }),
      scene.node({ placement: 'draining' }),
    ]);
    await holding(draining.id, { holds: [aHold()] });
    await world.indexed();
    const found = async (query: Record<string, string>, among: { id: string }[]) => {
      const ids = new Set(idsOf(await list({ ...query, limit: '100' })));
      return among.filter(({ id }) => ids.has(id));
    };
    const all = [open, cordoned, draining, drained];
    expect(await found({}, all)).toEqual(all);
    expect(await found({ status: 'lost' }, all)).toEqual([cordoned]);
    expect(await found({ placement: 'open' }, all)).toEqual([open]);
    expect(await found({ placement: 'draining' }, all)).toEqual([draining]);
    expect(await found({ placement: 'drained' }, all)).toEqual([drained]);
    expect(await found({ placement: 'cordoned', status: 'ready' }, all)).toEqual([]);
  });

  test('is listed page by page', async () => {
    const nodes = [await scene.node(), await scene.node(), await scene.node()];
    await world.indexed();
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page = await list({ limit: '2', ...(cursor !== null && { cursor }) });
      seen.push(...idsOf(page));
      cursor = (page.body as { next_cursor: string | null }).next_cursor;
    } while (cursor !== null);
    expect(nodes.map(({ id }) => seen.filter((each) => each === id).length)).toEqual([1, 1, 1]);
  });
});

describe('placement', () => {
  test('is ended by a cordon and begun again by uncordoning; asked for twice it changes nothing', async () => {
    const { id } = await scene.node();
    for (let twice = 0; twice < 2; twice += 1) {
      const { body } = await ask(`POST ${NODE}/cordon`, id, { reason: 'A fan is loud' });
      expect(body).toMatchObject({ placement: 'cordoned', placement_reason: 'A fan is loud', version: 3 });
    }
    for (let twice = 0; twice < 2; twice += 1) {
      const { body } = await ask(`POST ${NODE}/uncordon`, id);
      expect(body).toMatchObject({ placement: 'open', placement_faults: [], version: 4 });
      expect(body).not.toHaveProperty('placement_reason');
    }
    expect(await typesOf(id)).toEqual(['cordoned', 'uncordoned']);
  });

  test('that drains an empty node is done at once', async () => {
    const { id } = await scene.node();
    expect((await ask(`POST ${NODE}/drain`, id, { mode: 'wait' })).body).toMatchObject({
      placement: 'drained',
    });
    expect(await typesOf(id)).toEqual(['drain_requested', 'drained']);
  });

  test('that drains waits for what is held, and may be made to tear it down', async () => {
    const { id } = await scene.node();
    await holding(id, { holds: [aHold()] });
    const waiting = await ask(`POST ${NODE}/drain`, id, { mode: 'wait' });
    expect(waiting.body).toMatchObject({ placement: 'draining' });
    await ask(`POST ${NODE}/drain`, id, { mode: 'teardown' });
    await ask(`POST ${NODE}/drain`, id, { mode: 'teardown' });
    expect((await saidOf(id)).map(({ data }) => data['mode'])).toEqual(['wait', 'teardown']);
  });

  test('is not changed for who has seen another version', async () => {
    const { id } = await scene.node();
    const answer = await ask(`POST ${NODE}/cordon`, id, {}, { 'if-match': '"1"' });
    expect(codeOf(answer)).toBe('precondition.failed');
  });
});

describe('removing a node', () => {
  test.each<[string, (id: string) => Promise<void>]>([
    ['something is held of it', (id) => holding(id, { holds: [aHold()] })],
    [
      'a project keeps a volume there',
      (id) => holding(id, { volumes: [{ volume_id: newId(), project_id: newId(), disk_gib: 1 }] }),
    ],
    ['something runs there', (id) => world.put({ ...workloadKey(id, newId()) })],
  ])('is refused while %s', async (_, use) => {
    const node = await scene.node();
    await use(node.id);
    expect(codeOf(await ask(`DELETE ${NODE}`, node.id))).toBe('node.in_use');
    expect(await world.get(nodeKey(node.id))).toMatchObject({ status: 'ready' });
  });

  test('that is lost takes what projects kept there with it', async () => {
    const node = await scene.node({ status: 'lost' });
    await holding(node.id, { volumes: [{ volume_id: newId(), project_id: newId(), disk_gib: 1 }] });
    expect((await ask(`DELETE ${NODE}`, node.id)).status).toBe(200);
  });

  test('ends its tokens within the time authorization is remembered, its key and its queue', async () => {
    const node = await scene.node();
    await openQueue(node.id);
    const token = await world.nodeToken(node);
    const beat = () =>
      world.call('POST /api/v1/nodes/{node_id}/heartbeat', {
        params: { node_id: node.id },
        body: heartbeatOf(),
        token,
      });
    expect((await beat()).status).toBe(200);
    expect((await ask(`DELETE ${NODE}`, node.id)).status).toBe(200);
    world.forgetAuthorization();
    expect(codeOf(await beat())).toBe('auth.revoked');
    expect(await world.nodeToken(node)).toBeUndefined();
    expect(await world.get(nodePrincipalKey(node.id))).toMatchObject({ status: 'revoked' });

    const removed = (await saidOf(node.id)).filter(({ type }) => type === 'platform.node.removed');
    expect(removed).toHaveLength(1);
    await react(handler, ...removed, ...removed);
    const url = sqs().send(new GetQueueUrlCommand({ QueueName: queueNameOf(node.id) }));
    await expect(url).rejects.toThrow(/not exist/i);
  });

  test('keeps it to be read, and lists it no more', async () => {
    const node = await scene.node();
    await ask(`DELETE ${NODE}`, node.id);
    await world.indexed();
    expect((await ask(`GET ${NODE}`, node.id)).body).toMatchObject({ status: 'removed' });
    expect(idsOf(await list({ limit: '100' }))).not.toContain(node.id);
    for (const [route, body] of [
      [`POST ${NODE}/cordon`, {}],
      [`POST ${NODE}/uncordon`, undefined],
      [`POST ${NODE}/drain`, { mode: 'wait' }],
      [`DELETE ${NODE}`, undefined],
    ] as const)
      expect(codeOf(await ask(route, node.id, body)), route).toBe('node.unknown');
  });

  test('at the moment somebody takes something of it is decided again', async () => {
    const node = await scene.node();
    await holding(node.id, { holds: [] });
    const [removed] = await Promise.all([
      ask(`DELETE ${NODE}`, node.id),
      holding(node.id, { version: 2, holds: [aHold()] }),
    ]);
    const { status } = (await world.get(nodeKey(node.id))) as { status: string };
    expect(status).toBe(removed.status === 200 ? 'removed' : 'ready');
  });
});
