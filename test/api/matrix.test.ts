import { generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  judge,
  type Grant,
  type Permission,
  type Role,
  ROLES,
} from '../../functions/platform/permissions.ts';
import { routes, type RouteKey } from '../../functions/routes.ts';
import { scopeOf } from '../../functions/platform/route.ts';
import { DEEP } from '../deep.ts';
import { routesAsked } from '../domains.ts';
import { nodePrincipalKey } from '../../functions/platform/data/keys.ts';
import { openScene } from './scene.ts';
import { ADMIN, openWorld, type World } from './world.ts';

// Every route × every role × every place, and every state of a token: a bad one is refused before anybody asks whose
// it is, so those are tried for one role in one place, and in a deep run for all. The expectation is worked out here
// from the table of roles alone; the answer comes from the function as the gateway would call it.

const ids = {
  org: '0199aaaa-0000-7000-8000-000000000001',
  otherOrg: '0199aaaa-0000-7000-8000-000000000002',
  project: '0199aaaa-0000-7000-8000-00000000000a',
  sibling: '0199aaaa-0000-7000-8000-00000000000b',
  foreign: '0199aaaa-0000-7000-8000-00000000000c',
  node: '0199aaaa-0000-7000-8000-00000000000d',
  otherNode: '0199aaaa-0000-7000-8000-00000000000e',
  absent: '0199aaaa-0000-7000-8000-00000000000f',
};
const PLACES = {
  own: { org: ids.org, project: ids.project, node: ids.node },
  sibling: { org: ids.org, project: ids.sibling, node: ids.otherNode },
  foreign: { org: ids.otherOrg, project: ids.foreign, node: ids.otherNode },
};
type PlaceName = keyof typeof PLACES;

const STATES = [
  'none',
  'garbage',
  'expired',
  'wrong audience',
  'wrong key',
  'disabled account',
  'removed member',
  'valid',
] as const;
type State = (typeof STATES)[number];

const roles = Object.keys(ROLES) as Role[];

let world: World;
const tokens = new Map<string, string | undefined>();

/** One of each reach: what a viewer may, an admin of the project, of the organisation, of the platform. */
const LISTED: Permission[] = [
  'apps.instance.read',
  'service_account.write',
  'org.write',
  'apps.catalog.publish',
  'platform.org.create',
];

/** The grant each role is tried with: as a person holds it, or as a machine does. */
function grantOf(role: Role): Grant {
  if (role === 'platform_admin') return { role };
  if (role === 'org_admin') return { role, org_id: ids.org };
  if (role === 'node') return { role, node_id: ids.node };
  if (role === 'custom') return { role, permissions: LISTED, org_id: ids.org, project_id: ids.project };
  return { role, org_id: ids.org, project_id: ids.project };
}

beforeAll(async () => {
  world = await openWorld();
  const place = {
    name: 'x',
    slug: 'x',
    version: 1,
    status: 'active',
    created_at: '2026-01-01T00:00:00.000Z',
    admin_count: 1,
  };
  for (const id of [ids.org, ids.otherOrg])
    await world.put({ pk: `ORG#${id}`, sk: 'ORG', ...place, id, slug: `o-${id.slice(-1)}` });
  for (const { org, project } of Object.values(PLACES)) {
    await world.put({
      pk: `PROJECT#${project}`,
      sk: 'PROJECT',
      ...place,
      id: project,
      org_id: org,
      slug: `p-${project.slice(-1)}`,
    });
  }
  const { privateKey } = await generateKeyPair('ES256');
  for (const role of roles) {
    const subject = role === 'platform_admin' ? ADMIN : `${role}-person`;
    const grant = grantOf(role);
    if (role !== 'platform_admin')
      await world.put({
        pk: `USER#${world.userId(subject)}`,
        sk: 'USER',
        id: world.userId(subject),
        grants: [grant],
        version: 1,
      });
    const machine = role === 'node' ? await makeNodes() : await makeAccount(role);
    const set = (state: State, token: string | undefined): void => void tokens.set(`${role}/${state}`, token);
    set('none', undefined);
    set('garbage', 'not.a.token');
    set('expired', await world.issuer.token(subject, { claims: { iat: 1_000, exp: 2_000 } }));
    set('wrong audience', await world.issuer.token(subject, { claims: { aud: 'urn:somebody:else' } }));
    set('wrong key', await world.issuer.token(subject, { key: privateKey }));
    set('disabled account', machine.disabledToken);
    set('removed member', await world.issuer.token(`${role}-who-was-removed`));
    set(
      'valid',
      ['node', 'app', 'custom'].includes(role) ? machine.token : await world.issuer.token(subject),
    );
  }
});

afterAll(() => world.close());

/** A service account with this role, and another that was disabled after its token was issued. */
async function makeAccount(role: Role): Promise<{ token: string; disabledToken: string }> {
  const create = async (name: string): Promise<{ id: string; token: string }> => {
    const answer = await world.call('POST /api/v1/projects/{project_id}/service-accounts', {
      params: { project_id: ids.project },
      body: { name, slug: name },
      token: await world.issuer.token(ADMIN),
      headers: { 'x-idempotency-key': name },
    });
    const account = answer.body as { id: string; key_id: string; private_key_pem: string };
    expect(answer.status).toBe(201);
    return { id: account.id, token: await world.accountToken(account) };
  };
  const alive = await create(`alive-${role.replaceAll('_', '-')}`);
  const disabled = await create(`disabled-${role.replaceAll('_', '-')}`);
  await world.set({ pk: `SERVICE_ACCOUNT#${alive.id}`, sk: 'SERVICE_ACCOUNT' }, 'role', role);
  if (role === 'custom')
    await world.set({ pk: `SERVICE_ACCOUNT#${alive.id}`, sk: 'SERVICE_ACCOUNT' }, 'permissions', LISTED);
  await world.set({ pk: `SERVICE_ACCOUNT#${disabled.id}`, sk: 'SERVICE_ACCOUNT' }, 'status', 'disabled');
  return { token: alive.token, disabledToken: disabled.token };
}

/** A node that has joined, another whose place is foreign to it, and one that was removed after it had its token. */
async function makeNodes(): Promise<{ token: string; disabledToken: string }> {
  const scene = openScene(world);
  const { node, otherNode } = ids;
  const own = await scene.node({ id: node });
  await scene.node({ id: otherNode });
  const removed = await scene.node();
  const disabledToken = await world.nodeToken(removed);
  await world.set(nodePrincipalKey(removed.id), 'status', 'revoked');
  return { token: await world.nodeToken(own), disabledToken };
}

interface PlaceIds {
  org: string;
  project: string;
  node: string;
}

function paramsOf(route: string, { org, project, node }: PlaceIds): Record<string, string> {
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const place: Record<string, string> = {
    org_id: org,
    project_id: project,
    ...(scopeOf(route) === 'node' && { node_id: node }),
  };
  return Object.fromEntries(names.map((name) => [name, place[name] ?? ids.absent]));
}

type Outcome = 'through' | 401 | 403 | 404;

function expected(route: RouteKey, role: Role, place: PlaceName, state: State): Outcome {
  const { permission } = routes[route];
  if (permission === 'public') return 'through';
  if (permission === 'iam') return 401;
  if (state !== 'valid' && state !== 'removed member') return 401;
  if (permission === 'signed_in') return 'through';
  const grants = state === 'valid' ? [grantOf(role)] : [];
  const { org, project, node } = PLACES[place];
  const scope = scopeOf(route);
  if (scope === 'platform') return judge(grants, permission, {}) === 'allowed' ? 'through' : 403;
  const where = {
    project: { org_id: org, project_id: project },
    org: { org_id: org },
    node: { node_id: node },
  }[scope];
  return { allowed: 'through' as const, forbidden: 403 as const, invisible: 404 as const }[
    judge(grants, permission, where)
  ];
}

const isTelling = ({ role, place, state }: { role: Role; place: PlaceName; state: State }): boolean =>
  state === 'valid' || (role === 'project_admin' && place === 'own');

describe.each(routesAsked)('%s', (route) => {
  const cells = roles.flatMap((role) =>
    (Object.keys(PLACES) as PlaceName[]).flatMap((place) => STATES.map((state) => ({ role, place, state }))),
  );
  const tried = DEEP ? cells : cells.filter(isTelling);

  test(`answers rightly in ${tried.length} of its ${cells.length} cells`, async () => {
    const ask = async ({ role, place, state }: (typeof cells)[number]): Promise<void> => {
      const token = tokens.get(`${role}/${state}`);
      const method = route.split(' ')[0];
      const answer = await world.call(route, {
        params: paramsOf(route, PLACES[place]),
        token,
        // Nothing a route could act on: what gets through is refused for its body, or finds nothing.
        ...(method === 'GET' ? {} : { body: { not_a_member_of_anything: true } }),
        sourceIp: `10.${Math.floor(Math.random() * 250)}.${Math.floor(Math.random() * 250)}.1`,
      });
      const { code } = answer.body as { code?: string };
      const outcome: Outcome =
        answer.status === 401 || answer.status === 403
          ? answer.status
          : code === `${scopeOf(route)}.unknown`
            ? 404
            : 'through';
      const cell = `${role}, ${place} project, token ${state}`;
      expect(`${cell}: ${outcome}`).toBe(`${cell}: ${expected(route, role, place, state)}`);
      expect(answer.status, cell).toBeLessThan(500);
    };
    await Promise.all(tried.map(ask));
  });

  if (scopeOf(route) === 'platform') return;
  test('tells an absent place from a foreign one by nothing at all', async () => {
    const ask = async (place: PlaceIds) => {
      world.forgetAuthorization();
      const before = world.requests();
      const { status, headers, text } = await world.call(route, {
        params: paramsOf(route, place),
        token: tokens.get('project_admin/valid'),
        headers: { 'x-request-id': 'same', 'x-idempotency-key': 'same' },
        ...(route.startsWith('GET') ? {} : { body: {} }),
      });
      const { ratelimit: _, RateLimit: __, ...stable } = headers;
      return { status, headers: stable, text, requests: world.requests() - before };
    };
    expect(await ask(PLACES.foreign)).toEqual(
      await ask({ org: ids.absent, project: ids.absent, node: ids.absent }),
    );
  });
});
