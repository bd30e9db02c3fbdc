import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { catalogEndpoints } from '../../functions/catalog/endpoints.ts';
import { docsEndpoints } from '../../functions/docs/endpoints.ts';
import { identityEndpoints } from '../../functions/identity/endpoints.ts';
import type { Endpoint } from '../../functions/platform/endpoint.ts';
import { newId } from '../../functions/platform/ids.ts';
import { placeId } from '../../functions/platform/keys.ts';
import { routes, type RouteKey, scopeOf } from '../../functions/routes.ts';
import { selftestEndpoints } from '../../functions/selftest/endpoints.ts';
import type { Body } from './recipe.ts';
import { commands } from './recipes.ts';
import { openScene, type Scene } from './scene.ts';
import { differenceOf, type Item, takeSnapshot } from './snapshot.ts';
import { type Answer, type Call, openWorld, type World } from './world.ts';

// Every route that changes something leaves one audit row and its events, or, when it refuses, nothing at all.

const endpoints = {
  ...identityEndpoints,
  ...selftestEndpoints,
  ...catalogEndpoints,
  ...docsEndpoints,
} as Record<string, Endpoint>;

/** They let somebody in who may read there already: nothing has happened that others would follow. */
const WITHOUT_EVENTS = new Set(['mintToken', 'createEventTicket']);

const SECRETS = ['private_key_pem', 'invitation_token', 'access_token', 'ticket', 'assertion'];

let world: World;
let scene: Scene;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
});

// The table is looked at whole, so it holds only what the test needs.
beforeEach(() => world.clear());

afterAll(() => world.close());

const isOf =
  (partitions: string) =>
  ({ pk }: Item): boolean =>
    String(pk).startsWith(`${partitions}#`);

const keyed = (call: Call): Call => ({ ...call, headers: { 'x-idempotency-key': newId(), ...call.headers } });

/** What the call changed. */
async function watch(route: RouteKey, call: Call) {
  const before = await takeSnapshot(world);
  const answer = await world.call(route, call);
  return { answer, ...differenceOf(before, await takeSnapshot(world)) };
}

/** What nobody may find in the table afterwards: what the caller showed, and what they were told once. */
function secretsOf({ body, token, headers }: Call, answer: Answer): string[] {
  const members = [body, answer.body].flatMap((part) => SECRETS.map((name) => (part as Body)?.[name]));
  return [...members, token, headers?.['x-idempotency-key']].filter((text) => typeof text === 'string');
}

describe('the routes', () => {
  test('that change something all have a recipe', () => {
    const cooked = new Set<string>(commands.map(([, { route }]) => route));
    const changing = Object.keys(routes).filter((route) => !route.startsWith('GET '));
    expect(changing.filter((route) => !cooked.has(route))).toEqual([]);
  });

  test('are commands, unless they are a GET', () => {
    const kinds = Object.entries(routes).map(([route, { handler }]) => [route, endpoints[handler]?.kind]);
    const wanted = kinds.map(([route]) => [route, route?.startsWith('GET ') ? 'query' : 'command']);
    expect(kinds).toEqual(wanted);
  });
});

test('the audit tells every handler by a name of its own', () => {
  const handlers = new Set(commands.map(([, { route }]) => routes[route].handler));
  const actions = [...handlers].map((handler) => endpoints[handler]?.spec.action);
  expect(new Set(actions).size).toBe(handlers.size);
  for (const action of actions) expect(action).toMatch(/^[a-z_]+(\.[a-z_]+)+$/);
});

describe.each(commands)('%s', (_, { route, prepare }) => {
  const { handler, permission } = routes[route];
  const spec = endpoints[handler]?.spec;

  test('leaves one audit row and its events, and no secret', async () => {
    const { actor, about, ...prepared } = await prepare(scene);
    const requestId = newId();
    const call = keyed({ ...prepared.call, headers: { 'x-request-id': requestId } });
    const { answer, added, removed, changed } = await watch(route, call);
    expect(answer.status, answer.text).toBe(spec?.status ?? 200);

    const { subject, ...place } = about(answer.body as Body);
    const audited = added.filter(isOf('AUDIT'));
    expect(audited).toHaveLength(1);
    expect(audited[0]).toMatchObject({
      pk: `AUDIT#${placeId(place)}`,
      actor,
      action: spec?.action,
      subject,
      correlation_id: requestId,
      source_ip: call.sourceIp ?? '127.0.0.1',
      ...place,
    });

    const published = added.filter(isOf('OUTBOX'));
    expect(published.length > 0).toBe(!WITHOUT_EVENTS.has(handler));
    for (const row of published) {
      expect(row).toMatchObject({
        pk: `OUTBOX#${placeId(place)}`,
        event: { actor, correlation_id: requestId, occurred_at: audited[0]?.['at'], ...place },
      });
    }

    // What was recorded before stays as it was.
    const touched = [...removed, ...changed.map(({ before }) => before)];
    expect(touched.filter((item) => isOf('AUDIT')(item) || isOf('OUTBOX')(item))).toEqual([]);

    const written = JSON.stringify([added, changed]);
    const secrets = secretsOf(call, answer);
    expect(secrets).not.toEqual([]);
    const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);
    expect(secrets.filter((secret) => written.includes(inJson(secret)))).toEqual([]);
  });

  test('leaves nothing when it refuses', async () => {
    const { call, refused } = await prepare(scene);
    for (const [code, asked] of await refusedByKernel(call)) await expectNothing(code, asked);
    if (!refused) return;
    expect((await world.call(route, keyed(call))).status).toBeLessThan(300);
    await expectNothing(refused.code, keyed(refused.call));
  });

  async function expectNothing(code: string, asked: Call): Promise<void> {
    const { answer, ...difference } = await watch(route, asked);
    expect(answer.body).toMatchObject({ code });
    expect(difference, code).toEqual({ added: [], removed: [], changed: [] });
  }

  /** What is refused of any command. */
  async function refusedByKernel(call: Call): Promise<[code: string, asked: Call][]> {
    const cases: [string, Call][] = [
      ['request.invalid', keyed({ ...call, body: { ...(call.body as object), unheard_of: true } })],
      ['request.malformed', keyed({ ...call, body: '{' })],
    ];
    if (spec?.idempotency === 'required') cases.push(['idempotency.key_missing', call]);
    if (call.token !== undefined) cases.push(['auth.missing', keyed({ ...call, token: undefined })]);
    if (permission !== 'public' && permission !== 'iam' && permission !== 'signed_in') {
      const scope = scopeOf(route);
      const code = scope === 'platform' ? 'permission.denied' : `${scope}.unknown`;
      cases.push([code, keyed({ ...call, token: (await scene.person()).token })]);
    }
    return cases;
  }
});
