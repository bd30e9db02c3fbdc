import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { App, VersionEntry } from '../../functions/catalog/app.ts';
import { planEntitlement } from '../../functions/catalog/entitlement.ts';
import { appKey, catalogHeadKey, entitlementsKey, versionKey } from '../../functions/catalog/keys.ts';
import type { Version } from '../../functions/catalog/version.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import { controlTable, type Item } from '../../functions/platform/data/table.ts';
import type { RouteKey } from '../../functions/routes.ts';
import { DEEP } from '../deep.ts';
import type { Body } from '../api/recipe.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { planApp } from './entitled.ts';

// Reads of the catalogue and of entitlements cost the same, however many apps and versions there are.

const APPS = DEEP ? 500 : 50;
const VERSIONS_EACH = 10;
const ENTITLED = Math.min(APPS, 200);

let world: World;
let place: Awaited<ReturnType<Scene['place']>>;
const sent: string[] = [];

beforeAll(async () => {
  // Requests are counted, so none is made twice by chance.
  world = await openWorld({ roughness: SMOOTH });
  place = await openScene(world).place();
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        sent.push(String(commandName));
        return next(args);
      },
    { step: 'initialize', name: 'recordSent' },
  );
  await seed();
  // What authorization knows it forgets after a few seconds, however slow the machine.
  vi.useFakeTimers({ toFake: ['Date'] });
}, 300_000);
afterAll(async () => {
  vi.useRealTimers();
  await world.close();
});

const slugOf = (n: number): string => `app-${String(n).padStart(4, '0')}`;

function entryOf(n: number): VersionEntry {
  const status = n === 0 ? 'active' : n === 1 ? 'canary' : 'deprecated';
  return {
    status,
    internal: false,
    ...(status === 'canary' && { canary: { percent: 50, project_ids: [] } }),
  };
}

async function seed(): Promise<void> {
  const versions = Object.fromEntries(
    Array.from({ length: VERSIONS_EACH }, (_, n) => [`1.${VERSIONS_EACH - n}.0`, entryOf(n)]),
  );
  const apps = Array.from({ length: APPS }, (_, n) =>
    planApp({ slug: slugOf(n), category: `category-${n % 5}`, versions }),
  );
  const entry = planEntitlement(undefined, { enabled: true }, 'user:somebody', new Date());
  const says = Object.fromEntries(Array.from({ length: ENTITLED }, (_, n) => [`app:${slugOf(n)}`, entry]));
  await write([
    ...apps.flatMap((app) => [{ ...appKey(app.slug), ...app }, ...versionRows(app)]),
    { ...catalogHeadKey(), revision: APPS },
    ...[place.project, place.org].map(({ id }) => ({ ...entitlementsKey(id), app_count: ENTITLED, ...says })),
  ]);
}

function versionRows({ slug, versions, created_at }: App): Item[] {
  return Object.entries(versions).map(([version, { status, internal }]) => {
    const row: Version = {
      app_slug: slug,
      version,
      status,
      internal,
      artifacts: [],
      release_notes: '',
      manifest_digest: 'sha256:0',
      registered_by: 'user:somebody',
      created_at,
      updated_at: created_at,
    };
    return { ...versionKey(slug, version), ...row };
  });
}

async function write(items: Item[]): Promise<void> {
  for (let at = 0; at < items.length; at += 25) {
    const puts = items.slice(at, at + 25).map((item) => ({ PutRequest: { Item: item } }));
    await world.client.send(new BatchWriteCommand({ RequestItems: { [controlTable()]: puts } }));
  }
}

async function ask(route: RouteKey, query: Record<string, string> = {}): Promise<Body> {
  sent.length = 0;
  const answer = await world.call(route, {
    params: { project_id: place.project.id, org_id: place.org.id, app_slug: slugOf(3) },
    query,
    token: place.admin.token,
  });
  expect(answer.status, answer.text).toBe(200);
  return answer.body as Body;
}

/** The caller, both places and the catalogue are known then. */
async function warmUp(): Promise<void> {
  await ask('GET /api/v1/projects/{project_id}/apps/catalog');
  await ask('GET /api/v1/orgs/{org_id}/apps/entitlements');
}

const ENTITLEMENTS = '/apps/entitlements';
const reads: [RouteKey, Record<string, string>, string, number?][] = [
  ['GET /api/v1/apps/catalog', {}, 'BatchGetItemCommand', 50],
  [
    'GET /api/v1/apps/catalog',
    { search: 'AN APP', category: 'category-1' },
    'BatchGetItemCommand',
    Math.min(APPS / 5, 50),
  ],
  ['GET /api/v1/apps/catalog', { search: 'nothing has this' }, 'BatchGetItemCommand', 0],
  ['GET /api/v1/apps/catalog/{app_slug}', {}, 'BatchGetItemCommand'],
  ['GET /api/v1/projects/{project_id}/apps/catalog', {}, 'BatchGetItemCommand', 50],
  ['GET /api/v1/projects/{project_id}/apps/catalog', { launchable: 'true' }, 'BatchGetItemCommand', 50],
  ['GET /api/v1/projects/{project_id}/apps/catalog', { backend: 'slurm' }, 'BatchGetItemCommand', 0],
  [`GET /api/v1/projects/{project_id}${ENTITLEMENTS}`, {}, 'BatchGetItemCommand', 50],
  [`GET /api/v1/projects/{project_id}${ENTITLEMENTS}/{app_slug}`, {}, 'BatchGetItemCommand'],
  [`GET /api/v1/orgs/{org_id}${ENTITLEMENTS}`, {}, 'BatchGetItemCommand', 50],
  [`GET /api/v1/orgs/{org_id}${ENTITLEMENTS}/{app_slug}`, {}, 'BatchGetItemCommand'],
];

describe(`with ${APPS * VERSIONS_EACH} versions of ${APPS} apps`, () => {
  test.each(reads)('%s %o is one %s', async (route, query, request, count) => {
    await warmUp();
    const body = await ask(route, query);
    expect(sent).toEqual([request]);
    if (count !== undefined) expect(body['items']).toHaveLength(count);
  });

  test('each app and each entitlement is on one page, and every page is one request', async () => {
    await warmUp();
    const lists: [RouteKey, number][] = [
      ['GET /api/v1/apps/catalog', APPS],
      ['GET /api/v1/projects/{project_id}/apps/catalog', APPS],
      ['GET /api/v1/projects/{project_id}/apps/entitlements', ENTITLED],
    ];
    for (const [route, count] of lists) {
      const seen: string[] = [];
      let cursor: string | null | undefined;
      while (cursor !== null) {
        const body = await ask(route, { limit: '17', ...(cursor && { cursor }) });
        expect(sent).toHaveLength(1);
        seen.push(...(body['items'] as Body[]).map(({ slug, app_slug }) => (slug ?? app_slug) as string));
        cursor = body['next_cursor'] as string | null;
      }
      expect(seen).toEqual(Array.from({ length: count }, (_, n) => slugOf(n)));
    }
  });

  test('a function that has just started queries the catalogue once, and nothing is ever scanned', async () => {
    world.forgetAuthorization();
    await ask('GET /api/v1/apps/catalog');
    const [facts, head, ...queries] = sent;
    expect([facts, head]).toEqual(['BatchGetItemCommand', 'BatchGetItemCommand']);
    // A page of a query is a megabyte: at this size one or two.
    expect(new Set(queries)).toEqual(new Set(['QueryCommand']));
    expect(queries.length).toBeLessThanOrEqual(2);
    expect(sent.filter((name) => name.startsWith('Scan'))).toEqual([]);
  });
});
