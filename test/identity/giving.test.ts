import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PERMISSIONS, type Permission, ROLES } from '../../functions/platform/permissions.ts';
import type { Person, Scene } from '../api/scene.ts';
import { openScene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';

// Nobody gives what they do not hold, whichever way they try: by a role, by a list, by a key.

const ACCOUNTS = '/api/v1/projects/{project_id}/service-accounts';
const ACCOUNT = `${ACCOUNTS}/{service_account_id}`;

type Body = Record<string, unknown>;

let world: World;
let scene: Scene;
let keys = 0;
let place: Awaited<ReturnType<Scene['place']>>;
let projectAdmin: Person;
let platformAdmin: Person;
/** Service accounts that manage others: one narrow, one with all a developer has. */
let narrow: { id: string; token: string };
let broad: { id: string; token: string };

const MANAGE = [
  'project.read',
  'project.member.write',
  'service_account.read',
  'service_account.write',
] as const;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  place = await scene.place();
  platformAdmin = await scene.platformAdmin();
  projectAdmin = await scene.member({ org_id: place.org.id, project_id: place.project.id }, 'project_admin');
  narrow = await machine([...MANAGE]);
  broad = await machine([...MANAGE, ...ROLES.app_developer]);
});
afterAll(() => world.close());

async function machine(permissions: Permission[]): Promise<{ id: string; token: string }> {
  const account = await scene.account(place.project, 'active', { role: 'custom', permissions });
  return { id: account.id, token: await world.accountToken(account) };
}

async function ask(route: string, token: string, body?: unknown, more: Record<string, string> = {}) {
  const answer = await world.call(route, {
    params: { project_id: place.project.id, ...more },
    token,
    ...(body !== undefined && { body }),
    headers: { 'x-idempotency-key': `giving-${(keys += 1)}` },
  });
  return { status: answer.status, body: answer.body as Body };
}

const create = (token: string, body: Body) =>
  ask(`POST ${ACCOUNTS}`, token, { name: 'New', slug: scene.slug(), ...body });

const pointersOf = ({ errors }: Body) => (errors as { pointer: string }[]).map(({ pointer }) => pointer);

describe('a service account by a list of permissions', () => {
  test('is kept sorted and once each, shown everywhere, and may do just that', async () => {
    const permissions = ['project.read', 'apps.instance.read', 'project.read'];
    const created = await create(projectAdmin.token, { permissions });
    const custom = { role: 'custom', permissions: ['apps.instance.read', 'project.read'] };
    expect(created).toMatchObject({ status: 201, body: custom });
    const params = { service_account_id: created.body['id'] as string };
    expect((await ask(`GET ${ACCOUNT}`, projectAdmin.token, undefined, params)).body).toMatchObject(custom);
    await world.indexed();
    const listed = await ask(`GET ${ACCOUNTS}`, projectAdmin.token);
    expect(listed.body['items']).toContainEqual(
      expect.objectContaining({ ...custom, id: created.body['id'] }),
    );

    const token = await world.accountToken(created.body as never);
    const me = await ask('GET /api/v1/me', token);
    expect(me.body).toMatchObject({
      permissions: [],
      grants: [{ ...custom, project: { id: place.project.id } }],
    });
    expect((await ask('GET /api/v1/projects/{project_id}', token)).status).toBe(200);
    expect((await ask(`GET ${ACCOUNTS}`, token)).body).toMatchObject({ code: 'permission.denied' });
  });

  test('is changed to a role and back, and works so at once', async () => {
    const { id, token } = await machine(['project.read']);
    const change = (body: Body) =>
      ask(`PATCH ${ACCOUNT}`, projectAdmin.token, body, { service_account_id: id });
    expect((await ask(`GET ${ACCOUNTS}`, token)).status).toBe(403);
    const named = await change({ role: 'viewer' });
    expect(named).toMatchObject({ status: 200, body: { role: 'viewer' } });
    expect(named.body).not.toHaveProperty('permissions');
    expect((await ask(`GET ${ACCOUNTS}`, token)).status).toBe(200);
    const listed = await change({ permissions: ['event.read'] });
    expect(listed.body).toMatchObject({ role: 'custom', permissions: ['event.read'] });
    const renamed = await change({ name: 'Another name' });
    expect(renamed.body).toMatchObject({ role: 'custom', permissions: ['event.read'], name: 'Another name' });
    const kept = await world.get({ pk: `SERVICE_ACCOUNT#${id}`, sk: 'SERVICE_ACCOUNT' });
    expect(kept).toMatchObject({ role: 'custom', permissions: ['event.read'] });
  });

  test.each<[string, Body, string[]]>([
    ['a list and a role', { role: 'viewer', permissions: ['project.read'] }, ['/permissions']],
    ['an empty list', { permissions: [] }, ['/permissions']],
    [
      'keys that do not exist',
      { permissions: ['project.read', 'x', 'y'] },
      ['/permissions/1', '/permissions/2'],
    ],
    ['more than there are', { permissions: [...PERMISSIONS, 'org.read'] }, ['/permissions']],
    ['the word for a list', { role: 'custom' }, ['/role']],
    ['no list', { permissions: 'project.read' }, ['/permissions']],
  ])('is refused with %s', async (_, given, pointers) => {
    const { id } = await machine(['project.read']);
    const params = { service_account_id: id };
    for (const answer of [
      await create(platformAdmin.token, given),
      await ask(`PATCH ${ACCOUNT}`, platformAdmin.token, given, params),
    ]) {
      expect(answer.body).toMatchObject({ code: 'request.invalid' });
      expect(pointersOf(answer.body)).toEqual(pointers);
    }
  });

  test('that the platform’s admins give publishing reaches nothing beyond the project', async () => {
    const { body } = await create(platformAdmin.token, {
      permissions: ['apps.catalog.publish', 'platform.org.create', 'platform.audit.read', 'org.read'],
    });
    const token = await world.accountToken(body as never);
    const org = { name: 'Mine', slug: scene.slug() };
    expect((await ask('POST /api/v1/orgs', token, org)).status).toBe(403);
    expect((await ask('GET /api/v1/admin/audit', token)).status).toBe(403);
    expect((await ask('GET /api/v1/orgs/{org_id}', token, undefined, { org_id: place.org.id })).status).toBe(
      403,
    );
    expect((await ask('GET /api/v1/me', token)).body).toMatchObject({ permissions: [] });
  });
});

describe('what one does not hold', () => {
  const NOT_HELD = 'permission.not_held';
  const lists = {
    ofProject: { permissions: ['project.read', 'apps.entitlement.write'] },
    ofOrg: { permissions: ['org.write', 'project.read', 'project.create'] },
    ofPlatform: { permissions: ['apps.catalog.publish'] },
    managing: { permissions: ['service_account.write'] },
  };

  test.each<[string, () => { token: string }, Body, string[] | undefined]>([
    ['a project’s admin gives what they hold', () => projectAdmin, lists.ofProject, undefined],
    ['a project’s admin gives managing', () => projectAdmin, lists.managing, undefined],
    ['a project’s admin gives every role', () => projectAdmin, { role: 'app_developer' }, undefined],
    ['a project’s admin gives the role by default', () => projectAdmin, {}, undefined],
    [
      'a project’s admin gives an organisation’s',
      () => projectAdmin,
      lists.ofOrg,
      ['/permissions/0', '/permissions/2'],
    ],
    ['an organisation’s admin gives its own', () => place.admin, lists.ofOrg, undefined],
    ['an organisation’s admin gives the platform’s', () => place.admin, lists.ofPlatform, ['/permissions/0']],
    [
      'the platform’s admin gives everything',
      () => platformAdmin,
      { permissions: ROLES.platform_admin },
      undefined,
    ],
    [
      'nobody gives what is a node’s',
      () => platformAdmin,
      { permissions: ['node.report'] },
      ['/permissions/0'],
    ],
    ['a narrow account gives what it holds', () => narrow, { permissions: ['project.read'] }, undefined],
    [
      'a narrow account gives a role that holds more',
      () => narrow,
      { role: 'viewer' },
      ROLES.viewer.filter((each) => !(MANAGE as readonly string[]).includes(each)).map(() => '/role'),
    ],
    ['an account passes on managing', () => narrow, lists.managing, ['/permissions/0']],
    ['a broad account gives a role it covers', () => broad, { role: 'app_developer' }, undefined],
  ])('is given by nobody: %s', async (_, giver, given, pointers) => {
    const { id } = await machine(['project.read']);
    const params = { service_account_id: id };
    const answers = [await create(giver().token, given)];
    if (Object.keys(given).length > 0)
      answers.push(await ask(`PATCH ${ACCOUNT}`, giver().token, given, params));
    for (const { status, body } of answers) {
      if (pointers === undefined) expect(status, JSON.stringify(body)).toBeLessThan(300);
      else {
        expect(body).toMatchObject({ status: 403, code: NOT_HELD });
        expect(pointersOf(body)).toEqual(pointers);
      }
    }
  });

  test('the default role is given only by whoever holds it', async () => {
    expect((await create(narrow.token, {})).body).toMatchObject({ code: NOT_HELD });
  });

  test.each<[string, string, number, () => { token: string }]>([
    ['a project’s admin', 'project_admin', 200, () => projectAdmin],
    ['a broad account', 'app_developer', 200, () => broad],
    ['a broad account', 'project_admin', 403, () => broad],
    ['a narrow account', 'viewer', 403, () => narrow],
  ])('goes to no member: %s gives a person the role %s and gets %i', async (_who, role, status, giver) => {
    const { id } = await scene.member({ org_id: place.org.id }, 'viewer');
    const route = 'PUT /api/v1/projects/{project_id}/members/{user_id}';
    const answer = await ask(route, giver().token, { role }, { user_id: id });
    expect(answer.status).toBe(status);
    if (status === 403) expect(answer.body).toMatchObject({ code: NOT_HELD });
  });

  test('is not taken over by a new key or by enabling', async () => {
    const strong = (status?: 'disabled') =>
      scene.account(place.project, status, { role: 'custom', permissions: ['apps.catalog.publish'] });
    const attempt = async (verb: string, token: string, status?: 'disabled') => {
      const { id } = await strong(status);
      const body = verb === 'rotate-key' ? {} : undefined;
      return ask(`POST ${ACCOUNT}/${verb}`, token, body, { service_account_id: id });
    };
    for (const [verb, status] of [['rotate-key'], ['enable', 'disabled']] as const) {
      const refused = await attempt(verb, projectAdmin.token, status);
      expect(refused.body).toMatchObject({
        code: NOT_HELD,
        detail: expect.stringContaining('apps.catalog.publish') as string,
      });
      expect((await attempt(verb, platformAdmin.token, status)).status).toBe(200);
    }
    expect((await attempt('disable', projectAdmin.token)).status, 'taking away gives nothing').toBe(200);
  });

  test('was taken a moment ago is not given any more', async () => {
    const somebody = await scene.member(
      { org_id: place.org.id, project_id: place.project.id },
      'project_admin',
    );
    expect((await create(somebody.token, {})).status).toBe(201);
    await world.set({ pk: `USER#${somebody.id}`, sk: 'USER' }, 'grants', []);
    expect((await create(somebody.token, {})).body).toMatchObject({ code: NOT_HELD });
  });
});

describe('a service account that manages others', () => {
  test.each<[string, string, Body | undefined]>([
    ['widens itself', `PATCH ${ACCOUNT}`, { permissions: ['project.read', 'event.read'] }],
    ['names itself anew', `PATCH ${ACCOUNT}`, { name: 'Somebody else' }],
    ['gives itself a key', `POST ${ACCOUNT}/rotate-key`, {}],
    ['enables itself', `POST ${ACCOUNT}/enable`, undefined],
  ])('never %s', async (_, route, body) => {
    const { id, token } = await machine([...MANAGE]);
    const answer = await ask(route, token, body, { service_account_id: id });
    expect(answer.body).toMatchObject({ status: 403, code: 'service_account.own' });
  });

  test('gets no key of another that manages', async () => {
    const answer = await ask(
      `POST ${ACCOUNT}/rotate-key`,
      broad.token,
      {},
      { service_account_id: narrow.id },
    );
    expect(answer.body).toMatchObject({ code: 'permission.not_held' });
  });

  test('may give up by itself', async () => {
    const { id, token } = await machine([...MANAGE]);
    const answer = await ask(`DELETE ${ACCOUNT}`, token, undefined, { service_account_id: id });
    expect(answer.status).toBe(204);
  });
});
