import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { versionKey } from '../../functions/catalog/keys.ts';
import type { Project } from '../../functions/identity/project.ts';
import type { Person } from '../api/scene.ts';
import { type Body, type ManifestWorld, openManifestWorld } from '../manifests/manifest-world.ts';
import { sampleManifest } from '../manifests/sample-manifest.ts';
import { stageVersion } from './released.ts';

const REGISTER = 'POST /api/v1/admin/apps/manifests';
const LIST = 'GET /api/v1/apps/catalog/{app_slug}/versions';
const ONE = 'GET /api/v1/apps/catalog/{app_slug}/versions/{version}';
const DIFF = 'GET /api/v1/apps/catalog/{app_slug}/versions/{version}/diff/{other_version}';

let world: ManifestWorld;
let admin: Person;
let anybody: Person;

beforeAll(async () => {
  world = await openManifestWorld();
  admin = await world.scene.platformAdmin();
  anybody = await world.scene.person();
});
afterAll(() => world.close());

/** An app's versions, staged, those ending in `!` for internal testing; answers with its slug. */
async function newApp(owner: Project | undefined, versions: string[]): Promise<string> {
  const { app, version: sample } = sampleManifest();
  for (const each of versions) {
    const version = { ...sample, version: each.replace('!', ''), internal_testing: each.endsWith('!') };
    const query = owner && { project_id: owner.id };
    await world.done(world.ask(REGISTER, admin, { body: { app, version }, ...(query && { query }) }));
    await stageVersion(String(app['slug']), version.version);
  }
  return String(app['slug']);
}

async function list(as: Person, app_slug: string, limit = 50): Promise<string[]> {
  const versions: string[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const query = { limit: String(limit), ...(cursor && { cursor }) };
    const page: Body = await world.done(world.ask(LIST, as, { params: { app_slug }, query }));
    versions.push(...page['items'].map(({ version }: Body) => version as string));
    cursor = page['next_cursor'] as string | null;
  }
  return versions;
}

const codeOf = async (answering: Promise<{ body: Body }>): Promise<string> =>
  String((await answering).body['code']);

describe('the versions of an app', () => {
  test('are listed newest first, as versions compare and not as text', async () => {
    const slug = await newApp(undefined, ['1.2.0', '1.10.0', '1.9.0', '2.0.0-rc.10', '2.0.0-rc.9', '2.0.0']);
    const newestFirst = ['2.0.0', '2.0.0-rc.10', '2.0.0-rc.9', '1.10.0', '1.9.0', '1.2.0'];
    expect(await list(anybody, slug)).toEqual(newestFirst);
    for (const limit of [1, 2, 4, 6]) expect(await list(anybody, slug, limit)).toEqual(newestFirst);
  });

  test('show what each is, and nothing of who uses it', async () => {
    const slug = await newApp(undefined, ['1.0.0']);
    const page = await world.done(world.ask(LIST, anybody, { params: { app_slug: slug } }));
    expect(Object.keys(page['items'][0]).sort()).toEqual([
      'app_slug',
      'artifacts',
      'created_at',
      'internal',
      'manifest_digest',
      'release_notes',
      'status',
      'updated_at',
      'version',
    ]);
  });

  test('for internal testing are there for their publisher alone', async () => {
    const { project, admin: publisher } = await world.scene.place();
    const { admin: other } = await world.scene.place();
    const slug = await newApp(project, ['1.0.0', '2.0.0!', '3.0.0!', '1.5.0']);
    const all = ['3.0.0', '2.0.0', '1.5.0', '1.0.0'];
    for (const limit of [1, 2, 50]) {
      expect(await list(publisher, slug, limit)).toEqual(all);
      expect(await list(admin, slug, limit)).toEqual(all);
      expect(await list(other, slug, limit), 'and no page is shorter for it').toEqual(['1.5.0', '1.0.0']);
    }
    const first = await world.done(
      world.ask(LIST, other, { params: { app_slug: slug }, query: { limit: '1' } }),
    );
    expect(Buffer.from(String(first['next_cursor']), 'base64url').toString()).toContain('000000005');
    const params = { app_slug: slug, version: '2.0.0' };
    expect((await world.ask(ONE, publisher, { params })).status).toBe(200);
    expect(await codeOf(world.ask(ONE, other, { params }))).toBe('version.unknown');
    const between = { app_slug: slug, version: '1.0.0', other_version: '3.0.0' };
    expect((await world.ask(DIFF, publisher, { params: between })).status).toBe(200);
    expect(await codeOf(world.ask(DIFF, other, { params: between }))).toBe('version.unknown');
  });

  test('of an app with nothing to see are those of one that is not there', async () => {
    const { project } = await world.scene.place();
    const hidden = await newApp(project, ['1.0.0!']);
    const absent = hidden.slice(0, -1).concat('-x').slice(-40).replace(/^-+/, '');
    for (const app_slug of [hidden, absent]) {
      expect(await codeOf(world.ask(LIST, anybody, { params: { app_slug } }))).toBe('app.unknown');
      expect(await codeOf(world.ask(ONE, anybody, { params: { app_slug, version: '1.0.0' } }))).toBe(
        'app.unknown',
      );
      const params = { app_slug, version: '1.0.0', other_version: '1.0.0' };
      expect(await codeOf(world.ask(DIFF, anybody, { params }))).toBe('app.unknown');
    }
  });

  test('stay listed when they are retired', async () => {
    const slug = await newApp(undefined, ['1.0.0', '2.0.0']);
    await world.world.set(versionKey(slug, '1.0.0'), 'status', 'retired');
    expect(await list(anybody, slug)).toEqual(['2.0.0', '1.0.0']);
  });

  test('refuse a cursor they never gave out', async () => {
    const slug = await newApp(undefined, ['1.0.0']);
    for (const text of ['APP#other', 'VERSION#', `MANIFEST#${'0'.repeat(9)}`, 'VERSION#1.0.0']) {
      const query = { cursor: Buffer.from(text).toString('base64url') };
      expect(await codeOf(world.ask(LIST, anybody, { params: { app_slug: slug }, query }))).toBe(
        'request.invalid',
      );
    }
  });
});

describe('a version', () => {
  test('is shown with its manifest, under any of its spellings', async () => {
    const slug = await newApp(undefined, ['24.05.0']);
    const found = await world.done(
      world.ask(ONE, anybody, { params: { app_slug: slug, version: '24.05.0' } }),
    );
    expect(found).toMatchObject({
      version: '24.05.0',
      status: 'staged',
      manifest: { schema_version: 1, app: { slug }, version: { version: '24.05.0' } },
    });
    const other = await world.done(world.ask(ONE, anybody, { params: { app_slug: slug, version: '24.5' } }));
    expect(other).toEqual(found);
  });

  test('that is not there is unknown', async () => {
    const slug = await newApp(undefined, ['1.0.0']);
    const params = { app_slug: slug, version: '9.9.9' };
    expect(await codeOf(world.ask(ONE, anybody, { params }))).toBe('version.unknown');
    expect(await codeOf(world.ask(ONE, anybody, { params: { ...params, version: 'latest' } }))).toBe(
      'request.invalid',
    );
  });

  test('with build metadata is found where its Location says', async () => {
    const { app, version } = sampleManifest({}, { version: '1.0.0+build.7' });
    const made = await world.ask(REGISTER, admin, { body: { app, version } });
    const path = String(made.headers['location']).split('/');
    const params = { app_slug: String(path.at(-3)), version: decodeURIComponent(String(path.at(-1))) };
    expect((await world.ask(ONE, admin, { params })).body).toMatchObject({ version: '1.0.0+build.7' });
  });
});

describe('the difference between two versions', () => {
  test('tells what changes, from the first to the second', async () => {
    const { app, version } = sampleManifest();
    const parameters = (names: string[]) => ({
      type: 'object',
      properties: Object.fromEntries(names.map((name) => [name, { type: 'string', maxLength: 10 }])),
    });
    for (const [number, names] of [
      ['1.0.0', ['colour', 'size']],
      ['2.0.0', ['colour']],
    ] as const) {
      const body = { app, version: { ...version, version: number, parameters: parameters([...names]) } };
      await world.done(world.ask(REGISTER, admin, { body }));
    }
    const between = (from: string, to: string) =>
      world.done(
        world.ask(DIFF, admin, {
          params: { app_slug: String(app['slug']), version: from, other_version: to },
        }),
      );
    expect(await between('1.0.0', '2.0.0')).toMatchObject({ breaking: true });
    expect(await between('2.0.0', '1.0.0')).toMatchObject({ breaking: false });
    expect(await between('1.0.0', '1.0')).toEqual({ breaking: false, changes: [] });
  });

  test('needs both of them', async () => {
    const slug = await newApp(undefined, ['1.0.0']);
    for (const [version, other_version] of [
      ['1.0.0', '2.0.0'],
      ['2.0.0', '1.0.0'],
    ]) {
      const params = { app_slug: slug, version: String(version), other_version: String(other_version) };
      expect(await codeOf(world.ask(DIFF, anybody, { params }))).toBe('version.unknown');
    }
  });
});
