import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { instanceUseKey } from '../../functions/artifacts/keys.ts';
import { USES_MAX } from '../../functions/artifacts/usage.ts';
import { newId } from '../../functions/platform/ids.ts';
import type { Body } from '../api/recipe.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { releaseVersion } from '../catalog/released.ts';

let world: World;
let scene: Scene;

beforeAll(async () => {
  world = await openWorld();
  scene = openScene(world);
});
afterAll(() => world.close());

const usage = async ({ id, project_id }: Artifact, token: string): Promise<Body> =>
  (
    await world.call('GET /api/v1/projects/{project_id}/app-artifacts/{artifact_id}/usage', {
      params: { project_id, artifact_id: id },
      token,
    })
  ).body as Body;

const rowOf = ({ digest, app_slug, app_version }: Artifact, project_id: string) => {
  const app_instance_id = newId();
  return {
    ...instanceUseKey(digest, app_instance_id),
    app_instance_id,
    org_id: newId(),
    project_id,
    app_slug,
    app_version,
    started_at: new Date().toISOString(),
  };
};

test('the versions, projects and instances that use the bytes are told: one’s own by name, others as numbers', async () => {
  const { project, admin } = await scene.place();
  const { project: elsewhere } = await scene.place();
  const artifact = await scene.artifact(project, { lifecycle_state: 'active', trust_state: 'verified' });
  const { digest, app_slug } = artifact;
  const stated = { owner: project, slug: app_slug, digest, artifact: null };
  await releaseVersion({ ...stated, status: 'canary' });
  await releaseVersion({ ...stated, version: '2.0.0' });
  const second = await scene.artifact(project, { app_slug, digest, app_version: '2.0.0' });
  const foreign = await scene.artifact(elsewhere, { digest });
  const own = rowOf(artifact, project.id);
  const theirs = [rowOf(foreign, elsewhere.id), rowOf(artifact, newId()), rowOf(artifact, newId())];
  for (const row of [own, ...theirs]) await world.put(row);

  const versions = [
    { app_slug, version: '1.0.0', status: 'canary' },
    { app_slug, version: '2.0.0', status: 'draft' },
  ];
  const seen = await usage(artifact, admin.token);
  expect(seen).toEqual({
    artifact_id: artifact.id,
    digest,
    versions: expect.arrayContaining(versions) as unknown,
    projects: [{ project_id: project.id, is_registered: true, instance_count: 1 }],
    instances: [
      {
        app_instance_id: own.app_instance_id,
        project_id: project.id,
        app_slug,
        app_version: '1.0.0',
        started_at: own.started_at,
      },
    ],
    others: { project_count: 3, instance_count: 3 },
    truncated: false,
  });
  expect(seen['versions']).toHaveLength(2);
  expect(await usage(second, admin.token)).toMatchObject({ others: seen['others'] });
  const text = JSON.stringify(seen);
  for (const { project_id, app_instance_id } of theirs)
    expect([project_id, app_instance_id].filter((id) => text.includes(id))).toEqual([]);

  const inFull = await usage(artifact, (await scene.platformAdmin()).token);
  expect(inFull['projects']).toHaveLength(4);
  expect(inFull['instances']).toHaveLength(4);
  expect(inFull['others']).toEqual({ project_count: 0, instance_count: 0 });
});

test('bytes nobody uses have no use to tell of', async () => {
  const { project, admin } = await scene.place();
  expect(await usage(await scene.artifact(project), admin.token)).toMatchObject({
    versions: [],
    projects: [{ project_id: project.id, is_registered: true, instance_count: 0 }],
    instances: [],
    others: { project_count: 0, instance_count: 0 },
  });
});

test('more than can be looked at is said to be so, and projects are told all the same', async () => {
  const { project, admin } = await scene.place();
  const artifact = await scene.artifact(project);
  const rows = Array.from({ length: USES_MAX + 5 }, () => rowOf(artifact, project.id));
  while (rows.length > 0) await Promise.all(rows.splice(0, 50).map((row) => world.put(row)));
  const seen = await usage(artifact, admin.token);
  expect(seen['truncated']).toBe(true);
  expect(seen['projects']).toEqual([
    { project_id: project.id, is_registered: true, instance_count: USES_MAX - 1 },
  ]);
});

test('another project’s artifact is unknown', async () => {
  const artifact = await scene.artifact((await scene.place()).project);
  const { project, admin } = await scene.place();
  expect(await usage({ ...artifact, project_id: project.id }, admin.token)).toMatchObject({
    status: 404,
    code: 'artifact.unknown',
  });
});
