import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { boundIdOf } from '../../functions/catalog/readiness.ts';
import type { ExpectedArtifact } from '../../functions/catalog/version.ts';
import { nameArtifact } from '../../functions/artifacts/registration.ts';
import { parseYaml } from '../../functions/manifests/manifest-text.ts';
import type { Project } from '../../functions/identity/project.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Person } from '../api/scene.ts';
import { type Body, type ManifestWorld, openManifestWorld } from './manifest-world.ts';
import { DIGEST, sampleManifest } from './sample-manifest.ts';
import { flatSample, nestedSampleYaml } from './sample-manifests.ts';

const REGISTER = 'POST /api/v1/admin/apps/manifests';
const ADMIN_VALIDATE = 'POST /api/v1/admin/apps/manifests/validate';
const SUBMIT = 'POST /api/v1/projects/{project_id}/apps/manifests';
const VALIDATE = 'POST /api/v1/projects/{project_id}/apps/manifests/validate';
const REVISE = 'PUT /api/v1/projects/{project_id}/apps/submissions/{submission_id}';
const APPROVE = 'POST /api/v1/admin/apps/submissions/{submission_id}/approve';

let world: ManifestWorld;
let admin: Person;
let team: { project: Project; developer: Person };

beforeAll(async () => {
  world = await openManifestWorld();
  admin = await world.scene.platformAdmin();
  const { project, admin: developer } = await world.scene.place();
  team = { project, developer };
});
afterAll(() => world.close());

const newSlug = (): string => `app-${newId()}`.slice(0, 40);
const registry = (): string => String(process.env['REGISTRY_HOST']);
const params = () => ({ project_id: team.project.id });

/** The artifact a team registers for the app after a push, by the platform's own rules. */
const pushed = (app_slug: string, app_version: string): string =>
  nameArtifact(
    {
      app_slug,
      app_version,
      artifact_name: 'runtime',
      artifact_kind: 'oci',
      digest: DIGEST,
      channel: 'stable',
    },
    team.project,
  ).id;

const boundIn = (version: Body | undefined): (string | undefined)[] =>
  ((version?.['artifacts'] ?? []) as ExpectedArtifact[]).map((artifact) =>
    boundIdOf({ version: String(version?.['version']) }, artifact),
  );

/** A manifest with its one artifact in this repository, and its component as an image of this repository. */
function withRepository(slug: string, repository: string, image = repository): Body {
  return sampleManifest(
    { slug },
    {
      artifacts: [{ name: 'runtime', repository, digest: DIGEST }],
      runtime_profile: { kind: 'launchable_oci', image_ref: `${image}@${DIGEST}` },
    },
  );
}

async function approved(manifest: unknown): Promise<Body | undefined> {
  const { id, app_slug, app_version } = await world.done(
    world.ask(SUBMIT, team.developer, { params: params(), body: manifest }),
  );
  await world.done(world.ask(APPROVE, admin, { params: { submission_id: id }, body: {} }));
  return world.version(app_slug, app_version);
}

const pointersOf = (faults: Body[]): string[] => faults.map(({ pointer }) => String(pointer));

describe('the repository of an artifact', () => {
  test.each([
    ['in full', (slug: string) => `gpuaas/apps/${team.project.slug}/${slug}`],
    ['with the registry’s host', (slug: string) => `${registry()}/gpuaas/apps/${team.project.slug}/${slug}`],
    ['without the project', (slug: string) => `apps/${slug}`],
    ['with the artifact’s name', (slug: string) => `apps/${slug}/runtime`],
    ['with the registry’s name', (slug: string) => `registry.gpuaas.example.com/apps/${slug}`],
    ['with host and artifact', (slug: string) => `${registry()}/apps/${slug}/runtime`],
  ])('written %s binds what was pushed', async (_, nameOf) => {
    const slug = newSlug();
    const version = await approved(withRepository(slug, nameOf(slug)));
    expect(boundIn(version)).toEqual([pushed(slug, '1.0.0')]);
    const repository = `gpuaas/apps/${team.project.slug}/${slug}`;
    const { manifest } = (await world.manifest(slug, '1.0.0')) as Body;
    expect(manifest.version.artifacts[0].repository).toBe(repository);
    expect(manifest.version.runtime_profile.components[0].image_ref).toBe(`${repository}@${DIGEST}`);
  });

  test.each([
    ['of another registry', () => 'ghcr.io/somebody/something'],
    ['of a registry on a port', () => 'registry:5000/apps/mine'],
    ['of a registry on this machine', () => 'localhost/apps/mine'],
    ['of a registry whose name begins like ours', () => `${registry()}.example.net/apps/mine`],
    ['of nobody', () => 'library/python'],
    ['of another app', () => 'apps/somebody-else'],
    ['of another app in full', () => `gpuaas/apps/${team.project.slug}/somebody-else`],
    ['of a project and no app', () => `gpuaas/apps/${team.project.slug}`],
    ['of another artifact', (slug: string) => `apps/${slug}/other`],
    ['too deep', (slug: string) => `apps/${slug}/runtime/more`],
  ])('%s is refused wherever it is sent', async (_, nameOf) => {
    const slug = newSlug();
    const body = withRepository(slug, nameOf(slug));
    const at = ['/version/artifacts/0/repository', '/version/runtime_profile/image_ref'];
    const { problems, valid } = await world.done(
      world.ask(VALIDATE, team.developer, { params: params(), body }),
    );
    expect({ valid: valid as boolean, at: pointersOf(problems) }).toEqual({ valid: false, at });
    const { id } = await world.done(
      world.ask(SUBMIT, team.developer, { params: params(), body: sampleManifest() }),
    );
    const sent = [
      world
        .ask(ADMIN_VALIDATE, admin, { body })
        .then(({ body: told }) => ({ body: { errors: told['problems'], code: 'manifest.invalid' } as Body })),
      world.ask(REGISTER, admin, { body }),
      world.ask(SUBMIT, team.developer, { params: params(), body }),
      world.ask(REVISE, team.developer, { params: { ...params(), submission_id: id }, body }),
    ];
    for (const answer of await Promise.all(sent)) {
      expect(answer.body['code']).toBe('manifest.invalid');
      expect(pointersOf(answer.body['errors'])).toEqual(at);
    }
  });

  test('of another registry is told at the field that was written, with what to do', async () => {
    const ref = `docker.io/library/python@${DIGEST}`;
    const body = { ...flatSample(), artifact_ref: ref };
    const answer = await world.ask(SUBMIT, team.developer, { params: params(), body });
    expect(answer.body['errors']).toEqual([
      {
        pointer: '/artifact_ref',
        detail: 'Expected a repository of the platform’s registry; this one is in another registry.',
        hint: 'Create a publish intent, push there, and write the repository it names.',
      },
    ]);
  });

  test('of a new app without a project is refused where it leaves the project out', async () => {
    const slug = newSlug();
    const body = withRepository(slug, `apps/${slug}`);
    expect((await world.ask(REGISTER, admin, { body })).body).toMatchObject({
      code: 'manifest.invalid',
      errors: [
        { pointer: '/version/artifacts/0/repository', detail: expect.stringContaining('project') as string },
        { pointer: '/version/runtime_profile/image_ref' },
      ],
    });
    const query = { project_id: team.project.id };
    for (const route of [ADMIN_VALIDATE, REGISTER] as const) {
      const { status, text } = await world.ask(route, admin, { body, query });
      expect(status, text).toBeLessThan(300);
      expect(text).not.toContain('"valid":false');
    }
    // From now on the app itself tells whose it is.
    const next = { ...body, version: { ...body['version'], version: '1.1.0' } };
    await world.done(world.ask(REGISTER, admin, { body: next }));
    expect(boundIn(await world.version(slug, '1.1.0'))).toEqual([pushed(slug, '1.1.0')]);
  });

  test('of an app of somebody else does not tell whose it is', async () => {
    const { project: other } = await world.scene.place();
    const slug = newSlug();
    const body = withRepository(slug, `apps/${slug}`);
    await world.done(world.ask(REGISTER, admin, { body, query: { project_id: other.id } }));
    const { text, body: told } = await world.ask(VALIDATE, team.developer, { params: params(), body });
    expect(pointersOf(told['problems'])).toEqual(['/app/slug']);
    expect(text).not.toContain(other.slug);
  });

  test('is checked for the project that is to own the app, if that is there and not archived', async () => {
    const slug = newSlug();
    const { project } = await world.scene.place();
    await world.scene.archive(project);
    const codeOf = async (project_id: string) =>
      (
        await world.ask(ADMIN_VALIDATE, admin, {
          body: withRepository(slug, `apps/${slug}`),
          query: { project_id },
        })
      ).body['code'] as string;
    expect(await codeOf(newId())).toBe('project.unknown');
    expect(await codeOf(project.id)).toBe('project.archived');
  });

  test('stays what it is in a manifest that was stored before', async () => {
    const { readManifest } = await import('../../functions/manifests/manifest.ts');
    const stored = readManifest(withRepository('mine', 'ghcr.io/somebody/something')) as {
      manifest: unknown;
    };
    expect(readManifest(stored.manifest)).toEqual(stored);
  });
});

describe('the samples, as they are written', () => {
  test('in JSON, with the registry’s name', async () => {
    const slug = newSlug();
    const image = `registry.gpuaas.example.com/apps/${slug}@${DIGEST}`;
    const sample = flatSample();
    const body = {
      ...sample,
      slug,
      artifact_ref: image,
      runtime_profile: { ...sample.runtime_profile, image_ref: image },
    };
    expect(boundIn(await approved(body))).toEqual([pushed(slug, '1.4.2')]);
  });

  test('in YAML, with repositories without a project', async () => {
    const slug = newSlug();
    const yaml = nestedSampleYaml.replaceAll('slurm-reference', slug).trimEnd();
    expect(boundIn(await approved(parseYaml(`${yaml}\n      digest: ${DIGEST}\n`)))).toEqual([
      pushed(slug, '24.05.0'),
    ]);
    const validated = await world.done(
      world.ask(VALIDATE, team.developer, { params: params(), body: parseYaml(yaml) }),
    );
    expect(validated).toMatchObject({ valid: true, problems: [] });
  });

  test('under their own slugs', async () => {
    for (const body of [flatSample(), parseYaml(nestedSampleYaml)])
      expect(await world.done(world.ask(VALIDATE, team.developer, { params: params(), body }))).toMatchObject(
        { valid: true, problems: [] },
      );
  });
});
