import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../functions/platform/ids.ts';
import { placeId } from '../../functions/platform/data/keys.ts';
import { routes, type RouteKey } from '../../functions/routes.ts';
import { scopeOf } from '../../functions/platform/route.ts';
import { TaskRequested } from '../../functions/tasks/task-row.ts';
import { routesInFull } from '../../lib/endpoints.ts';
import { isAsked } from '../domains.ts';
import type { Body } from './recipe.ts';
import { commands, reads, reports } from './recipes.ts';
import { openScene, type Scene } from './scene.ts';
import { differenceOf, type Item, takeSnapshot } from './snapshot.ts';
import { type Answer, type Call, openWorld, type World } from './world.ts';

// Every route that changes something leaves one audit row and its events, or, when it refuses, nothing at all.

const inFull = routesInFull().filter(({ route }) => isAsked(route));
const specs = new Map(inFull.map(({ route, endpoint }) => [route, endpoint.spec]));

/** They let somebody in who may read there already: nothing has happened that others would follow. */
const WITHOUT_EVENTS = new Set([
  'mintToken',
  'mintNodeToken',
  'createEventTicket',
  'issueQueueCredentials',
  'issuePullCredentials',
  'fetchSecret',
]);

const SECRETS = [
  'private_key_pem',
  'invitation_token',
  'access_token',
  'ticket',
  'assertion',
  'join_token',
  'proof',
  'secret_access_key',
  'session_token',
  'password',
  'handle',
  'value',
];

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
  test('that change something all have a recipe, and are commands', () => {
    const cooked = new Set<string>(commands.map(([, { route }]) => route));
    const changing = inFull.filter(({ endpoint }) => endpoint.kind === 'command');
    expect(new Set(changing.map(({ route }) => route))).toEqual(cooked);
  });

  test('that only read all have a recipe', () => {
    const reading = inFull.filter(({ endpoint }) => endpoint.kind === 'query');
    expect(reading.map(({ route }) => route).sort()).toEqual(reads.map(([route]) => route).sort());
  });

  test('by which hosts report all have a recipe', () => {
    const reporting = inFull.filter(({ endpoint }) => endpoint.kind === 'report');
    expect(reporting.map(({ route }) => route).sort()).toEqual(reports.map(([route]) => route).sort());
  });
});

test('the audit tells every handler by a name of its own', () => {
  const actionOf = new Map(
    commands.map(([, { route }]) => [routes[route].handler, specs.get(route)?.action]),
  );
  const actions = [...actionOf.values()];
  expect(new Set(actions).size).toBe(actions.length);
  for (const action of actions) expect(action).toMatch(/^[a-z_]+(\.[a-z_]+)+$/);
});

describe.each(commands)('%s', (_, { route, prepare }) => {
  const { handler, permission } = routes[route];
  const spec = specs.get(route);

  test('leaves one audit row and its events, and no secret', async () => {
    const { actor, about, ...prepared } = await prepare(scene);
    const requestId = newId();
    const call = keyed({ ...prepared.call, headers: { 'x-request-id': requestId } });
    const { answer, added, removed, changed } = await watch(route, call);
    expect(answer.status, answer.text).toBe(spec?.status ?? 200);

    const { subject, also = [], ...place } = about(answer.body as Body);
    const audited = added.filter(isOf('AUDIT'));
    expect(audited.map((row) => String(row['subject'])).sort()).toEqual([subject, ...also].sort());
    for (const row of audited) {
      expect(row).toMatchObject({
        pk: `AUDIT#${placeId(place)}`,
        actor,
        action: spec?.action,
        correlation_id: requestId,
        source_ip: call.sourceIp ?? '127.0.0.1',
        ...place,
      });
    }

    const published = added.filter(isOf('OUTBOX'));
    expect(published.length > 0).toBe(!WITHOUT_EVENTS.has(handler));
    for (const row of published) {
      const { type } = row['event'] as { type: string };
      // Hosts are the platform's, whichever project something is asked of them for.
      const told = type === TaskRequested.type ? {} : place;
      expect(row).toMatchObject({
        pk: `OUTBOX#${placeId(told)}`,
        event: { actor, correlation_id: requestId, occurred_at: audited[0]?.['at'], ...told },
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
      [
        // A manifest is a body that has its own rules.
        spec?.parseText ? 'manifest.invalid' : 'request.invalid',
        keyed({ ...call, body: { ...(call.body as object), unheard_of: true } }),
      ],
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

describe.each(reports)('%s', (route, prepare) => {
  test('changes one row and leaves no record', async () => {
    const { answer, added, removed, changed } = await watch(route, keyed(await prepare(scene)));
    expect(answer.status, answer.text).toBe(200);
    expect([added, removed, changed.length]).toEqual([[], [], 1]);
  });
});
