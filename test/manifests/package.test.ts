import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { VERSIONS_MAX } from '../../functions/catalog/app.ts';
import { appKey, versionKey } from '../../functions/catalog/keys.ts';
import { PACKAGE_VERSIONS_MAX } from '../../functions/manifests/manifest-schema.ts';
import type { Project } from '../../functions/identity/project.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Person } from '../api/scene.ts';
import { type Body, type ManifestWorld, openManifestWorld } from './manifest-world.ts';
import { DIGEST, sampleManifest } from './sample-manifest.ts';

const REGISTER = 'POST /api/v1/admin/apps/manifests';
const VALIDATE = 'POST /api/v1/admin/apps/manifests/validate';
const SUBMIT = 'POST /api/v1/projects/{project_id}/apps/manifests';
const PROJECT_VALIDATE = 'POST /api/v1/projects/{project_id}/apps/manifests/validate';
const REVISE = 'PUT /api/v1/projects/{project_id}/apps/submissions/{submission_id}';
const APPROVE = 'POST /api/v1/admin/apps/submissions/{submission_id}/approve';

let world: ManifestWorld;
let admin: Person;
let project: Project;
let developer: Person;

beforeAll(async () => {
  world = await openManifestWorld();
  admin = await world.scene.platformAdmin();
  ({ project, admin: developer } = await world.scene.place());
});
afterAll(() => world.close());

/** An app with a version for each of these, as a list. */
function packageOf(versions: Body[], app: Body = {}): Body {
  const { app: same } = sampleManifest(app);
  return { app: same, versions: versions.map((version) => sampleManifest(same, version).version) };
}

const numbered = (...numbers: string[]): Body[] => numbers.map((version) => ({ version }));
const inProject = () => ({ params: { project_id: project.id } });
const register = (body: unknown) => world.ask(REGISTER, admin, { body });
const versionsOf = async (slug: string): Promise<string[]> =>
  Object.keys((await world.app(slug))?.['versions'] ?? {}).sort();
const numbersIn = (items: Body[], member: string): string[] => items.map((item) => String(item[member]));

describe('a manifest with several versions', () => {
  test('registers each by itself, all at once, and answers with all of them', async () => {
    const { project: own } = await world.scene.place();
    const body = packageOf(numbered('1.0.0', '1.1.0', '2.0.0-rc.1'));
    const slug = String(body['app'].slug);
    const answer = await world.ask(REGISTER, admin, { body, query: { project_id: own.id } });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.headers['location']).toBe(`/api/v1/apps/catalog/${slug}`);
    expect(Object.keys(answer.body)).toEqual(['app_slug', 'versions']);
    expect(numbersIn(answer.body['versions'], 'version')).toEqual(['1.0.0', '1.1.0', '2.0.0-rc.1']);
    expect(await world.app(slug)).toMatchObject({ revision: 1 });
    expect(await versionsOf(slug)).toEqual(['1.0.0', '1.1.0', '2.0.0-rc.1']);
    for (const { version, manifest_digest } of answer.body['versions']) {
      expect(await world.version(slug, version)).toMatchObject({ status: 'draft', manifest_digest });
      expect(await world.manifest(slug, version)).toMatchObject({
        digest: manifest_digest,
        manifest: { app: { slug }, version: { version } },
      });
    }
    const subjects = (await world.audit(own.id)).map(({ subject }) => String(subject)).sort();
    expect(subjects).toEqual(
      ['1.0.0', '1.1.0', '2.0.0-rc.1'].map((version) => `app_version:${slug}@${version}`),
    );
    expect((await world.events(own.id)).map(({ type }) => String(type))).toEqual(
      Array.from({ length: 3 }, () => 'apps.version.registered'),
    );
  });

  test('says the same as one manifest for each, in both spellings', async () => {
    const { app, versions } = packageOf(numbered('1.0.0', '1.1.0'));
    const { body: nested } = await register({ app, versions });
    const { body: flat } = await register({ ...app, versions });
    const { body: one } = await register({ app, version: versions[1] });
    expect(flat).toMatchObject({ app_slug: nested['app_slug'] as string });
    const digests = numbersIn(nested['versions'], 'manifest_digest');
    expect(numbersIn(flat['versions'], 'manifest_digest')).toEqual(digests);
    expect(one['manifest_digest']).toBe(digests[1]);
  });

  test('of one version in a list is answered with a list', async () => {
    expect((await register(packageOf(numbered('1.0.0')))).body['versions']).toHaveLength(1);
  });

  test('may have as many versions as one request takes, large ones, with drafts to replace', async () => {
    const slug = newId().padEnd(40, 'x');
    const artifacts = Array.from({ length: 50 }, (_, index) => ({
      name: `artifact-${index}`.padEnd(40, 'x'),
      variant: 'v'.repeat(40),
      repository: `gpuaas/apps/sample/${slug}`,
      digest: DIGEST,
    }));
    const versions = Array.from({ length: PACKAGE_VERSIONS_MAX }, (_, index) => ({
      version: `1.${index}.0`,
      release_notes: 'n'.repeat(10_000),
      artifacts: [{ name: 'runtime' }, ...artifacts.slice(1)],
    }));
    const body = packageOf(versions, { slug });
    for (const revision of [1, 2]) {
      const { status, text } = await register(body);
      expect(status, text).toBe(201);
      expect(await world.app(String(body['app'].slug))).toMatchObject({ revision });
    }
  });

  test('with one key twice is once', async () => {
    const asking = {
      body: packageOf(numbered('1.0.0', '1.1.0')),
      headers: { 'x-idempotency-key': newId() },
    };
    const first = await world.ask(REGISTER, admin, asking);
    expect((await world.ask(REGISTER, admin, asking)).body).toEqual(first.body);
    expect(await world.app(String(first.body['app_slug']))).toMatchObject({ revision: 1 });
  });

  test('is submitted as one submission for each, of which each is approved by itself', async () => {
    const body = packageOf(numbered('1.0.0', '1.1.0'));
    const answer = await world.ask(SUBMIT, developer, { ...inProject(), body });
    expect(answer.status, answer.text).toBe(201);
    expect(answer.headers['location']).toBe(`/api/v1/projects/${project.id}/apps/submissions`);
    expect(answer.headers).not.toHaveProperty('etag');
    const { submissions } = answer.body;
    expect(numbersIn(submissions, 'app_version')).toEqual(['1.0.0', '1.1.0']);
    const slug = String(body['app'].slug);
    expect(await world.app(slug)).toBeUndefined();
    await world.done(world.ask(APPROVE, admin, { params: { submission_id: submissions[1].id }, body: {} }));
    expect(await versionsOf(slug)).toEqual(['1.1.0']);
    await world.done(world.ask(APPROVE, admin, { params: { submission_id: submissions[0].id }, body: {} }));
    expect(await versionsOf(slug)).toEqual(['1.0.0', '1.1.0']);
    const told = (await world.audit(project.id)).map(({ subject }) => String(subject));
    for (const { id } of submissions) expect(told).toContain(`submission:${id}`);
  });

  test('does not revise a submission, which is about one', async () => {
    const { id } = await world.done(world.ask(SUBMIT, developer, { ...inProject(), body: sampleManifest() }));
    const params = { project_id: project.id, submission_id: id };
    expect(
      (await world.ask(REVISE, developer, { params, body: packageOf(numbered('1.0.0')) })).body,
    ).toMatchObject({ code: 'manifest.invalid', errors: [{ pointer: '/versions' }] });
  });

  test('is validated without changing anything', async () => {
    const body = packageOf(numbered('1.0.0', '1.1.0'));
    for (const answer of [
      await world.done(world.ask(VALIDATE, admin, { body })),
      await world.done(world.ask(PROJECT_VALIDATE, developer, { ...inProject(), body })),
    ]) {
      expect(answer).toMatchObject({
        valid: true,
        problems: [],
        manifests: [{ version: { version: '1.0.0' } }, { version: { version: '1.1.0' } }],
      });
      expect(answer).not.toHaveProperty('manifest');
    }
    expect(await world.app(String(body['app'].slug))).toBeUndefined();
  });

  const { app, version } = sampleManifest();
  test.each<[string, Body, string[]]>([
    ['no version', { app, versions: [] }, ['/versions']],
    ['too many', { app, versions: Array.from({ length: 11 }, () => version) }, ['/versions']],
    ['no list', { app, versions: version }, ['/versions']],
    ['version as well', { app, version, versions: [version] }, ['/version']],
    ['something that is no version', { app, versions: [version, 7] }, ['/versions/1']],
    ['a number twice', { app, versions: [version, { ...version }] }, ['/versions/1/version']],
    [
      'a number in two spellings',
      { app, versions: [version, { ...version, version: '1.0' }] },
      ['/versions/1/version'],
    ],
    [
      'faults in each',
      {
        app: { ...app, category: 'nothing' },
        versions: [
          { ...version, internal_testing: 'yes' },
          { ...version, version: '2.0.0', metering: { kind: 'app_units' } },
        ],
      },
      ['/app/category', '/versions/0/internal_testing', '/versions/1/metering/units'],
    ],
    [
      'fields of a version beside the list, in the flat spelling',
      { ...app, release_notes: 'New.', versions: [version] },
      ['/release_notes'],
    ],
    [
      'faults in the flat spelling',
      { ...app, category: 'nothing', versions: [{ ...version, metering: 7 }] },
      ['/category', '/versions/0/metering'],
    ],
    [
      'a registry of somebody else',
      {
        app,
        versions: [
          version,
          { ...version, version: '2.0.0', artifacts: [{ name: 'runtime', repository: 'ghcr.io/x/y' }] },
        ],
      },
      ['/versions/1/artifacts/0/repository'],
    ],
  ])('is refused whole with %s', async (_, body, pointers) => {
    for (const asking of [register(body), world.ask(SUBMIT, developer, { ...inProject(), body })]) {
      const answer = await asking;
      expect(answer.body['code'], answer.text).toBe('manifest.invalid');
      expect(numbersIn(answer.body['errors'], 'pointer')).toEqual(pointers);
    }
    const { problems } = await world.done(world.ask(VALIDATE, admin, { body }));
    expect(numbersIn(problems, 'pointer')).toEqual(pointers);
    expect(await world.app(String(app['slug']))).toBeUndefined();
  });

  test('registers none where one of them cannot be', async () => {
    const body = packageOf(numbered('1.0.0', '1.1.0'));
    const slug = String(body['app'].slug);
    await world.done(register({ ...body, versions: [body['versions'][1]] }));
    await world.world.set(versionKey(slug, '1.1.0'), 'status', 'staged');
    expect((await register(body)).body).toMatchObject({ code: 'version.exists' });
    expect(await versionsOf(slug)).toEqual(['1.1.0']);
    const { valid, problems } = await world.done(world.ask(VALIDATE, admin, { body }));
    expect(valid).toBe(false);
    expect(numbersIn(problems, 'pointer')).toEqual(['/versions/1/version']);
  });

  test('counts its own versions among those an app may have', async () => {
    const body = packageOf(numbered('1.0.0', '1.1.0'));
    const slug = String(body['app'].slug);
    await world.done(register({ ...body, versions: [{ ...body['versions'][0], version: '0.1.0' }] }));
    const entries = Array.from({ length: VERSIONS_MAX - 1 }, (_, index) => [
      `0.0.${index}`,
      { status: 'draft', internal: false },
    ]);
    await world.world.set(appKey(slug), 'versions', Object.fromEntries(entries));
    expect((await register(body)).body['code']).toBe('app.too_many_versions');
  });

  test('has one backend', async () => {
    const { app: whole, version } = sampleManifest();
    const { runtime_backend: _backend, ...app } = whole as Body;
    const body = {
      app,
      versions: [
        version,
        {
          version: '2.0.0',
          artifacts: version['artifacts'],
          runtime_profile: { kind: 'docker_compose', artifact: 'runtime' },
        },
      ],
    };
    expect((await register(body)).body['code']).toBe('app.backend_fixed');
  });

  test('of somebody else’s app is told once', async () => {
    const { slug } = await world.scene.app();
    const body = packageOf(numbered('7.0.0', '7.1.0'), { slug });
    const { problems } = await world.done(
      world.ask(PROJECT_VALIDATE, developer, {
        ...inProject(),
        body: { ...body['app'], versions: body['versions'] },
      }),
    );
    expect(numbersIn(problems, 'pointer')).toEqual(['/slug']);
  });
});
