import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSIONS_MAX } from '../../functions/catalog/app.ts';
import { digestManifest } from '../../functions/manifests/digest-manifest.ts';
import { appKey, catalogHeadKey, versionKey } from '../../functions/catalog/keys.ts';
import { subjectOfPromotion } from '../../functions/catalog/version-promotion.ts';
import { promotionKey } from '../../functions/promotion/keys.ts';
import { readManifest } from '../../functions/manifests/manifest.ts';
import { planRegistration } from '../../functions/manifests/registration.ts';
import { saveRegistration } from '../../functions/manifests/registration-store.ts';
import { requireManifest } from '../../functions/manifests/sent-manifest.ts';
import { commit } from '../../functions/platform/data/commit.ts';
import { newId } from '../../functions/platform/ids.ts';
import { buildOpenapi } from '../../lib/openapi.ts';
import type { Person } from '../api/scene.ts';
import { type Body, type ManifestWorld, openManifestWorld } from './manifest-world.ts';
import { DIGEST, onBackend, sampleManifest } from './sample-manifest.ts';

const REGISTER = 'POST /api/v1/admin/apps/manifests';
const VALIDATE = 'POST /api/v1/admin/apps/manifests/validate';
const PROJECT_VALIDATE = 'POST /api/v1/projects/{project_id}/apps/manifests/validate';

let world: ManifestWorld;
let admin: Person;

beforeAll(async () => {
  world = await openManifestWorld();
  admin = await world.scene.platformAdmin();
});
afterAll(() => world.close());

type Sample = ReturnType<typeof sampleManifest>;
const slugOf = ({ app }: Sample): string => String(app['slug']);

const register = (body: unknown, query?: Record<string, string>) =>
  world.ask(REGISTER, admin, { body, ...(query && { query }) });

describe('registering a manifest', () => {
  test('makes the app, the version in draft and its manifest by one transaction', async () => {
    const { project } = await world.scene.place();
    const sent = sampleManifest();
    const slug = slugOf(sent);
    const head = await world.world.get(catalogHeadKey());
    await register(sampleManifest());
    const answer = await register(sent, { project_id: project.id });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.headers['location']).toBe(`/api/v1/apps/catalog/${slug}/versions/1.0.0`);
    expect(answer.body).toMatchObject({ app_slug: slug, version: '1.0.0', status: 'draft', internal: false });
    expect(answer.body).not.toHaveProperty('registered_by');

    const owner = { org_id: project.org_id, project_id: project.id };
    expect(await world.app(slug)).toMatchObject({
      display_name: 'A sample',
      owner,
      versions: { '1.0.0': { status: 'draft', internal: false } },
      revision: 1,
    });
    expect(await world.version(slug, '1.0.0')).toMatchObject({
      status: 'draft',
      owner,
      artifacts: [{ name: 'runtime', digest: DIGEST }],
      manifest_digest: answer.body['manifest_digest'],
      registered_by: `user:${admin.id}`,
    });
    expect(await world.manifest(slug, '1.0.0')).toMatchObject({
      digest: answer.body['manifest_digest'],
      manifest: { schema_version: 1, app: { slug }, version: { version: '1.0.0' } },
    });
    const after = await world.world.get(catalogHeadKey());
    expect(after?.['revision']).toBe(Number(head?.['revision'] ?? 0) + 2);

    expect(await world.audit(project.id), 'told where the app belongs').toMatchObject([
      {
        action: 'manifests.manifest.register',
        subject: `app_version:${slug}@1.0.0`,
        after: { status: 'draft' },
        ...owner,
      },
    ]);
    expect((await world.audit(project.id))[0]).not.toHaveProperty('before');
    expect(await world.events(project.id)).toMatchObject([
      { type: 'apps.version.registered', data: { app_slug: slug, app_version: '1.0.0', status: 'draft' } },
    ]);
  });

  test('without a project makes an app of the platform, which no project can claim', async () => {
    const { project } = await world.scene.place();
    const sent = sampleManifest();
    expect((await register(sent)).status).toBe(201);
    expect(await world.app(slugOf(sent))).not.toHaveProperty('owner');
    const { body } = await register(sent, { project_id: project.id });
    expect(body['code']).toBe('app.slug_taken');
  });

  test('of a project’s app needs no project named, and leaves the app to its owner', async () => {
    const { project } = await world.scene.place();
    const sent = sampleManifest();
    await world.done(register(sent, { project_id: project.id }));
    await world.done(register({ ...sent, version: { ...sent.version, version: '1.1.0' } }));
    const app = await world.app(slugOf(sent));
    expect(app).toMatchObject({ owner: { project_id: project.id }, revision: 2 });
    expect(Object.keys(app?.['versions'] as Body).sort()).toEqual(['1.0.0', '1.1.0']);
    expect(await world.version(slugOf(sent), '1.1.0')).toMatchObject({ owner: { project_id: project.id } });
    expect(await world.audit(project.id)).toHaveLength(2);
  });

  test('says the same of JSON and YAML, in whatever order', async () => {
    const sent = sampleManifest();
    const first = await world.done(register(sent));
    const yaml = [
      'version:',
      '  artifacts:',
      `    - repository: gpuaas/apps/sample/${slugOf(sent)}`,
      `      digest: ${DIGEST}`,
      '      artifact_kind: oci',
      '      name: runtime',
      '  release_notes: The first one.',
      '  version: 1.0.0',
      '  runtime_profile: { artifact: runtime, kind: launchable_oci }',
      'app:',
      ...Object.entries(sent.app)
        .toReversed()
        .map(([name, value]) => `  ${name}: ${String(value)}`),
    ].join('\n');
    for (const type of ['application/yaml', 'text/x-yaml; charset=utf-8']) {
      const again = await world.ask(REGISTER, admin, { body: yaml, headers: { 'content-type': type } });
      expect(again.status, again.text).toBe(201);
      expect(again.body['manifest_digest']).toBe(first['manifest_digest']);
    }
  });

  test('refuses a manifest with everything that is wrong with it, and where', async () => {
    const sent = sampleManifest(
      { slug: 'Not A Slug', category: 'nothing' },
      { version: 'latest', artifacts: [{ name: 'runtime', digest: 'latest' }] },
    );
    const { status, body } = await register(sent);
    expect({ status, code: body['code'] as string }).toEqual({ status: 400, code: 'manifest.invalid' });
    const pointers = (body['errors'] as Body[]).map(({ pointer }) => pointer as string);
    expect(pointers).toEqual(expect.arrayContaining(['/app/slug', '/app/category', '/version/version']));
    const digest = (body['errors'] as Body[]).find(
      ({ pointer }) => pointer === '/version/artifacts/0/digest',
    );
    expect(digest?.['hint'], 'and what to do about it').toContain('registry');
  });

  test('refuses text that is no manifest at all', async () => {
    const yaml = { 'content-type': 'application/yaml' };
    const codeOf = async (body: string, headers?: Record<string, string>) =>
      (await world.ask(REGISTER, admin, { body, ...(headers && { headers }) })).body['code'] as string;
    expect(await codeOf('a: [', yaml)).toBe('manifest.malformed');
    expect(await codeOf('{')).toBe('request.malformed');
    expect(await codeOf('[1]', yaml)).toBe('manifest.invalid');
    expect(await codeOf('just words', yaml)).toBe('manifest.invalid');
    expect(await codeOf('', yaml)).toBe('manifest.invalid');
    expect(await codeOf('null')).toBe('manifest.invalid');
    expect(await codeOf('{}', { 'content-type': 'text/plain' })).toBe('request.media_type');
  });

  test('refuses a project that is not there, or archived', async () => {
    const { project } = await world.scene.place();
    const codeOf = async (project_id: string) =>
      (await register(sampleManifest(), { project_id })).body['code'] as string;
    expect(await codeOf(newId())).toBe('project.unknown');
    await world.scene.archive(project);
    expect(await codeOf(project.id)).toBe('project.archived');
  });

  test('refuses another backend for an app that has one', async () => {
    const sent = sampleManifest();
    await world.done(register(sent));
    const moved = onBackend({ ...sent, version: { version: '2.0.0' } }, 'bare_metal');
    expect((await register(moved)).body['code']).toBe('app.backend_fixed');
  });

  test('refuses more versions than one app may have; retired ones do not count', async () => {
    const sent = sampleManifest();
    await world.done(register(sent));
    const versions = Object.fromEntries(
      Array.from({ length: VERSIONS_MAX }, (_, index) => [
        `0.${index}.0`,
        { status: 'draft', internal: false },
      ]),
    );
    await world.world.set(appKey(slugOf(sent)), 'versions', versions);
    const more = { ...sent, version: { ...sent.version, version: '2.0.0' } };
    expect((await register(more)).body['code']).toBe('app.too_many_versions');
    delete versions['0.0.0'];
    await world.world.set(appKey(slugOf(sent)), 'versions', versions);
    expect((await register(more)).status).toBe(201);
  });

  test('keeps the deepest manifest that is good, and gives it back as it was', async () => {
    const nest = (levels: number): Body =>
      levels === 0
        ? { type: 'integer', maximum: Number.MAX_SAFE_INTEGER, minimum: -0.1 }
        : { type: 'object', properties: { inner: nest(levels - 1) } };
    const deep = (levels: number) => sampleManifest({}, { parameters: nest(levels) });
    const isGood = (levels: number): boolean => 'manifest' in readManifest(deep(levels));
    let levels = 1;
    while (isGood(levels + 1)) levels += 1;
    expect(levels).toBeGreaterThan(1);
    const sent = deep(levels);
    const answer = await register(sent);
    expect(answer.status, answer.text).toBe(201);
    expect(await world.manifest(slugOf(sent), '1.0.0')).toMatchObject(readManifest(sent));
  });

  test('takes the example the API’s description gives', async () => {
    const { paths } = buildOpenapi();
    const { post } = paths['/api/v1/admin/apps/manifests'] as Record<string, Body>;
    const example: Body = post?.['requestBody'].content['application/json'].example;
    const answer = await register({ ...example, app: { ...example['app'], slug: slugOf(sampleManifest()) } });
    expect(answer.status, answer.text).toBe(201);
  });

  test('with one key twice is once', async () => {
    const asking = { body: sampleManifest(), headers: { 'x-idempotency-key': newId() } };
    const first = await world.ask(REGISTER, admin, asking);
    const again = await world.ask(REGISTER, admin, asking);
    expect(again.body).toEqual(first.body);
    expect(await world.app(String(first.body['app_slug']))).toMatchObject({ revision: 1 });
  });
});

describe('a version that is registered again', () => {
  test('is replaced while it is a draft, and what is said of the app follows', async () => {
    const { project } = await world.scene.place();
    const sent = sampleManifest();
    const first = await world.done(register(sent, { project_id: project.id }));
    const changed = {
      app: { ...sent.app, display_name: 'A better name' },
      version: { ...sent.version, release_notes: 'Rewritten.', internal_testing: true },
    };
    const second = await world.done(register(changed));
    expect(second).toMatchObject({
      release_notes: 'Rewritten.',
      internal: true,
      created_at: first['created_at'],
    });
    expect(second['manifest_digest']).not.toBe(first['manifest_digest']);
    const slug = slugOf(sent);
    expect(await world.app(slug)).toMatchObject({
      display_name: 'A better name',
      versions: { '1.0.0': { status: 'draft', internal: true } },
      revision: 2,
    });
    expect(await world.manifest(slug, '1.0.0')).toMatchObject({
      digest: second['manifest_digest'],
      manifest: { version: { release_notes: 'Rewritten.' } },
    });
    expect((await world.audit(project.id))[1]).toMatchObject({
      before: { status: 'draft', manifest_digest: first['manifest_digest'] },
      after: { status: 'draft', manifest_digest: second['manifest_digest'] },
    });
  });

  test.each(['staged', 'canary', 'active', 'deprecated', 'retired'])(
    'is refused once it is %s',
    async (status) => {
      const sent = sampleManifest();
      await world.done(register(sent));
      await world.world.set(versionKey(slugOf(sent), '1.0.0'), 'status', status);
      expect((await register(sent)).body).toMatchObject({
        code: 'version.exists',
        detail: expect.stringContaining(status) as string,
      });
    },
  );

  test('is refused while a promotion of it runs, and taken again when that has ended', async () => {
    const sent = sampleManifest();
    await world.done(register(sent));
    const key = promotionKey(subjectOfPromotion(slugOf(sent), '1.0.0'));
    await world.world.put({ ...key, status: 'running' });
    expect((await register(sent)).body['code']).toBe('promotion.in_progress');
    await world.world.put({ ...key, status: 'failed' });
    expect((await register(sent)).status).toBe(201);
  });

  test('is refused under another spelling: two ways to write it are not two versions', async () => {
    const sent = sampleManifest({}, { version: '24.05.0' });
    await world.done(register(sent));
    for (const version of ['24.5', '24.5.0', '24.05.0+build.2']) {
      const { body } = await register({ ...sent, version: { ...sent.version, version } });
      expect(body, version).toMatchObject({
        code: 'version.exists',
        detail: expect.stringContaining('24.05.0') as string,
      });
    }
    expect((await register(sent)).status).toBe(201);
  });

  test('is not replaced when a promotion begins, or the version moves on, between looking and writing', async () => {
    const sent = sampleManifest();
    const slug = slugOf(sent);
    await world.done(register(sent));
    const manifest = requireManifest(sent);
    const registered = {
      app: (await world.app(slug)) as never,
      version: (await world.version(slug, '1.0.0')) as never,
    };
    const by = { actor: 'user:somebody' };
    const planned = planRegistration(manifest, digestManifest(manifest), registered, by, new Date());
    const writing = () => commit(saveRegistration(registered, planned, manifest));
    await world.world.put({ ...promotionKey(subjectOfPromotion(slug, '1.0.0')), status: 'running' });
    await expect(writing()).rejects.toMatchObject({ name: 'Conflict' });
    await world.world.put({ ...promotionKey(subjectOfPromotion(slug, '1.0.0')), status: 'succeeded' });
    await world.world.set(versionKey(slug, '1.0.0'), 'status', 'staged');
    await expect(writing()).rejects.toMatchObject({ name: 'Conflict' });
    await world.world.set(versionKey(slug, '1.0.0'), 'status', 'draft');
    await expect(writing()).resolves.toBeUndefined();
  });
});

describe('a race', () => {
  test('of ten projects for one slug gives it to one of them', async () => {
    const places = await Promise.all(Array.from({ length: 10 }, () => world.scene.place()));
    const sent = sampleManifest();
    const answers = await Promise.all(
      places.map(({ project }) => register(sent, { project_id: project.id })),
    );
    const codes = answers.map(({ status, body }) => (status === 201 ? 'taken' : String(body['code'])));
    expect(codes.filter((code) => code === 'taken')).toHaveLength(1);
    expect(new Set(codes)).toEqual(new Set(['taken', 'app.slug_taken']));
    const winner = places[codes.indexOf('taken')]?.project.id;
    expect(await world.app(slugOf(sent))).toMatchObject({ owner: { project_id: winner }, revision: 1 });
  });

  test('of versions of one app loses none that was accepted', async () => {
    const sent = sampleManifest();
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        register({ ...sent, version: { ...sent.version, version: `1.${index}.0` } }),
      ),
    );
    const accepted = answers
      .filter(({ status }) => status === 201)
      .map(({ body }) => String(body['version']));
    expect(accepted.length).toBeGreaterThan(0);
    for (const { status, body } of answers.filter((each) => each.status !== 201))
      expect({ status, retryable: body['retryable'] as boolean }).toEqual({ status: 409, retryable: true });
    const app = await world.app(slugOf(sent));
    expect(Object.keys(app?.['versions'] as Body).sort()).toEqual(accepted.sort());
    expect(app?.['revision']).toBe(accepted.length);
  });
});

describe('a dry run', () => {
  test('shows the manifest as it would be kept, and changes nothing', async () => {
    const sent = sampleManifest();
    const answer = await world.ask(VALIDATE, admin, { body: sent });
    expect(answer.status, answer.text).toBe(200);
    expect(answer.body).toMatchObject({
      valid: true,
      problems: [],
      manifest: { schema_version: 1, app: { slug: slugOf(sent) } },
    });
    expect(await world.app(slugOf(sent))).toBeUndefined();
  });

  test('needs no idempotency key, takes YAML, and tells every problem of the schema at once', async () => {
    const { project, admin: person } = await world.scene.place();
    const { status, body } = await world.world.call(PROJECT_VALIDATE, {
      params: { project_id: project.id },
      token: person.token,
      body: 'app: { slug: "A B", display_name: 7 }\nversion: { version: new }',
      headers: { 'content-type': 'text/yaml' },
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ valid: false });
    expect(body).not.toHaveProperty('manifest');
    const pointers = (body as Body)['problems'].map(({ pointer }: Body) => pointer as string);
    expect(pointers).toEqual(expect.arrayContaining(['/app/slug', '/app/display_name', '/version/version']));
  });

  test('tells a project what submitting would meet: a slug that is taken, and nothing else of that app', async () => {
    const { project, admin: person } = await world.scene.place();
    const sent = sampleManifest();
    await world.done(register(sent));
    const other = onBackend(sent, 'bare_metal');
    const { body } = await world.ask(PROJECT_VALIDATE, person, {
      params: { project_id: project.id },
      body: other,
    });
    expect(body['valid']).toBe(false);
    expect(body['problems']).toMatchObject([
      { pointer: '/app/slug', hint: expect.stringContaining('another slug') as string },
    ]);
  });

  test('tells the owner of a version that exists and a backend that is fixed', async () => {
    const { project, admin: person } = await world.scene.place();
    const sent = sampleManifest();
    await world.done(register(sent, { project_id: project.id }));
    await world.world.set(versionKey(slugOf(sent), '1.0.0'), 'status', 'staged');
    const other = onBackend(sent, 'bare_metal');
    const { body } = await world.ask(PROJECT_VALIDATE, person, {
      params: { project_id: project.id },
      body: other,
    });
    const pointers = (body['problems'] as Body[]).map(({ pointer }) => pointer as string);
    expect(pointers).toEqual(['/app/runtime_backend', '/version/version']);
  });
});
