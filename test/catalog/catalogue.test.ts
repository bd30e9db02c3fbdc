import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type App, APPS_MAX } from '../../functions/catalog/app.ts';
import { catalogHeadKey } from '../../functions/catalog/keys.ts';
import { dynamo } from '../../functions/platform/clients.ts';
import type { Body } from '../api/recipe.ts';
import { SMOOTH } from '../../lib/local/wire/roughness.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { type Answer, openWorld, type World } from '../api/world.ts';
import { changeApp, entitle, putApp } from './entitled.ts';

let world: World;
let scene: Scene;
let place: Awaited<ReturnType<Scene['place']>>;
/** Done once, between the moment the catalogue's count is read and the moment its rows are. */
let meanwhile: (() => Promise<unknown>) | undefined;

beforeAll(async () => {
  // Requests are counted, so none is made twice by chance.
  world = await openWorld({ roughness: SMOOTH });
  scene = openScene(world);
  dynamo().middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        const work = String(commandName).startsWith('Query') ? meanwhile : undefined;
        if (work) meanwhile = undefined;
        await work?.();
        return next(args);
      },
    { step: 'initialize', name: 'meanwhile' },
  );
});
// Everything in the catalogue is listed, so it holds only what the test needs.
beforeEach(async () => {
  await world.clear();
  place = await scene.place();
});
afterAll(() => world.close());

type Query = Record<string, string>;
type Told = Answer & { body: Body };

async function catalogue(query: Query = {}, { token }: Person = place.admin): Promise<Told> {
  return (await world.call('GET /api/v1/apps/catalog', { query, token })) as Told;
}

async function projectCatalogue(query: Query = {}, of = place): Promise<Told> {
  return (await world.call('GET /api/v1/projects/{project_id}/apps/catalog', {
    params: { project_id: of.project.id },
    query,
    token: of.admin.token,
  })) as Told;
}

const slugsIn = ({ body, text }: Told): string[] => {
  if (!Array.isArray(body['items'])) throw new Error(text);
  return (body['items'] as App[]).map(({ slug }) => slug);
};

async function stock(): Promise<void> {
  await putApp({
    slug: 'vllm-openai',
    display_name: 'vLLM',
    description: 'Serves language models',
    category: 'inference',
    publisher: 'GPUaaS',
  });
  await putApp({ slug: 'jupyterlab', display_name: 'JupyterLab', description: 'Notebooks', category: 'ide' });
  await putApp({
    slug: 'slurm-reference',
    display_name: 'Slurm',
    description: 'Runs batches of notebooks too',
    category: 'scheduler',
    runtime_backend: 'slurm',
  });
}

const found: [string, Query, string[]][] = [
  ['everything, by slug', {}, ['jupyterlab', 'slurm-reference', 'vllm-openai']],
  ['a word of the slug', { search: 'openai' }, ['vllm-openai']],
  ['a word of the name, in any case', { search: 'jUPYTERl' }, ['jupyterlab']],
  ['a word of the description', { search: 'notebooks' }, ['jupyterlab', 'slurm-reference']],
  ['a word of the publisher', { search: 'gpuaas' }, ['vllm-openai']],
  ['several words, wherever they stand', { search: 'notebooks  slurm' }, ['slurm-reference']],
  ['words nothing has', { search: 'kubernetes' }, []],
  ['a category', { category: 'ide' }, ['jupyterlab']],
  ['a category of another spelling', { category: 'IDE' }, []],
  ['a backend', { backend: 'slurm' }, ['slurm-reference']],
  ['all of it together', { search: 'models', category: 'inference', backend: 'slurm' }, []],
];

describe('the catalogue', () => {
  test.each(found)('finds %s', async (_, query, slugs) => {
    await stock();
    expect(slugsIn(await catalogue(query))).toEqual(slugs);
    expect(slugsIn(await projectCatalogue(query))).toEqual(slugs);
  });

  const refused: [Query, string][] = [
    [{ backend: 'abacus' }, '?/backend'],
    [{ search: '' }, '?/search'],
    [{ search: 'x'.repeat(101) }, '?/search'],
    [{ cursor: Buffer.from('../..').toString('base64url') }, '?/cursor'],
    [{ limit: '101' }, '?/limit'],
    [{ unheard_of: '1' }, '?/unheard_of'],
  ];
  test.each(refused)('refuses %o at %s', async (query, pointer) => {
    for (const answer of [await catalogue(query), await projectCatalogue(query)])
      expect(answer).toMatchObject({ status: 400, body: { code: 'request.invalid', errors: [{ pointer }] } });
  });

  test('is given out in pages, none of which repeats or leaves out an app', async () => {
    const apps: App[] = [];
    while (apps.length < 7) apps.push(await putApp());
    const wanted = apps.map(({ slug }) => slug).sort();
    for (const ask of [catalogue, projectCatalogue]) {
      for (const limit of [1, 3, 7]) {
        const seen: string[] = [];
        let cursor: string | null | undefined;
        let pages = 0;
        while (cursor !== null) {
          const answer = await ask({ limit: String(limit), ...(cursor && { cursor }) });
          seen.push(...slugsIn(answer));
          cursor = answer.body['next_cursor'] as string | null;
          pages += 1;
        }
        expect(seen).toEqual(wanted);
        expect(pages).toBe(Math.ceil(7 / limit));
      }
    }
  });

  test('shows internal versions to their publisher, and to nobody else that they exist', async () => {
    const owner = { org_id: place.org.id, project_id: place.project.id };
    const internal = { status: 'active', internal: true } as const;
    const mixed = await putApp({
      slug: 'mixed',
      owner,
      versions: { '1.0.0': { status: 'staged', internal: false }, '2.0.0': internal },
    });
    await putApp({ slug: 'secret', owner, versions: { '1.0.0': internal } });
    await putApp({ slug: 'of-the-platform', versions: { '1.0.0': internal } });
    const other = await scene.place();

    expect(slugsIn(await catalogue())).toEqual(['mixed', 'secret']);
    expect(slugsIn(await projectCatalogue())).toEqual(['mixed', 'secret']);
    for (const answer of [await catalogue({}, other.admin), await projectCatalogue({}, other)]) {
      expect(slugsIn(answer)).toEqual(['mixed']);
      expect(answer.body['items'][0]).toMatchObject({
        active_version: null,
        versions: [{ version: '1.0.0', status: 'staged' }],
      });
    }
    expect(slugsIn(await catalogue({}, await scene.platformAdmin()))).toEqual([
      'mixed',
      'of-the-platform',
      'secret',
    ]);
    const one = await world.call('GET /api/v1/apps/catalog/{app_slug}', {
      params: { app_slug: mixed.slug },
      token: place.admin.token,
    });
    expect((await catalogue()).body['items'][0]).toEqual(one.body);
  });

  test('is read by one request where it is known, and by one more where it is not', async () => {
    await stock();
    const count = async (ask: () => Promise<Told>): Promise<number> => {
      const before = world.requests();
      expect(await ask()).toMatchObject({ status: 200 });
      return world.requests() - before;
    };
    for (const ask of [catalogue, projectCatalogue]) {
      await ask();
      expect(await count(ask)).toBe(1);
      await putApp();
      expect(await count(ask), 'changed').toBe(2);
      expect(await count(ask)).toBe(1);
    }
  });

  test('is always the present one: a change is seen by whoever asks after it', async () => {
    expect(slugsIn(await catalogue())).toEqual([]);
    let app = await putApp({ slug: 'changing' });
    expect(slugsIn(await catalogue())).toEqual(['changing']);
    for (const display_name of ['One', 'Two', 'Three']) {
      app = await changeApp(app, { display_name });
      expect((await catalogue()).body['items'][0]).toMatchObject({ display_name });
      expect((await projectCatalogue()).body['items'][0]).toMatchObject({ display_name });
    }
  });

  test('is fetched again when it changed while it was fetched', async () => {
    const app = await putApp({ display_name: 'Before' });
    meanwhile = () => changeApp(app, { display_name: 'After' });
    await catalogue();
    expect(meanwhile).toBeUndefined();
    const before = world.requests();
    expect((await catalogue()).body['items'][0]).toMatchObject({ display_name: 'After' });
    expect(world.requests() - before).toBe(2);
  });
});

test('the catalogue takes as many apps as a function can keep, and no more', async () => {
  await putApp();
  await world.set(catalogHeadKey(), 'app_count', APPS_MAX - 1);
  const last = await putApp();
  await expect(putApp()).rejects.toMatchObject({ code: 'app.too_many' });
  await changeApp(last, { display_name: 'Changed' });
  expect(slugsIn(await catalogue())).toHaveLength(2);
});

describe('a project’s catalogue', () => {
  test('tells what may be launched, and of the rest why not', async () => {
    await stock();
    const { org, project } = place;
    await entitle({ org_id: org.id, project_id: project.id }, 'jupyterlab');
    await entitle({ org_id: org.id }, 'slurm-reference', { enabled: false });
    expect((await projectCatalogue()).body['items']).toMatchObject([
      { slug: 'jupyterlab', entitled: true, launchable: true, launch_version: '1.0.0', reasons: [] },
      {
        slug: 'slurm-reference',
        entitled: false,
        launchable: false,
        reasons: [
          {
            code: 'entitlement.org_disabled',
            detail: 'The organisation has disabled the app.',
            hint: 'Ask an organisation admin to enable the app.',
          },
        ],
      },
      { slug: 'vllm-openai', entitled: false, launchable: false, reasons: [{ code: 'entitlement.missing' }] },
    ]);
    expect(slugsIn(await projectCatalogue({ launchable: 'true' }))).toEqual(['jupyterlab']);
    expect(slugsIn(await projectCatalogue({ launchable: 'false' }))).toEqual([
      'slurm-reference',
      'vllm-openai',
    ]);
    expect(slugsIn(await projectCatalogue({ launchable: 'false', category: 'ide' }))).toEqual([]);
  });

  test('follows an entitlement at once', async () => {
    await stock();
    const put = (enabled: boolean) =>
      world.call('PUT /api/v1/projects/{project_id}/apps/entitlements/{app_slug}', {
        params: { project_id: place.project.id, app_slug: 'vllm-openai' },
        body: { enabled },
        token: place.admin.token,
      });
    for (const enabled of [true, false, true]) {
      await put(enabled);
      expect(slugsIn(await projectCatalogue({ launchable: 'true' }))).toEqual(enabled ? ['vllm-openai'] : []);
    }
  });

  test('gives the canary to the projects named, and nothing to an archived one', async () => {
    const other = await scene.place();
    await putApp({
      slug: 'canary',
      versions: {
        '1.0.0': { status: 'active', internal: false },
        '1.1.0': {
          status: 'canary',
          internal: false,
          canary: { percent: 0, project_ids: [place.project.id] },
        },
      },
    });
    for (const { org } of [place, other]) await entitle({ org_id: org.id }, 'canary');
    expect((await projectCatalogue()).body['items']).toMatchObject([{ launch_version: '1.1.0' }]);
    expect((await projectCatalogue({}, other)).body['items']).toMatchObject([{ launch_version: '1.0.0' }]);
    await scene.archive(place.project);
    world.forgetAuthorization();
    expect((await projectCatalogue()).body['items']).toMatchObject([
      { launchable: false, entitled: true, reasons: [{ code: 'project.archived' }] },
    ]);
  });
});
