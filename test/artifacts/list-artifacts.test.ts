import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArtifactView } from '../../functions/artifacts/artifact.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import type { Project } from '../../functions/identity/project.ts';

const LIST = 'GET /api/v1/projects/{project_id}/app-artifacts';

let world: World;
let scene: Scene;
let project: Project;
let admin: Person;

const list = async (
  query: Record<string, string> = {},
  of: { project: Project; admin: Person } = { project, admin },
) => {
  const answer = await world.call(LIST, {
    params: { project_id: of.project.id },
    query,
    token: of.admin.token,
  });
  return answer.body as { code?: string; items: ArtifactView[]; next_cursor: string | null };
};

const names = ({ items }: { items: ArtifactView[] }) =>
  items.map(({ app_slug, app_version, artifact_name }) => `${app_slug} ${app_version} ${artifact_name}`);

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
  ({ project, admin } = await scene.place());
  for (const app_slug of ['alpha', 'alpha-two'])
    for (const app_version of ['1.10.0', '1.9.0', '1.9.0-rc.1'])
      for (const artifact_name of ['runtime', 'sidecar'])
        await scene.artifact(project, { app_slug, app_version, artifact_name });
  await scene.artifact(project, {
    app_slug: 'beta',
    channel: 'stable',
    lifecycle_state: 'active',
    trust_state: 'verified',
  });
  await scene.artifact((await scene.place()).project, { app_slug: 'alpha' });
  await world.indexed();
});

afterAll(() => world.close());

describe('the artifacts of a project', () => {
  test('are listed by app and version, without those of others', async () => {
    expect(names(await list())).toEqual([
      ...['alpha', 'alpha-two'].flatMap((app) =>
        ['1.9.0-rc.1', '1.9.0', '1.10.0'].flatMap((version) => [
          `${app} ${version} runtime`,
          `${app} ${version} sidecar`,
        ]),
      ),
      'beta 1.0.0 runtime',
    ]);
  });

  test.each<[Record<string, string>, number]>([
    [{ app_slug: 'alpha' }, 6],
    [{ app_slug: 'alpha', app_version: '1.9.0' }, 2],
    // Another spelling of the same version.
    [{ app_slug: 'alpha', app_version: '1.09' }, 2],
    [{ app_slug: 'alph' }, 0],
    [{ channel: 'stable' }, 1],
    [{ lifecycle_state: 'active' }, 1],
    [{ trust_state: 'unverified' }, 12],
    [{ app_slug: 'alpha', trust_state: 'verified' }, 0],
    [{ channel: 'stable', lifecycle_state: 'draft' }, 0],
  ])('with %j are %i', async (query, count) => {
    const { items, next_cursor } = await list(query);
    expect(items).toHaveLength(count);
    expect(next_cursor).toBeNull();
  });

  test.each<Record<string, string>>([{}, { trust_state: 'unverified' }, { app_slug: 'alpha' }])(
    'are each on one page, with %j',
    async (query) => {
      const all = names(await list(query));
      const paged: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await list({ ...query, limit: '5', ...(cursor && { cursor }) });
        expect(page.items.length).toBeLessThanOrEqual(5);
        paged.push(...names(page));
        cursor = page.next_cursor ?? undefined;
      } while (cursor !== undefined);
      expect(paged).toEqual(all);
    },
  );

  test.each<Record<string, string>>([
    { app_version: '1.9.0' },
    { trust_state: 'doubtful' },
    { lifecycle_state: 'gone' },
    { cursor: 'x' },
    { cursor: Buffer.from('alpha#../../#x#y').toString('base64url') },
  ])('are not asked for with %j', async (query) => {
    expect((await list(query)).code).toBe('request.invalid');
  });

  test('are unknown in another project', async () => {
    const place = await scene.place();
    const { items } = await list();
    const answer = await world.call(`${LIST}/{artifact_id}`, {
      params: { project_id: place.project.id, artifact_id: items[0]?.id ?? '' },
      token: place.admin.token,
    });
    expect(answer.body).toMatchObject({ code: 'artifact.unknown' });
  });
});
