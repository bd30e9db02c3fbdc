import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, inject, test } from 'vitest';
import { type Grant, judge, type Permission } from '../../functions/platform/permissions.ts';
import { type RouteKey, routes } from '../../functions/routes.ts';
import { scopeOf } from '../../functions/platform/route.ts';
import {
  type Answer,
  type Asked,
  call,
  createAccount,
  createPlace,
  done,
  join,
  type Person,
  type Place,
  rolesToBeKnown,
  tokenOf,
} from './people.ts';
import { type JoinedNode, joinNode } from './joined-node.ts';
import { findShownSecrets } from './planted-secrets.ts';
import { signedFetch } from './signed-fetch.ts';

// Three callers a route: nobody, somebody who may not, somebody who may. What each should hear follows from the table
// of roles; every other cell is tried inside one process, in test/api/matrix.test.ts.

const ready = inject('platform');
const ABSENT = '0199aaaa-0000-7000-8000-00000000000f';
const all = Object.keys(routes) as RouteKey[];

let place: Place;
let foreign: Place;
let node: JoinedNode;

beforeAll(async () => {
  [place, foreign] = [await createPlace('matrix'), await createPlace('matrix-foreign')];
  node = await joinNode('matrix');
  await join('viewer', { ...place, role: 'viewer' });
  await join('operator', { org_id: place.org_id, role: 'org_admin' });
  await rolesToBeKnown();
});

/** What each caller holds here. */
function grantsOf(person: Person): Grant[] {
  switch (person) {
    case 'admin':
      return [{ role: 'platform_admin' }];
    case 'operator':
      return [{ role: 'org_admin', org_id: place.org_id }];
    case 'viewer':
      return [{ role: 'viewer', ...place }];
    default:
      return [{ role: 'org_admin', org_id: ABSENT }];
  }
}

function verdict(person: Person, route: RouteKey): ReturnType<typeof judge> {
  const scope = scopeOf(route);
  const where = scope === 'project' ? place : scope === 'org' ? { org_id: place.org_id } : {};
  return judge(grantsOf(person), routes[route].permission as Permission, where);
}

/** What a route must be told beside its path. */
const QUERIES = { 'placement/explain': '?sku=cpu-small' };

function pathOf(route: RouteKey, ids: Partial<Record<string, string>>): string {
  const path = route
    .slice(route.indexOf(' ') + 1)
    .replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? ABSENT);
  const query = Object.entries(QUERIES).find(([end]) => path.endsWith(end))?.[1] ?? '';
  return path + query;
}

/** Asks for nothing a route could do: who gets through is told that the body is wrong, or that nothing is there. */
function knock(route: RouteKey, asked: Asked, ids: Partial<Record<string, string>> = { ...place }) {
  const [method = ''] = route.split(' ');
  const body = method === 'GET' ? {} : { body: { not_a_member_of_anything: true } };
  return call<{ code?: string }>(method, pathOf(route, ids), { ...body, ...asked });
}

function expectRefusal(answer: Answer<{ code?: string }>, status: number, code: string): void {
  expect(answer).toMatchObject({ status, body: { status, code } });
  expect(answer.headers['content-type']).toBe('application/problem+json');
  expect(answer.body).toHaveProperty('correlation_id', answer.headers['x-request-id']);
  if (status === 401) expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
}

function expectThrough(route: RouteKey, { status, body, text }: Answer<{ code?: string }>): void {
  expect(status, text).toBeLessThan(500);
  expect([401, 403], text).not.toContain(status);
  expect(body.code).not.toBe(`${scopeOf(route)}.unknown`);
  const names = [...route.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const isThere = names.every((name) => name in place);
  if (route.startsWith('GET') && isThere) expect(status, text).toBe(200);
}

/** A token as it was given out, but for its last letters. */
async function forgedToken(): Promise<string> {
  const token = await tokenOf('viewer');
  return `${token.slice(0, -8)}${token.slice(-8) === 'AAAAAAAA' ? 'BBBBBBBB' : 'AAAAAAAA'}`;
}

const requiring = (...wanted: string[]) => all.filter((route) => wanted.includes(routes[route].permission));

describe.each(requiring('public'))('%s', (route) => {
  test('answers anybody, whatever token they bring', async () => {
    expectThrough(route, await knock(route, {}));
    expectThrough(route, await knock(route, { token: await forgedToken() }));
    expectThrough(route, await knock(route, { as: 'outsider' }));
  });
});

describe.each(requiring('signed_in'))('%s', (route) => {
  test('answers whoever is signed in, and nobody else', async () => {
    expectRefusal(await knock(route, {}), 401, 'auth.missing');
    expectRefusal(await knock(route, { token: await forgedToken() }), 401, 'auth.invalid');
    expectThrough(route, await knock(route, { as: 'outsider' }));
  });
});

describe.each(requiring('iam'))('%s', (route) => {
  test('is closed by the gateway to all but AWS credentials', async () => {
    for (const asked of [{}, { as: 'admin' } as const]) {
      const answer = await knock(route, asked);
      expect(answer).toMatchObject({ status: 403, text: '{"message":"Forbidden"}' });
    }
    const method = route.startsWith('POST') ? 'POST' : 'GET';
    const signed = await signedFetch(ready, method, pathOf(route, place as never));
    expect(signed.status).toBe(method === 'POST' ? 202 : 404);
  });
});

const ofPermission = all.filter(
  (route) => !['public', 'signed_in', 'iam'].includes(routes[route].permission),
);

describe.each(ofPermission.filter((route) => scopeOf(route) === 'node'))('%s', (route) => {
  test('answers the node alone: to all others, who runs the platform among them, it is unknown', async () => {
    const ids = { node_id: node.id };
    expectRefusal(await knock(route, {}, ids), 401, 'auth.missing');
    expectRefusal(await knock(route, { as: 'admin' }, ids), 404, 'node.unknown');
    expectThrough(route, await knock(route, { token: node.token }, ids));
  });
});

describe.each(ofPermission.filter((route) => scopeOf(route) !== 'node'))('%s', (route) => {
  test('answers who may, tells who may not, and nothing to who has no token', async () => {
    const lacking = verdict('viewer', route) === 'allowed' ? 'outsider' : 'viewer';
    const holding = verdict('operator', route) === 'allowed' ? 'operator' : 'admin';
    const isHidden = verdict(lacking, route) === 'invisible' && scopeOf(route) !== 'platform';
    expect(verdict(holding, route)).toBe('allowed');

    expectRefusal(await knock(route, {}), 401, 'auth.missing');
    const refused = await knock(route, { as: lacking });
    if (isHidden) expectRefusal(refused, 404, `${scopeOf(route)}.unknown`);
    else expectRefusal(refused, 403, 'permission.denied');
    expectThrough(route, await knock(route, { as: holding }));
  });
});

/** All there is to see of an answer, but for the clock and what the caller has left. */
function visible({ status, text, rawHeaders }: Answer): unknown {
  const headers = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 && !/^(date|ratelimit)/i.test(name) ? [`${name}: ${rawHeaders[index + 1]}`] : [],
  );
  return { status, text, headers };
}

describe('a foreign place', () => {
  const inPlaces = all.filter(
    (route) => scopeOf(route) !== 'platform' && routes[route].permission !== 'public',
  );

  test.each(inPlaces)('answers byte for byte like an absent one to %s', async (route) => {
    const same = { as: 'outsider', key: randomUUID(), headers: { 'x-request-id': 'same' } } as const;
    const answer = await knock(route, same, { ...place, node_id: node.id });
    expectRefusal(answer, 404, `${scopeOf(route)}.unknown`);
    const absent = await knock(route, same, { org_id: ABSENT, project_id: ABSENT });
    expect(visible(answer as Answer)).toEqual(visible(absent as Answer));
  });
});

describe('a foreign thing, asked for in a place of one’s own', () => {
  const within = all.filter((route) => /\{(user|invitation|service_account)_id\}/.test(route));
  let theirs: Record<string, string>;

  beforeAll(async () => {
    const account = await createAccount(foreign.project_id, 'theirs');
    const invited = await done<{ id: string }>('POST', `/api/v1/orgs/${foreign.org_id}/invitations`, {
      as: 'admin',
      body: { email: 'somebody@example.com', role: 'viewer' },
    });
    const me = await done<{ id: string }>('GET', '/api/v1/me', { as: 'outsider' });
    theirs = { user_id: me.id, invitation_id: invited.id, service_account_id: account.id };
  });

  const BODIES: Record<string, object> = { PUT: { role: 'viewer' }, PATCH: { name: 'Mine now' } };

  test.each(within)('answers byte for byte like an absent one to %s', async (route) => {
    const [method = ''] = route.split(' ');
    const ask = (ids: object) =>
      call<{ code?: string }>(method, pathOf(route, { ...place, ...ids }), {
        as: 'operator',
        body: BODIES[method],
        key: randomUUID(),
        headers: { 'x-request-id': 'same' },
      });
    const answer = await ask(theirs);
    expect(answer.status).toBe(404);
    expect(answer.body.code).toMatch(/^(member|invitation|service_account)\.unknown$/);
    expect(visible(answer as Answer)).toEqual(visible((await ask({})) as Answer));
  });

  test('nor can somebody be invited to a foreign project, or learn that it is there', async () => {
    const invite = (project_id: string) =>
      call('POST', `/api/v1/orgs/${place.org_id}/invitations`, {
        as: 'operator',
        body: { email: 'who@example.com', role: 'viewer', project_id },
        headers: { 'x-request-id': 'same' },
      });
    const answer = await invite(foreign.project_id);
    expect(answer.status).toBe(404);
    expect(visible(answer)).toEqual(visible(await invite(ABSENT)));
  });

  test('is as it was', async () => {
    const path = `/api/v1/projects/${foreign.project_id}/service-accounts/${theirs['service_account_id']}`;
    expect(await done('GET', path, { as: 'admin' })).toMatchObject({ name: 'theirs', version: 1 });
    const { items } = await done<{ items: { id: string }[] }>(
      'GET',
      `/api/v1/orgs/${foreign.org_id}/invitations`,
      { as: 'admin' },
    );
    expect(items.map(({ id }) => id)).toEqual([theirs['invitation_id']]);
  });
});

test('nothing secret of all this can be read in a log, an event or an item', async () => {
  expect(await findShownSecrets()).toEqual([]);
});
