import { afterAll, beforeAll, expect, test } from 'vitest';
import { dynamo } from '../../functions/platform/clients.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { ADMIN, openWorld, type World } from '../api/world.ts';

const ROUTE = 'GET /api/v1/orgs/{org_id}';

let world: World;
let scene: Scene;
/** How many of the next batches are left undone. */
let busyReads = 0;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  // DynamoDB answers so when it is asked for more than it can read at the moment.
  dynamo().middlewareStack.add(
    (next) => async (args) => {
      const { RequestItems } = args.input as { RequestItems?: Record<string, unknown> };
      const answer = await next(args);
      if (RequestItems === undefined || busyReads === 0) return answer;
      busyReads -= 1;
      return { ...answer, output: { ...answer.output, Responses: {}, UnprocessedKeys: RequestItems } };
    },
    { step: 'initialize', name: 'busy', priority: 'high' },
  );
});

afterAll(() => world.close());

const look = async (org_id: string, token: string) => world.call(ROUTE, { params: { org_id }, token });

async function whileBusy<T>(work: () => Promise<T>): Promise<T> {
  busyReads = Infinity;
  return work().finally(() => (busyReads = 0));
}

test('what was given to a caller works at once, though they were refused a moment ago', async () => {
  const { org } = await scene.place();
  const { id, token } = await scene.person();
  expect((await look(org.id, token)).status).toBe(404);
  const grants = [{ role: 'viewer', org_id: org.id }];
  await world.put({ pk: `USER#${id}`, sk: 'USER', id, grants, version: 1 });
  expect((await look(org.id, token)).status).toBe(200);
});

test('a role just given shows at once in a function that remembers its caller, and costs one more request', async () => {
  const [one, two] = [await scene.place(), await scene.place()];
  const { id, token } = await scene.member({ org_id: one.org.id }, 'viewer');
  const me = async () => {
    const before = world.requests();
    const { body } = await world.call('GET /api/v1/me', { token });
    const { grants } = body as { grants: { role: string; org: { slug: string } }[] };
    const shown = grants.map(({ role, org }) => [role, org.slug]);
    return { shown, requests: world.requests() - before };
  };
  const orgs = async () => {
    const before = world.requests();
    const { body } = await world.call('GET /api/v1/orgs', { token });
    const shown = (body as { items: { id: string }[] }).items.map((org) => org.id);
    return { shown, requests: world.requests() - before };
  };
  world.forgetAuthorization();
  const first = ['viewer', one.org.slug];
  const second = ['org_admin', two.org.slug];
  expect((await me()).shown).toEqual([first]);
  expect(await me(), 'remembered').toEqual({ shown: [first], requests: 1 });
  expect(await orgs()).toEqual({ shown: [one.org.id], requests: 1 });

  const grants = [
    { role: 'viewer', org_id: one.org.id },
    { role: 'org_admin', org_id: two.org.id },
  ];
  await world.set({ pk: `USER#${id}`, sk: 'USER' }, 'grants', grants);
  expect(await orgs()).toEqual({ shown: [one.org.id, two.org.id], requests: 2 });
  expect(await me(), 'known by now').toEqual({ shown: [first, second], requests: 1 });

  await world.set({ pk: `USER#${id}`, sk: 'USER' }, 'grants', grants.slice(1));
  expect(await me(), 'so does what was taken').toEqual({ shown: [second], requests: 1 });
  expect(await orgs()).toEqual({ shown: [two.org.id], requests: 1 });
});

test('whoever holds no role yet sees the first one at once', async () => {
  const { org } = await scene.place();
  const { id, token } = await scene.person();
  const me = async () => (await world.call('GET /api/v1/me', { token })).body;
  const orgs = async () => (await world.call('GET /api/v1/orgs', { token })).body;
  expect(await me()).toMatchObject({ grants: [] });
  expect(await orgs()).toMatchObject({ items: [] });
  const grants = [{ role: 'viewer', org_id: org.id }];
  await world.put({ pk: `USER#${id}`, sk: 'USER', id, grants, version: 1 });
  expect(await orgs()).toMatchObject({ items: [{ id: org.id }] });
  expect(await me()).toMatchObject({ grants: [{ role: 'viewer', org: { id: org.id, slug: org.slug } }] });
});

test('whoever joins an app’s publisher sees its internal versions at once, by as many requests as before', async () => {
  const { org, project } = await scene.place();
  const app = await scene.app(project, { internal: true });
  const { id, token } = await scene.person();
  const ask = async () => {
    const before = world.requests();
    const params = { app_slug: app.slug };
    const { status } = await world.call('GET /api/v1/apps/catalog/{app_slug}', { params, token });
    const { body } = await world.call('GET /api/v1/apps/catalog', { query: { limit: '100' }, token });
    const isListed = (body as { items: { slug: string }[] }).items.some(({ slug }) => slug === app.slug);
    return { status, isListed, requests: world.requests() - before };
  };
  await ask();
  expect(await ask()).toEqual({ status: 404, isListed: false, requests: 2 });
  const grants = [{ role: 'viewer', org_id: org.id, project_id: project.id }];
  await world.put({ pk: `USER#${id}`, sk: 'USER', id, grants, version: 1 });
  expect(await ask()).toEqual({ status: 200, isListed: true, requests: 2 });
});

test('an administrator of the platform is who is named as one, and nobody whose name is a part of it', async () => {
  const isAdmin = async (subject: string): Promise<boolean> => {
    const { body } = await world.call('GET /api/v1/me', { token: await world.issuer.token(subject) });
    return (body as { permissions: string[] }).permissions.length > 0;
  };
  expect(await isAdmin(ADMIN)).toBe(true);
  for (const subject of [ADMIN.slice(1), ADMIN.slice(0, -1), ADMIN.toUpperCase(), `${ADMIN},x`])
    expect(await isAdmin(subject), subject).toBe(false);
});

test('a caller is told their own limit and that of the organisation they ask about', async () => {
  const { org, admin } = await scene.place();
  const { headers } = await look(org.id, admin.token);
  expect(headers['ratelimit-policy']).toBe('"principal";q=200;w=4, "org";q=1000;w=5');
  expect(headers['ratelimit']).toContain('"principal";r=199;');
});

test('what DynamoDB is too busy to read is not taken for absent', async () => {
  const { org, admin } = await scene.place();
  world.forgetAuthorization();
  const askWhoIAm = () => world.call('GET /api/v1/me', { token: admin.token });
  const ask = () => Promise.all([look(org.id, admin.token), askWhoIAm()]);
  for (const answer of await whileBusy(ask))
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '1' },
      body: { code: 'unavailable', retryable: true },
    });
  for (const { status } of await ask()) expect(status).toBe(200);
});

test('what DynamoDB was too busy to read for a moment is read a moment later', async () => {
  const { org, admin } = await scene.place();
  world.forgetAuthorization();
  busyReads = 2;
  expect((await look(org.id, admin.token)).status).toBe(200);
  expect(busyReads).toBe(0);
});
