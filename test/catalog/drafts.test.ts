import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { versionKey } from '../../functions/catalog/keys.ts';
import type { Version } from '../../functions/catalog/version.ts';
import type { Project } from '../../functions/identity/project.ts';
import { type RouteKey, routes } from '../../functions/routes.ts';
import type { Person } from '../api/scene.ts';
import { type Body, type ManifestWorld, openManifestWorld } from '../manifests/manifest-world.ts';
import { sampleManifest } from '../manifests/sample-manifest.ts';
import { releaseVersion, stageVersion } from './released.ts';

// A draft is there for its publisher and the platform. For everybody else it is as if it had never been registered.

const REGISTER = 'POST /api/v1/admin/apps/manifests';
const LIST = 'GET /api/v1/apps/catalog/{app_slug}/versions';
const ONE = 'GET /api/v1/apps/catalog/{app_slug}/versions/{version}';
const APP = 'GET /api/v1/apps/catalog/{app_slug}';
const ENTITLE = 'PUT /api/v1/projects/{project_id}/apps/entitlements/{app_slug}';

/** Planted in the draft's manifest wherever there is room for it. */
const MARKER = 'xyzzy-unannounced';
const DRAFT = '77.66.55';
const ABSENT = '88.66.55';

let world: ManifestWorld;
let admin: Person;
let publisher: { project: Project; admin: Person };
/** Everybody who may not see the draft, with the places they may read. */
let foreigners: [who: string, person: Person, project: Project][];
/** One app with a version that everybody sees, and one without. */
let mixed: string;
let hidden: string;
let submissionId: string;

async function registerDraft(slug: string): Promise<void> {
  const said = { display_name: MARKER, description: MARKER, category: 'observability', publisher: MARKER };
  const body = sampleManifest({ slug, ...said }, { version: DRAFT, release_notes: MARKER });
  const query = { project_id: publisher.project.id };
  await world.done(world.ask(REGISTER, admin, { body, query }));
}

beforeAll(async () => {
  world = await openManifestWorld();
  const { scene } = world;
  admin = await scene.platformAdmin();
  const place = await scene.place();
  publisher = place;
  const other = await scene.place();
  const sibling = await scene.project(place.org);
  const colleague = await scene.member({ org_id: place.org.id, project_id: sibling.id }, 'project_admin');
  foreigners = [
    ['an admin of another organisation', other.admin, other.project],
    ['an admin of a sibling project', colleague, sibling],
    ['somebody without a role', await scene.person(), sibling],
  ];
  [mixed, hidden] = [scene.slug(), scene.slug()];
  await releaseVersion({ slug: mixed, owner: place.project, status: 'staged' });
  for (const slug of [mixed, hidden]) await registerDraft(slug);
  const submitted = sampleManifest({ slug: mixed }, { version: '77.66.56', release_notes: MARKER });
  const submission = await world.done(
    world.ask('POST /api/v1/projects/{project_id}/apps/manifests', place.admin, {
      params: { project_id: place.project.id },
      body: submitted,
    }),
  );
  submissionId = String(submission['id']);
});
afterAll(() => world.close());

const READ = (Object.keys(routes) as RouteKey[]).filter(
  (route) => route.startsWith('GET ') && ['catalog', 'manifests'].includes(routes[route].domain),
);

/** Every way to fill a route's path with an app, a version and another one. */
function callsOf(route: RouteKey, project: Project): Record<string, string>[] {
  const fixed = { project_id: project.id, org_id: project.org_id, submission_id: submissionId };
  const numbers = ['1.0.0', DRAFT];
  const filled = [mixed, hidden].flatMap((app_slug) =>
    numbers.flatMap((version) =>
      numbers.map((other_version) => ({ ...fixed, app_slug, version, other_version })),
    ),
  );
  return route.includes('{app_slug}') ? filled : filled.slice(0, 1);
}

const decoded = (cursor: unknown): string => Buffer.from(String(cursor), 'base64url').toString();

describe('a draft', () => {
  test('shows in no answer to somebody else, and is refused as an absent one is', async () => {
    expect(READ.length).toBeGreaterThan(12);
    for (const [who, person, project] of foreigners)
      for (const route of READ)
        for (const params of callsOf(route, project)) {
          const answer = await world.ask(route, person, { params });
          const told = `${who} ${route} ${JSON.stringify(params)}`;
          expect(answer.text, told).not.toContain(MARKER);
          expect(answer.text, told).not.toContain(DRAFT);
          expect(answer.text, told).not.toContain('77.66.56');
          const absent = await world.ask(route, person, {
            params: JSON.parse(JSON.stringify(params).replaceAll(DRAFT, ABSENT)) as typeof params,
          });
          expect([answer.status, answer.body['code']], told).toEqual([absent.status, absent.body['code']]);
        }
  });

  test('is found by no search and no filter, and by no entitlement', async () => {
    for (const [who, person, project] of foreigners) {
      for (const [name, value] of [
        ['search', MARKER],
        ['category', 'observability'],
      ] as const) {
        const query = { [name]: value };
        const { items } = await world.done(world.ask('GET /api/v1/apps/catalog', person, { query }));
        expect(items, who).toEqual([]);
      }
      const query = { status: 'draft' };
      const listed = await world.ask(LIST, person, { params: { app_slug: mixed }, query });
      expect(listed.body, who).toEqual({ items: [], next_cursor: null });
      const body = { enabled: true, policy_overrides: { version_pins: [DRAFT] } };
      for (const app_slug of [mixed, hidden]) {
        const params = { project_id: project.id, app_slug };
        const { status, text } = await world.ask(ENTITLE, person, { params, body });
        expect(status, who).toBeGreaterThanOrEqual(400);
        expect(text, who).not.toContain(DRAFT);
      }
    }
  });

  test('is there for its publisher’s people and for the platform', async () => {
    const { org_id, id: project_id } = publisher.project;
    const viewer = await world.scene.member({ org_id, project_id }, 'viewer');
    const ofOrg = await world.scene.member({ org_id }, 'viewer');
    for (const person of [publisher.admin, viewer, ofOrg, admin]) {
      const ask = (route: RouteKey, params: Record<string, string>) =>
        world.done(world.ask(route, person, { params }));
      expect(await ask(APP, { app_slug: hidden })).toMatchObject({
        display_name: MARKER,
        versions: [{ version: DRAFT, status: 'draft' }],
      });
      expect((await ask(LIST, { app_slug: mixed }))['items']).toMatchObject([
        { version: DRAFT, status: 'draft' },
        { version: '1.0.0', status: 'staged' },
      ]);
      expect(await ask(ONE, { app_slug: mixed, version: DRAFT })).toMatchObject({
        manifest: { app: { description: MARKER } },
      });
      const { items } = await ask('GET /api/v1/projects/{project_id}/apps/catalog', { project_id });
      expect(items.filter(({ slug }: Body) => slug === hidden)).toMatchObject([
        { launchable: false, reasons: [{ code: 'entitlement.missing' }, { code: 'version.none_active' }] },
      ]);
    }
  });

  test('changes what the app shows once it has left draft, unless it is for internal testing', async () => {
    const app_slug = world.scene.slug();
    const [, foreigner] = foreigners[0] ?? [];
    if (!foreigner) throw new Error('There is nobody.');
    const seen = async () => (await world.ask(APP, foreigner, { params: { app_slug } })).body;
    await releaseVersion({ slug: app_slug, owner: publisher.project, status: 'active' });
    const before = await seen();
    const body = sampleManifest({ slug: app_slug, description: MARKER }, { version: '2.0.0' });
    await world.done(world.ask(REGISTER, admin, { body, query: { project_id: publisher.project.id } }));
    expect(await seen(), 'not even when it changed').toEqual(before);
    await stageVersion(app_slug, '2.0.0');
    expect(await seen()).toMatchObject({ description: MARKER, active_version: '1.0.0' });
    const internal = sampleManifest(
      { slug: app_slug, description: 'for us' },
      { version: '3.0.0', internal_testing: true },
    );
    const query = { project_id: publisher.project.id };
    await world.done(world.ask(REGISTER, admin, { body: internal, query }));
    await stageVersion(app_slug, '3.0.0');
    expect(await seen()).toMatchObject({ description: MARKER });
  });
});

describe('a list of versions', () => {
  /** Copies of the staged version under other numbers, straight in the table. */
  async function put(app_slug: string, number: string, change: Partial<Version>): Promise<void> {
    const row = await world.version(mixed, '1.0.0');
    await world.world.put({
      ...row,
      ...versionKey(app_slug, number),
      app_slug,
      version: number,
      ...change,
    });
  }

  async function pages(app_slug: string, query: Record<string, string>): Promise<Body[]> {
    const [, foreigner] = foreigners[0] ?? [];
    if (!foreigner) throw new Error('There is nobody.');
    const all: Body[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null && all.length < 20) {
      const asked = { ...query, ...(cursor && { cursor }) };
      const page = await world.done(world.ask(LIST, foreigner, { params: { app_slug }, query: asked }));
      all.push(page);
      cursor = page['next_cursor'] as string | null;
    }
    return all;
  }

  test('names no draft in its cursors, and ends no page at one', async () => {
    const app_slug = world.scene.slug();
    for (let minor = 0; minor < 200; minor += 1) await put(app_slug, `9.${minor}.0`, { status: 'draft' });
    const visible = ['10.0.0', '1.2.0', '1.1.0', '1.0.0'];
    for (const number of visible) await put(app_slug, number, { status: 'retired' });
    for (const limit of ['1', '2', '50']) {
      const all = await pages(app_slug, { limit });
      expect(all.flatMap(({ items }) => items.map(({ version }: Body) => version))).toEqual(visible);
      for (const { next_cursor } of all)
        if (next_cursor !== null) expect(decoded(next_cursor)).not.toContain('#000000009');
    }
  });

  test('takes one status or several, page by page', async () => {
    const app_slug = world.scene.slug();
    const statuses = ['staged', 'canary', 'active', 'deprecated', 'retired'] as const;
    for (let major = 1; major <= 10; major += 1)
      await put(app_slug, `${major}.0.0`, { status: statuses[(major - 1) % 5] });
    const numbers = async (query: Record<string, string>) =>
      (await pages(app_slug, query)).flatMap(({ items }) =>
        items.map(({ version }: Body) => String(version).split('.')[0]),
      );
    for (const limit of ['1', '2', '3', '50']) {
      expect(await numbers({ limit, status: 'active' })).toEqual(['8', '3']);
      expect(await numbers({ limit, status: 'active,staged,active' })).toEqual(['8', '6', '3', '1']);
      expect(await numbers({ limit, status: 'draft' })).toEqual([]);
    }
    const [first] = await pages(app_slug, { limit: '2', status: 'active' });
    expect(first, 'a page that has all of them is the last').toMatchObject({ next_cursor: null });
    for (const status of [
      '',
      'published',
      'active,',
      'active,published',
      'ACTIVE',
      `${'active,'.repeat(30)}active`,
    ]) {
      const refused = await world.ask(LIST, publisher.admin, { params: { app_slug }, query: { status } });
      expect(refused, status).toMatchObject({
        status: 400,
        body: { code: 'request.invalid', errors: [{ pointer: '?/status' }] },
      });
    }
  });
});

test('whoever joins the publisher sees its drafts at once, where they were refused a moment ago', async () => {
  const { project } = publisher;
  const { id, token } = await world.scene.person();
  const params = { app_slug: hidden, version: DRAFT, other_version: DRAFT };
  const ask = async (route: RouteKey) => (await world.world.call(route, { params, token })).status;
  const give = (...grants: object[]) =>
    world.world.put({ pk: `USER#${id}`, sk: 'USER', id, grants, version: 1 });
  for (const route of [LIST, ONE, `${ONE}/diff/{other_version}`] as const) {
    await give();
    world.world.forgetAuthorization();
    expect(await ask(route), route).toBe(404);
    await give({ role: 'viewer', org_id: project.org_id, project_id: project.id });
    expect(await ask(route), route).toBe(200);
  }
});
