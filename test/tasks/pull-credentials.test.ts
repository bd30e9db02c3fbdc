import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Project } from '../../functions/identity/project.ts';
import { newId } from '../../functions/platform/ids.ts';
import { openScene, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { digestOf, MANIFEST_TYPE, OciClient } from '../local/registry/oci-client.ts';
import { failed, type Host, openTaskScene, type TaskScene } from './task-scene.ts';

// What a host's credentials are good for at a real registry.

let world: World;
let scene: Scene;
let tasks: TaskScene;
let project: Project;

beforeAll(async () => {
  world = await openWorld({ registry: 'real' });
  scene = openScene(world);
  tasks = openTaskScene(world, scene);
  ({ project } = await scene.place());
});
afterAll(() => world.close());

describe('the credentials to pull', () => {
  const pull = (host: Host, ...repositories: string[]) =>
    tasks.say(host, 'POST /pull-credentials', { body: { repositories } });

  /** An image as a publisher pushes it, and a host that was asked to run it. */
  async function assigned() {
    const host = await tasks.host();
    const artifact = await tasks.image(project);
    const { repository } = artifact;
    world.services.ecr.putRepository({ name: repository, tagMutability: 'MUTABLE' });
    const { body } = await tasks.ask(host, 'oci.launch', tasks.launchOf(artifact, project));
    return { host, artifact, repository, task: body };
  }

  const clientOf = (password: unknown, repository: string) =>
    new OciClient(world.services.registry.url, repository, password as string);

  test('pull what is assigned to the host, and push nothing', async () => {
    const { host, repository } = await assigned();
    const digest = await clientOf(operatorPassword(), repository).push('v1', 'a layer');
    expect(digest.status).toBe(201);
    const { status, body } = await pull(host, repository);
    expect(status).toBe(200);
    expect(body).toMatchObject({ registry_host: world.services.registry.host, username: 'AWS' });
    const client = clientOf(body['password'], repository);
    const found = await client.call('GET', '/manifests/v1', undefined, { accept: MANIFEST_TYPE });
    expect(found.status).toBe(200);
    expect((await client.call('GET', `/blobs/${digestOf('a layer')}`)).status).toBe(200);
    expect((await client.push('v2', 'another layer')).status).toBe(403);
    expect((await client.call('DELETE', `/manifests/${digestOf(await found.text())}`)).status).toBe(403);
  });

  const operatorPassword = () => {
    const { accessKeyId, sessionToken } = world.services.principals.operator();
    return world.services.tokens.passwordFor({ accessKeyId, sessionToken }).password;
  };

  test('are good for nothing in the repository of a neighbour', async () => {
    const [one, other] = [await assigned(), await assigned()];
    await clientOf(operatorPassword(), other.repository).push('v1', 'a layer');
    const { body } = await pull(one.host, one.repository);
    const client = clientOf(body['password'], other.repository);
    for (const path of ['/manifests/v1', `/blobs/${digestOf('a layer')}`])
      expect((await client.call('GET', path)).status, path).toBe(403);
  });

  test('of what is not assigned are refused, audited, told, and counted for the alarm', async () => {
    const [one, other] = [await assigned(), await assigned()];
    const refused = await pull(one.host, one.repository, other.repository);
    expect(refused).toMatchObject({ status: 403, body: { code: 'pull.not_assigned' } });
    const told = await tasks.eventsAbout(one.host.id, 'platform.node.pull_refused');
    expect(told.map(({ data }) => data)).toEqual([
      { node_id: one.host.id, repositories: [other.repository] },
    ]);
    const audits = await tasks.auditsAbout(one.host.id);
    expect(audits.filter(({ action }) => action === 'nodes.pull_credentials.issue')).toMatchObject([
      { actor: `node:${one.host.id}`, after: { refused: 'pull.not_assigned' } },
    ]);
    expect((await pull(one.host, 'gpuaas/apps/nobody/nothing')).status).toBe(403);
  });

  test('end with the last workload that is made of it', async () => {
    const { host, repository, task } = await assigned();
    expect((await pull(host, repository)).status).toBe(200);
    await tasks.end(host, task['id'] as string, failed(1, 'disk_full', 'refused'));
    expect((await pull(host, repository)).status).toBe(403);
  });

  test('are had for ten repositories with the longest of names', async () => {
    const host = await tasks.host();
    const repositories = [];
    for (let count = 0; count < 10; count += 1) {
      const app_slug = `${newId()}-${'x'.repeat(40)}`.slice(0, 40);
      const repository = `gpuaas/apps/${'y'.repeat(40)}/${app_slug}`;
      const artifact = await tasks.image(project, { app_slug, repository });
      await tasks.ask(host, 'oci.launch', tasks.launchOf(artifact, project));
      repositories.push(repository);
    }
    expect((await pull(host, ...repositories)).status).toBe(200);
    expect((await pull(host, ...repositories, 'one/more')).body).toMatchObject({ code: 'request.invalid' });
  });
});
