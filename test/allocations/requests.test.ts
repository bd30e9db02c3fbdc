import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Allocation } from '../../functions/allocations/allocation.ts';
import { capacityKey, nodeKey } from '../../functions/nodes/keys.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Project } from '../../functions/identity/project.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { type Answer, openWorld, type World } from '../api/world.ts';
import { allocated, hostFor, madeVolume, offered, skuOf } from './held.ts';
import { GPU, gpus } from './planned.ts';

const ALLOCATIONS = '/api/v1/projects/{project_id}/allocations';
const EXPLAIN = 'GET /api/v1/projects/{project_id}/placement/explain';

let world: World;
let scene: Scene;
let project: Project;
let admin: Person;
let platformAdmin: Person;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  ({ project, admin } = await scene.place());
  platformAdmin = await scene.platformAdmin();
});

afterAll(() => world.close());

const request = (body: object, of: { project: Project; admin: Person } = { project, admin }) =>
  world.call(`POST ${ALLOCATIONS}`, {
    params: { project_id: of.project.id },
    body,
    token: of.admin.token,
    headers: { 'x-idempotency-key': newId() },
  });

/** As callers do: while so many ask that nothing is decided, the same request is made again. */
async function insist(sku: string, of: { project: Project; admin: Person }): Promise<Answer> {
  const call = {
    params: { project_id: of.project.id },
    body: { sku },
    token: of.admin.token,
    headers: { 'x-idempotency-key': newId() },
  };
  for (;;) {
    const answer = await world.call(`POST ${ALLOCATIONS}`, call);
    if (codeOf(answer) !== 'idempotency.in_flight') return answer;
  }
}

const holdsOf = async (nodeId: string) =>
  ((await world.get(capacityKey(nodeId)))?.['holds'] ?? []) as {
    allocation_id: string;
    gpu_uuids: string[];
  }[];

const codeOf = ({ body }: Answer) => (body as { code?: string }).code;

describe('a request', () => {
  test('is placed and active at once, at the price of the moment', async () => {
    const { sku, node } = await offered(scene, 2);
    const { status, body, headers } = await request({ sku: sku.sku, name: 'Training' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      project_id: project.id,
      org_id: project.org_id,
      name: 'Training',
      sku: sku.sku,
      node_id: node.id,
      status: 'active',
      host_status: 'ready',
      gpu_uuids: [gpus(1)[0]?.uuid],
      vcpu: sku.vcpu,
      tenant_boundary_mode: 'shared_host',
      price_micros_per_hour: sku.price_micros_per_hour,
      currency: 'USD',
      created_by: `user:${admin.id}`,
      leftovers: [],
    });
    const { id } = body as Allocation;
    expect(headers['location']).toBe(`/api/v1/projects/${project.id}/allocations/${id}`);
    expect(await holdsOf(node.id)).toMatchObject([{ allocation_id: id }]);
    const said = (await world.items(`OUTBOX#${project.id}`)).map(({ event }) => event) as {
      type: string;
      data: { allocation_id: string };
    }[];
    expect(said.filter(({ data }) => data.allocation_id === id).map(({ type }) => type)).toEqual([
      'allocation.requested',
      'allocation.active',
    ]);
  });

  test('for a whole node takes all of it, and tells that the host is nobody else’s', async () => {
    const sku = await skuOf(scene, { capacity_shape: 'baremetal', gpu_count: 8 });
    const node = await hostFor(scene, sku, 8);
    const { body } = await request({ sku: sku.sku });
    expect(body).toMatchObject({ node_id: node.id, tenant_boundary_mode: 'dedicated_host', vcpu: 64 });
    expect((body as Allocation).gpu_uuids).toHaveLength(8);
    const slice = await skuOf(scene, { gpu_model: sku.gpu_model });
    expect(await request({ sku: slice.sku })).toMatchObject({
      status: 409,
      body: { code: 'allocation.no_capacity', retryable: true },
    });
  });

  test('that finds no room says why, by numbers, and names no host', async () => {
    const sku = await skuOf(scene);
    const node = await hostFor(scene, sku, 1, { name: 'rack-7' });
    await hostFor(scene, sku, 1, { placement: 'cordoned' });
    await request({ sku: sku.sku });
    const { status, text } = await request({ sku: sku.sku });
    expect(status).toBe(409);
    expect(text).toMatch(/gpu\.exhausted \(\d+\)/);
    expect(text).toMatch(/node\.cordoned \(\d+\)/);
    expect(text).not.toContain(node.id);
    expect(text).not.toContain(node.name);
  });

  test.each([
    ['an unknown SKU', { sku: 'not-there' }, 404, 'sku.unknown'],
    ['an unknown volume', { sku: 'here', volume_id: newId() }, 404, 'volume.unknown'],
  ])('for %s is refused', async (_, body, status, code) => {
    const { sku } = await offered(scene);
    const answer = await request({ ...body, sku: body.sku === 'here' ? sku.sku : body.sku });
    expect([answer.status, codeOf(answer)]).toEqual([status, code]);
  });

  test('by a SKU that is offered no more is refused', async () => {
    const { sku } = await offered(scene, 1, { status: 'retired' });
    expect(codeOf(await request({ sku: sku.sku }))).toBe('sku.retired');
  });

  test('in an archived project is refused, also in the moment it is archived', async () => {
    const place = await scene.place();
    const { sku, node } = await offered(scene);
    let isArchived = false;
    dynamo().middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'TransactWriteItemsCommand' && !isArchived) {
            isArchived = true;
            await scene.archive(place.project);
          }
          return next(args);
        },
      { step: 'initialize', name: 'archiveInBetween' },
    );
    const raced = await request({ sku: sku.sku }, place);
    dynamo().middlewareStack.remove('archiveInBetween');
    expect([isArchived, codeOf(raced)]).toEqual([true, 'project.archived']);
    world.forgetAuthorization();
    expect(codeOf(await request({ sku: sku.sku }, place))).toBe('project.archived');
    expect(await holdsOf(node.id)).toEqual([]);
  });

  test('goes to the host of the project’s volume when it asks for it, and to no other', async () => {
    const { sku, node } = await offered(scene, 2);
    const volume = await madeVolume(await allocated(project, { sku, node }));
    const other = await hostFor(scene, sku, 1);
    const { body } = await request({ sku: sku.sku, volume_id: volume.id });
    expect(body).toMatchObject({ node_id: node.id });
    expect(codeOf(await request({ sku: sku.sku, volume_id: volume.id }))).toBe('allocation.no_capacity');
    expect(await request({ sku: sku.sku })).toMatchObject({ body: { node_id: other.id } });
    const stranger = await scene.place();
    expect(codeOf(await request({ sku: sku.sku, volume_id: volume.id }, stranger))).toBe('volume.unknown');
  });

  test('finds the one host with room, however many there are', async () => {
    const { sku, node } = await offered(scene);
    for (let count = 0; count < 60; count += 1) await scene.host({ gpus: gpus(1, { model: 'Another' }) });
    expect(await request({ sku: sku.sku })).toMatchObject({ status: 201, body: { node_id: node.id } });
    const refused = await request({ sku: sku.sku });
    expect(refused.text).toMatch(/gpu\.exhausted \(1\)/);
    expect(Number(/gpu\.other_model \((\d+)\)/.exec(refused.text)?.[1])).toBeGreaterThanOrEqual(60);
  });

  test('is decided by one query, one read and one transaction', async () => {
    const { sku } = await offered(scene);
    await request({ sku: 'not-there' });
    const before = world.requests();
    expect((await request({ sku: sku.sku })).status).toBe(201);
    expect(world.requests() - before).toBe(3);
  });
});

describe('under races', () => {
  test('exactly as many requests succeed as there is room for', async () => {
    const sku = await skuOf(scene);
    const nodes = await Promise.all([1, 2, 2].map((count) => hostFor(scene, sku, count)));
    const places = await Promise.all([scene.place(), scene.place(), scene.place()]);
    const answers = await Promise.all(
      Array.from({ length: 15 }, (_, index) => insist(sku.sku, places[index % 3] ?? { project, admin })),
    );
    const won = answers.filter(({ status }) => status === 201).map(({ body }) => body as Allocation);
    const lost = answers.filter(({ status }) => status !== 201);
    expect(won).toHaveLength(5);
    expect(new Set(lost.map(codeOf))).toEqual(new Set(['allocation.no_capacity']));
    const held = await Promise.all(nodes.map(({ id }) => holdsOf(id)));
    expect(held.map((holds) => holds.length)).toEqual([1, 2, 2]);
    const taken = won.map(({ node_id, gpu_uuids }) => `${node_id} ${gpu_uuids.join()}`);
    expect(new Set(taken).size).toBe(5);
    expect(
      held
        .flat()
        .map(({ allocation_id }) => allocation_id)
        .sort(),
    ).toEqual(won.map(({ id }) => id).sort());
  });

  test('a whole node and slices of it are never both given', async () => {
    const whole = await skuOf(scene, { capacity_shape: 'baremetal', gpu_count: 4 });
    const slice = await skuOf(scene, { gpu_model: whole.gpu_model });
    const node = await hostFor(scene, whole, 4);
    const answers = await Promise.all(
      [whole, slice, whole, slice, whole, slice].map(({ sku }) => insist(sku, { project, admin })),
    );
    const won = answers.flatMap(({ status, body }) => (status === 201 ? [body as Allocation] : []));
    const shapes = new Set(won.map(({ capacity_shape }) => capacity_shape));
    expect(shapes.size).toBe(1);
    expect(won).toHaveLength(shapes.has('baremetal') ? 1 : 3);
    expect(await holdsOf(node.id)).toHaveLength(won.length);
  });

  test('a cordon of the same moment wins', async () => {
    const { sku, node } = await offered(scene);
    let isCordoned = false;
    dynamo().middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'TransactWriteItemsCommand' && !isCordoned) {
            isCordoned = true;
            await world.set(nodeKey(node.id), 'placement', 'cordoned');
          }
          return next(args);
        },
      { step: 'initialize', name: 'cordonInBetween' },
    );
    const answer = await request({ sku: sku.sku });
    dynamo().middlewareStack.remove('cordonInBetween');
    expect([isCordoned, codeOf(answer)]).toEqual([true, 'allocation.no_capacity']);
    expect(await holdsOf(node.id)).toEqual([]);
  });

  test('a GPU that the host lost in the same moment is not given', async () => {
    const { sku, node } = await offered(scene);
    let isGone = false;
    dynamo().middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          if (commandName === 'TransactWriteItemsCommand' && !isGone) {
            isGone = true;
            await world.set(nodeKey(node.id), 'inventory', { ...node.inventory, gpus: [] });
            await world.set(nodeKey(node.id), 'version', node.version + 1);
          }
          return next(args);
        },
      { step: 'initialize', name: 'loseInBetween' },
    );
    const answer = await request({ sku: sku.sku });
    dynamo().middlewareStack.remove('loseInBetween');
    expect([isGone, codeOf(answer)]).toEqual([true, 'allocation.no_capacity']);
  });
});

describe('an allocation', () => {
  test('of another project does not exist', async () => {
    const { id } = await allocated(project, await offered(scene));
    const stranger = await scene.place();
    const call = {
      params: { project_id: stranger.project.id, allocation_id: id },
      token: stranger.admin.token,
    };
    for (const route of [`GET ${ALLOCATIONS}/{allocation_id}`, `POST ${ALLOCATIONS}/{allocation_id}/release`])
      expect(await world.call(route, call)).toMatchObject({
        status: 404,
        body: { code: 'allocation.unknown' },
      });
    expect(
      codeOf(
        await world.call('POST /api/v1/projects/{project_id}/volumes', {
          params: { project_id: stranger.project.id },
          body: { allocation_id: id, size_gib: 1 },
          token: stranger.admin.token,
          headers: { 'x-idempotency-key': newId() },
        }),
      ),
    ).toBe('allocation.unknown');
  });

  test('is listed in its project, and among all that are open', async () => {
    const place = await scene.place();
    const { sku, node } = await offered(scene, 3);
    const made = [];
    for (let count = 0; count < 3; count += 1) made.push((await allocated(place.project, { sku, node })).id);
    await world.indexed();
    const list = async (query: Record<string, string>) =>
      (
        await world.call(`GET ${ALLOCATIONS}`, {
          params: { project_id: place.project.id },
          token: place.admin.token,
          query,
        })
      ).body as { items: Allocation[]; next_cursor: string };
    const first = await list({ limit: '2' });
    const rest = await list({ limit: '2', cursor: first.next_cursor });
    expect([...first.items, ...rest.items].map(({ id }) => id)).toEqual(made);
    const open = async (query: Record<string, string>) =>
      (await world.call('GET /api/v1/admin/allocations', { token: platformAdmin.token, query })).body as {
        items: Allocation[];
        next_cursor: string;
      };
    const some = await open({ node_id: node.id, limit: '2' });
    const others = await open({ node_id: node.id, limit: '2', cursor: some.next_cursor });
    expect([...some.items, ...others.items].map(({ id }) => id)).toEqual(made);
    expect((await open({ node_id: node.id, status: 'releasing' })).items).toEqual([]);
  });
});

describe('an explanation', () => {
  const explain = async (sku: string) =>
    (await world.call(EXPLAIN, { params: { project_id: project.id }, token: admin.token, query: { sku } }))
      .body;
  const explainByHost = async (sku: string) =>
    (await world.call('GET /api/v1/admin/placement/explain', { token: platformAdmin.token, query: { sku } }))
      .body as {
      chosen_node_id: string;
      items: { node_id: string; name: string; fits: boolean; reasons: { code: string }[] }[];
    };

  test('tells who runs the hosts of each why not, and where it would go', async () => {
    const sku = await skuOf(scene, { gpu_count: 2 });
    const full = await hostFor(scene, sku, 2, { name: 'full' });
    await allocated(project, { sku, node: full });
    const closed = await hostFor(scene, sku, 2, { name: 'closed', placement: 'draining', status: 'suspect' });
    const small = await hostFor(scene, sku, 1, { name: 'small' }, { vcpu: 1 });
    const room = await hostFor(scene, sku, 2, { name: 'room' });
    const { chosen_node_id, items } = await explainByHost(sku.sku);
    const told = new Map(
      items.map(({ node_id, fits, reasons }) => [node_id, { fits, codes: reasons.map(({ code }) => code) }]),
    );
    expect(chosen_node_id).toBe(room.id);
    expect(told.get(full.id)).toEqual({ fits: false, codes: ['gpu.exhausted'] });
    expect(told.get(closed.id)).toEqual({ fits: false, codes: ['node.not_ready', 'node.draining'] });
    expect(told.get(small.id)).toEqual({ fits: false, codes: ['node.too_small', 'node.too_small'] });
    expect(told.get(room.id)).toEqual({ fits: true, codes: [] });
    expect(items.find(({ node_id }) => node_id === room.id)?.name).toBe('room');
  });

  test('tells a project numbers, and names no host', async () => {
    const sku = await skuOf(scene, { gpu_count: 2 });
    const full = await hostFor(scene, sku, 2);
    await allocated((await scene.place()).project, { sku, node: full });
    await hostFor(scene, sku, 1);
    expect(await explain(sku.sku)).toMatchObject({
      sku: sku.sku,
      fits: false,
      fitting_host_count: 0,
      reasons: expect.arrayContaining([
        { code: 'gpu.exhausted', host_count: 1 },
        expect.objectContaining({ code: 'node.too_small' }),
      ]),
    });
    await hostFor(scene, sku, 2);
    const told = await explain(sku.sku);
    expect(told).toMatchObject({ fits: true, fitting_host_count: 1 });
    expect(JSON.stringify(told)).not.toContain(full.id);
  });

  test('of an unknown SKU is refused', async () => {
    expect(await explain('not-there')).toMatchObject({ code: 'sku.unknown' });
  });
});

describe('a SKU', () => {
  const put = (sku: string, body: object, headers = {}) =>
    world.call('PUT /api/v1/admin/skus/{sku}', {
      params: { sku },
      body,
      token: platformAdmin.token,
      headers,
    });

  test('is changed without changing what was allocated by it', async () => {
    const { sku, node } = await offered(scene);
    const { id } = await allocated(project, { sku, node });
    const dearer = { ...GPU, gpu_count: 1, gpu_model: sku.gpu_model, price_micros_per_hour: '9000000' };
    expect(await put(sku.sku, dearer)).toMatchObject({ status: 200, body: { version: 2 } });
    const call = { params: { project_id: project.id, allocation_id: id }, token: admin.token };
    expect(await world.call(`GET ${ALLOCATIONS}/{allocation_id}`, call)).toMatchObject({
      body: { price_micros_per_hour: sku.price_micros_per_hour },
    });
  });

  test('that somebody else has changed is not overwritten', async () => {
    const { sku } = await skuOf(scene);
    const asFirst = { 'if-match': '"1"' };
    expect((await put(sku, { ...GPU }, asFirst)).status).toBe(200);
    expect(await put(sku, { ...GPU }, asFirst)).toMatchObject({ status: 412 });
  });

  test('is shown to whoever is signed in, without who changed it', async () => {
    const { sku } = await skuOf(scene);
    const { token } = await scene.person();
    const pages = [];
    for (let cursor: string | undefined, first = true; first || cursor; first = false) {
      const { body } = await world.call('GET /api/v1/skus', {
        token,
        query: { limit: '100', ...(cursor && { cursor }) },
      });
      const page = body as { items: { sku: string }[]; next_cursor: string | null };
      pages.push(...page.items);
      cursor = page.next_cursor ?? undefined;
    }
    const shown = pages.find((each) => each.sku === sku);
    expect(shown).toMatchObject({ accelerator: 'nvidia', price_micros_per_hour: '5000000' });
    expect(shown).not.toHaveProperty('changed_by');
  });
});
