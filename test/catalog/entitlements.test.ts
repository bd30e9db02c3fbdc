import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { ENTITLEMENTS_MAX, planEntitlement } from '../../functions/catalog/entitlement.ts';
import { entitlementsKey } from '../../functions/catalog/keys.ts';
import { newId } from '../../functions/platform/ids.ts';
import { auditKey, outboxKey } from '../../functions/platform/data/keys.ts';
import type { Body } from '../api/recipe.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { type Answer, openWorld, type World } from '../api/world.ts';
import { changeApp, entitle, putApp } from './entitled.ts';

let world: World;
let scene: Scene;
let place: Awaited<ReturnType<Scene['place']>>;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
});
beforeEach(async () => void (place = await scene.place()));
afterAll(() => world.close());

type Scope = 'projects' | 'orgs';

const pathOf = (scope: Scope): string =>
  scope === 'projects' ? '/api/v1/projects/{project_id}' : '/api/v1/orgs/{org_id}';
const idsOf = (scope: Scope): Record<string, string> =>
  scope === 'projects' ? { project_id: place.project.id } : { org_id: place.org.id };

async function ask(
  method: 'GET' | 'PUT',
  scope: Scope,
  slug: string,
  more: { body?: unknown; headers?: Record<string, string>; by?: Person } = {},
): Promise<Answer & { body: Body }> {
  const answer = await world.call(`${method} ${pathOf(scope)}/apps/entitlements/{app_slug}`, {
    params: { ...idsOf(scope), app_slug: slug },
    token: (more.by ?? place.admin).token,
    ...('body' in more && { body: more.body }),
    ...(more.headers && { headers: more.headers }),
  });
  return answer as Answer & { body: Body };
}

const put = (scope: Scope, slug: string, body: unknown, headers?: Record<string, string>) =>
  ask('PUT', scope, slug, { body, ...(headers && { headers }) });
const get = (scope: Scope, slug: string) => ask('GET', scope, slug);

async function list(scope: Scope, query: Record<string, string> = {}): Promise<Answer & { body: Body }> {
  const answer = await world.call(`GET ${pathOf(scope)}/apps/entitlements`, {
    params: idsOf(scope),
    query,
    token: place.admin.token,
  });
  return answer as Answer & { body: Body };
}

/** Exactly as the quickstart's fifth step sends it. */
const QUICKSTART = `{
"enabled": true,
"policy_overrides": {
"allowed_operating_modes": ["tenant_dedicated"],
"allowed_control_plane_scopes": ["project"]
}
}`;

describe('enabling an app', () => {
  test('works as the quickstart writes it, and says what counts from now on', async () => {
    const { slug } = await putApp();
    const answer = await put('projects', slug, QUICKSTART);
    expect(answer).toMatchObject({
      status: 200,
      headers: { etag: '"1"' },
      body: {
        app_slug: slug,
        enabled: true,
        policy_overrides: {
          allowed_operating_modes: ['tenant_dedicated'],
          allowed_control_plane_scopes: ['project'],
        },
        effective: {
          enabled: true,
          allowed_operating_modes: ['tenant_dedicated'],
          allowed_control_plane_scopes: ['project'],
          version_pins: null,
          max_instances: null,
          max_gpus: null,
        },
        source: 'project',
        version: 1,
        updated_by: `user:${place.admin.id}`,
      },
    });
    expect(await get('projects', slug)).toMatchObject({ body: answer.body, headers: { etag: '"1"' } });
    expect((await list('projects')).body).toEqual({ items: [answer.body], next_cursor: null });
  });

  test('is told to the audit and to whoever follows the project', async () => {
    const { slug } = await putApp();
    await put('projects', slug, { enabled: true });
    await put('projects', slug, { enabled: false });
    const audits = await world.items(auditKey(place.project.id, '').pk);
    expect(audits.sort((a, b) => (String(a['sk']) < String(b['sk']) ? -1 : 1))).toMatchObject([
      {
        action: 'catalog.entitlement.put',
        subject: `entitlement:${slug}`,
        after: { enabled: true, version: 1 },
      },
      {
        subject: `entitlement:${slug}`,
        before: { enabled: true, version: 1 },
        after: { enabled: false, version: 2 },
      },
    ]);
    const events = await world.items(outboxKey(place.project.id, '').pk);
    expect(events.map(({ event }) => event)).toMatchObject([
      { type: 'apps.entitlement.changed', data: { app_slug: slug, enabled: true } },
      { type: 'apps.entitlement.changed', data: { app_slug: slug, enabled: false } },
    ]);
  });

  test('leaves what is said of other apps alone, also when many are put at once', async () => {
    const apps = await Promise.all(Array.from({ length: 10 }, () => putApp()));
    const before = world.conflicts();
    const answers = await Promise.all(apps.map(({ slug }) => put('projects', slug, { enabled: true })));
    expect(world.conflicts()).toBeGreaterThan(before);
    expect(answers.map(({ status }) => status)).toEqual(apps.map(() => 200));
    expect((await list('projects')).body['items']).toHaveLength(apps.length);
  });

  test('of an app nobody knows, or nobody here may see, is refused alike', async () => {
    const owner = { org_id: newId(), project_id: newId() };
    const hidden = await putApp({ owner, versions: { '1.0.0': { status: 'active', internal: true } } });
    for (const slug of [hidden.slug, scene.slug()]) {
      for (const scope of ['projects', 'orgs'] as const) {
        expect(await put(scope, slug, { enabled: true })).toMatchObject({ body: { code: 'app.unknown' } });
        expect(await get(scope, slug)).toMatchObject({ status: 404, body: { code: 'app.unknown' } });
      }
    }
  });

  test('in an archived project is refused', async () => {
    const { slug } = await putApp();
    await scene.archive(place.project);
    expect(await put('projects', slug, { enabled: true })).toMatchObject({
      status: 409,
      body: { code: 'project.archived' },
    });
    expect(await world.get(entitlementsKey(place.project.id))).toBeUndefined();
  });

  test('with overrides that leave nothing of the app names what the app has', async () => {
    const { slug } = await putApp({ operating_modes: ['tenant_dedicated'] });
    const body = { enabled: true, policy_overrides: { allowed_operating_modes: ['platform_managed'] } };
    for (const scope of ['projects', 'orgs'] as const)
      expect(await put(scope, slug, body)).toMatchObject({
        status: 400,
        body: {
          code: 'request.invalid',
          errors: [
            {
              pointer: '/policy_overrides/allowed_operating_modes',
              detail: 'Expected at least one that the app offers: tenant_dedicated.',
            },
          ],
        },
      });
  });
});

describe('the version of an entry', () => {
  test('is asked for by If-Match, and is 0 while there is none', async () => {
    const { slug } = await putApp();
    const stale = { status: 412, body: { code: 'precondition.failed' } };
    for (const scope of ['projects', 'orgs'] as const) {
      expect(await put(scope, slug, { enabled: true }, { 'if-match': '"1"' })).toMatchObject(stale);
      const first = await put(scope, slug, { enabled: true }, { 'if-match': '"0"' });
      expect(first).toMatchObject({ status: 200, headers: { etag: '"1"' } });
      expect(await put(scope, slug, { enabled: false }, { 'if-match': '"0"' })).toMatchObject(stale);
      const second = await put(scope, slug, { enabled: false }, { 'if-match': '"1"' });
      expect(second).toMatchObject({ status: 200, headers: { etag: '"2"' } });
    }
  });

  test('lets one of those through who saw the same', async () => {
    const { slug } = await putApp();
    for (const seen of ['"0"', '"1"']) {
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, n) =>
          put('projects', slug, { enabled: true, policy_overrides: { max_gpus: n } }, { 'if-match': seen }),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 412)).toHaveLength(5);
    }
  });

  test('is nobody’s business where nobody asks: the last one counts, and none is lost', async () => {
    const { slug } = await putApp();
    const answers = await Promise.all([1, 2, 3].map(() => put('projects', slug, { enabled: true })));
    expect(new Set(answers.map(({ body }) => body['version'] as number))).toEqual(new Set([1, 2, 3]));
  });
});

describe('what an organisation says', () => {
  test('is inherited by a project that says nothing', async () => {
    const { slug } = await putApp();
    const said = await put('orgs', slug, { enabled: true, policy_overrides: { max_instances: 5 } });
    expect(said).toMatchObject({
      status: 200,
      headers: { etag: '"1"' },
      body: { source: 'org', version: 1 },
    });
    const inherited = { ...said.body, version: 0 };
    expect(await get('projects', slug)).toMatchObject({ headers: { etag: '"0"' }, body: inherited });
    expect((await list('projects')).body['items']).toEqual([inherited]);
    expect((await list('orgs')).body['items']).toEqual([said.body]);
  });

  test('is a limit no project may widen', async () => {
    const { slug } = await putApp();
    await put('orgs', slug, {
      enabled: true,
      policy_overrides: { allowed_operating_modes: ['tenant_dedicated'], max_gpus: 4 },
    });
    const wider = {
      enabled: true,
      policy_overrides: { allowed_operating_modes: ['tenant_dedicated', 'platform_managed'], max_gpus: 5 },
    };
    expect(await put('projects', slug, wider)).toMatchObject({
      status: 409,
      body: {
        code: 'entitlement.wider_than_org',
        errors: [
          {
            pointer: '/policy_overrides/allowed_operating_modes/1',
            detail: 'The organisation allows tenant_dedicated.',
          },
          { pointer: '/policy_overrides/max_gpus', detail: 'The organisation allows at most 4.' },
        ],
      },
    });
    const narrower = { enabled: true, policy_overrides: { max_gpus: 1 } };
    expect((await put('projects', slug, narrower)).body['effective']).toMatchObject({
      enabled: true,
      allowed_operating_modes: ['tenant_dedicated'],
      max_gpus: 1,
    });
  });

  test('bites at once when it is narrowed, whatever projects said before', async () => {
    const { slug } = await putApp();
    const wide = { enabled: true, policy_overrides: { max_instances: 9, version_pins: ['1.0.0', '2.0.0'] } };
    expect(await put('projects', slug, wide)).toMatchObject({ status: 200 });
    const narrow = { enabled: false, policy_overrides: { max_instances: 1, version_pins: ['1.0.0'] } };
    await put('orgs', slug, narrow);
    const effective = { enabled: false, max_instances: 1, version_pins: ['1.0.0'] };
    expect((await get('projects', slug)).body).toMatchObject({ ...wide, source: 'project', effective });
    expect((await list('projects')).body['items']).toMatchObject([{ ...wide, effective }]);
    expect(await put('projects', slug, { enabled: true })).toMatchObject({
      body: { code: 'entitlement.wider_than_org', errors: [{ pointer: '/enabled' }] },
    });
  });

  test('is nothing to projects of others', async () => {
    const { slug } = await putApp();
    const other = await scene.place();
    await entitle({ org_id: other.org.id }, slug);
    expect(await get('projects', slug)).toMatchObject({ status: 404, body: { code: 'entitlement.unknown' } });
    expect((await list('projects')).body['items']).toEqual([]);
  });

  test('is not for an admin of one of its projects to change', async () => {
    const { slug } = await putApp();
    const by = await scene.member({ org_id: place.org.id, project_id: place.project.id }, 'project_admin');
    expect(await ask('PUT', 'projects', slug, { body: { enabled: true }, by })).toMatchObject({
      status: 200,
    });
    expect(await ask('PUT', 'orgs', slug, { body: { enabled: true }, by })).toMatchObject({ status: 403 });
  });
});

describe('the entries of a place', () => {
  const item = async (count: number): Promise<void> => {
    const version_pins = Array.from({ length: 20 }, (_, n) => `${n}.${'9'.repeat(8)}.0-${'x'.repeat(50)}`);
    const entry = planEntitlement(
      undefined,
      {
        enabled: true,
        policy_overrides: {
          allowed_operating_modes: ['tenant_dedicated', 'platform_managed'],
          allowed_control_plane_scopes: ['project', 'tenant', 'platform'],
          version_pins,
          max_instances: 10_000,
          max_gpus: 10_000,
        },
      },
      `service_account:${newId()}`,
      new Date(),
    );
    const entries = Array.from({ length: count }, (_, n) => [`app:s${String(n).padStart(39, '0')}`, entry]);
    for (const { id } of [place.project, place.org])
      await world.put({
        ...entitlementsKey(id),
        app_count: count,
        ...(Object.fromEntries(entries) as object),
      });
  };

  test('fit into one item when they are as many and as wide as they may be', async () => {
    await item(ENTITLEMENTS_MAX);
    const { body } = await list('projects', { limit: '100' });
    expect(body['items']).toHaveLength(100);
    const next = await list('projects', { limit: '100', cursor: body['next_cursor'] as string });
    expect(next.body['items']).toHaveLength(100);
    expect(next.body['next_cursor']).toBeNull();
  });

  test('are no more than that', async () => {
    await item(ENTITLEMENTS_MAX - 1);
    const [one, other] = await Promise.all([putApp(), putApp()]);
    for (const scope of ['projects', 'orgs'] as const) {
      const slugs = [one.slug, other.slug];
      const answers = await Promise.all(slugs.map((slug) => put(scope, slug, { enabled: false })));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]));
      const refused = answers.findIndex(({ status }) => status === 409);
      expect(answers[refused]?.body).toMatchObject({ code: 'entitlement.too_many' });
      const kept = slugs[1 - refused] as string;
      expect(await put(scope, kept, { enabled: false }), 'changing one').toMatchObject({ status: 200 });
    }
  });

  test('stay listed when the app is gone, with nothing left to launch', async () => {
    const app = await putApp();
    await put('projects', app.slug, { enabled: true });
    await changeApp(app, { versions: {} });
    const gone = { app_slug: app.slug, effective: { allowed_operating_modes: [] } };
    expect((await list('projects')).body['items']).toMatchObject([gone]);
    expect((await get('projects', app.slug)).body).toMatchObject(gone);
    expect(await put('projects', app.slug, { enabled: true })).toMatchObject({
      body: { code: 'app.unknown' },
    });
  });

  test('may be of an app called like anything a row has', async () => {
    for (const slug of ['pk', 'sk', 'app-count', 'constructor']) {
      await putApp({ slug });
      expect(await put('projects', slug, { enabled: true })).toMatchObject({ status: 200 });
      expect(await get('projects', slug)).toMatchObject({ body: { app_slug: slug, enabled: true } });
    }
  });
});
