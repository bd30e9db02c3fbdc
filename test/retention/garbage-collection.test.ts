import type { Artifact } from '../../functions/artifacts/artifact.ts';
import { artifactKey } from '../../functions/catalog/readiness.ts';
import type { Project } from '../../functions/identity/project.ts';
import { ecr } from '../../functions/platform/clients.ts';
import { secondsAfter } from '../../functions/platform/clock.ts';
import { createContext } from '../../functions/platform/context.ts';
import type { PlatformEvent } from '../../functions/platform/events.ts';
import { newId } from '../../functions/platform/ids.ts';
import { encodeCursor } from '../../functions/platform/page.ts';
import { runSweep } from '../../functions/platform/workflow/sweep.ts';
import { collectGarbage } from '../../functions/retention/collect-garbage.ts';
import { repositorySweep } from '../../functions/retention/sweep-repositories.ts';
import { listRepositories, type Repository } from '../../functions/storage/keep-repository.ts';
import { repositoryKey } from '../../functions/storage/keys.ts';
import { listObjectVersions } from '../../functions/storage/object-store.ts';
import { listImages } from '../../functions/storage/repository-images.ts';
import { filesOf, objectKeyOf, signatureKeyOf } from '../../functions/storage/repository.ts';
import { readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { digestOf, MANIFEST_TYPE, OciClient } from '../local/registry/oci-client.ts';
import { announce } from '../publishing/recipes-publish.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

const INDEX_TYPE = 'application/vnd.oci.image.index.v1+json';
const EIGHT_DAYS = 8 * 24 * 3600;

let world: World;
let scene: Scene;

beforeAll(async () => {
  world = await openWorld({ registry: 'real' });
  scene = openScene(world);
});

afterAll(() => world.close());

/** As the platform is when everything that lies there has lain there for long. */
const later = () => ({ ...createContext(newId()), now: () => secondsAfter(new Date(), EIGHT_DAYS) });

let project: Project;
let admin: Person;
let name: string;
let app_slug: string;
let registry: OciClient;

beforeEach(async () => {
  ({ project, admin } = await scene.place());
  const { intent } = await announce(scene, project);
  ({ repository: name, app_slug } = intent);
  world.services.ecr.putRepository({ name, tagMutability: 'MUTABLE' });
  const { tokens, principals, registry: real } = world.services;
  registry = new OciClient(real.url, name, tokens.passwordFor(principals.operator()).password);
});

async function repository(): Promise<Repository> {
  const { items } = await listRepositories({ limit: 1, cursor: encodeCursor(name.slice(0, -1)) ?? '' });
  if (items[0]?.name !== name) throw new Error(`There is no ${name}.`);
  return items[0];
}

async function put(manifest: object, type: string, reference?: string): Promise<string> {
  const text = JSON.stringify({ schemaVersion: 2, mediaType: type, ...manifest });
  const digest = digestOf(text);
  const path = `/manifests/${reference ?? digest}`;
  const answer = await registry.call('PUT', path, text, { 'content-type': type });
  if (!answer.ok) throw new Error(await answer.text());
  return digest;
}

async function blob(content: string): Promise<{ mediaType: string; digest: string; size: number }> {
  await registry.pushBlob(content);
  return { mediaType: 'application/octet-stream', digest: digestOf(content), size: content.length };
}

async function pushImage(content = newId()): Promise<string> {
  return put({ config: await blob('{}'), layers: [await blob(content)] }, MANIFEST_TYPE);
}

const described = (digest: string, mediaType = MANIFEST_TYPE) => ({ mediaType, digest, size: 1 });

const pushIndex = (members: string[], tag?: string): Promise<string> =>
  put(
    { manifests: members.map((digest) => described(digest)), annotations: { of: newId() } },
    INDEX_TYPE,
    tag,
  );

/** A signature, and the list by which clients find it where a registry has none. */
async function pushSignature(subject: string): Promise<string[]> {
  const parts = { config: await blob('{}'), layers: [await blob(newId())] };
  const signature = await put({ ...parts, subject: described(subject) }, MANIFEST_TYPE);
  return [signature, await pushIndex([signature], subject.replace(':', '-'))];
}

const register = (digest: string, stated: Partial<Artifact> = {}): Promise<Artifact> =>
  scene.artifact(project, { app_slug, digest, ...stated });

const present = async (): Promise<string[]> => (await listImages(name)).map(({ digest }) => digest).sort();

const auditsOf = async () =>
  (await world.items('AUDIT#')).filter(({ subject }) => subject === `repository:${name}`);

const eventsOf = async () =>
  (await world.items('OUTBOX#'))
    .map(({ event }) => event as PlatformEvent)
    .filter(({ data }) => data['repository'] === name);

describe('what nobody registered', () => {
  test('goes, with its signatures; what an artifact is, needs or is signed by, stays', async () => {
    const [image, garbage] = [await pushImage(), await pushImage()];
    const signatures = await pushSignature(image);
    const unwanted = await pushSignature(garbage);
    const [amd, arm, old] = [await pushImage(), await pushImage(), await pushImage()];
    const index = await pushIndex([amd, arm]);
    const oldIndex = await pushIndex([arm, old]);
    await register(image);
    await register(index, { artifact_name: 'other' });

    await collectGarbage(later(), await repository());

    const staying = [image, ...signatures, index, amd, arm].sort();
    expect(await present()).toEqual(staying);
    const gone = [garbage, ...unwanted, oldIndex, old].sort();
    const [audit, ...others] = await auditsOf();
    expect(others).toEqual([]);
    expect(audit).toMatchObject({
      actor: 'platform:artifact-sweep',
      action: 'artifacts.repository.collect',
      project_id: project.id,
      after: { images: gone.length, files: 0, bytes: expect.any(Number) },
    });
    const told = audit?.['after'] as { digests: string[] } | undefined;
    expect(told?.digests.toSorted()).toEqual(gone);
    expect(await eventsOf()).toMatchObject([
      { type: 'apps.artifact.collected', project_id: project.id, data: { app_slug, images: gone.length } },
    ]);

    await world.set(repositoryKey(name), 'collecting_until', '2026-01-01T00:00:00.000Z');
    await collectGarbage(later(), await repository());
    expect(await present()).toEqual(staying);
    expect(await auditsOf()).toHaveLength(1);
  });

  test('stays for a week', async () => {
    const image = await pushImage();
    const ctx = { ...later(), now: () => secondsAfter(new Date(), 6 * 24 * 3600) };
    await collectGarbage(ctx, await repository());
    expect(await present()).toEqual([image]);
  });

  test('stays while somebody may be pushing', async () => {
    const image = await pushImage();
    const open = secondsAfter(new Date(), EIGHT_DAYS + 60).toISOString();
    await world.set(repositoryKey(name), 'open_until', open);
    await collectGarbage(later(), await repository());
    expect(await present()).toEqual([image]);
    expect(await auditsOf()).toEqual([]);
  });

  test('stays when it was registered a moment ago, and no index knows it yet', async () => {
    const image = await pushImage();
    const signatures = await pushSignature(image);
    const { id } = await register(image);
    const { gsi1pk: _pk, gsi1sk: _sk, ...unlisted } = (await world.get(artifactKey(id))) ?? {};
    await world.put(unlisted);
    await collectGarbage(later(), await repository());
    expect(await present()).toEqual([image, ...signatures].sort());
  });

  test('is told beforehand, and nothing of it changes', async () => {
    const image = await pushImage();
    const [signature] = await pushSignature(image);
    await register(await pushImage());
    await world.indexed();
    const { token } = await scene.platformAdmin();
    const query = { limit: '1', cursor: encodeCursor(name.slice(0, -1)) ?? '' };
    const ask = () => world.call('GET /api/v1/admin/artifacts/garbage', { query, token });
    expect((await ask()).body).toMatchObject({ items: [{ repository: name, item_count: 0, items: [] }] });
    age();
    expect((await ask()).body).toMatchObject({
      items: [
        {
          repository: name,
          project_id: project.id,
          app_slug,
          item_count: 3,
          items: expect.arrayContaining([
            expect.objectContaining({ kind: 'image', digest: image, why: 'No artifact uses it.' }),
            expect.objectContaining({ kind: 'attachment', digest: signature }),
          ]),
        },
      ],
    });
    expect(await present()).toHaveLength(4);
    expect((await world.call('GET /api/v1/admin/artifacts/garbage', { token: admin.token })).status).toBe(
      403,
    );
  });

  /** As if everything had been pushed eight days ago: the registry keeps the time of a push as that of a file. */
  function age(): void {
    const folder = join(world.services.registry.storageDir, 'docker/registry/v2/repositories', name);
    const revisions = join(folder, '_manifests/revisions/sha256');
    const pushed = secondsAfter(new Date(), -EIGHT_DAYS);
    for (const hex of readdirSync(revisions)) utimesSync(join(revisions, hex, 'link'), pushed, pushed);
  }
});

describe('a file nobody registered', () => {
  const stored = async (): Promise<string[]> =>
    (await listObjectVersions(filesOf(project.id, app_slug))).files
      .map(({ key, versionId }) => `${key}?${versionId}`)
      .sort();

  test('goes; one that an artifact is pinned to stays, with what lies beside it', async () => {
    const key = (artifact_name: string) =>
      objectKeyOf({ project_id: project.id, app_slug, app_version: '1.0.0', artifact_name });
    const pinned = await scene.file(project, { app_slug, artifact_name: 'weights' });
    await world.putObject(signatureKeyOf(key('weights')), 'a signature');
    const staying = await stored();
    await scene.artifact(project, pinned);
    await world.putObject(key('weights'), 'written later under the same name');
    await world.putObject(key('unwanted'), 'never registered');
    await world.putObject(signatureKeyOf(key('unwanted')), 'and its signature');
    expect(await stored()).toHaveLength(5);
    // A file is collected a day after it could last be registered.
    await world.indexed();

    await collectGarbage(later(), await repository());
    expect(await stored()).toEqual(staying);
    expect(await auditsOf()).toMatchObject([{ after: { images: 0, files: 3 } }]);
  });
});

describe('while a repository is cleaned', () => {
  test('nobody can begin to publish there, nor register what is there', async () => {
    await world.set(repositoryKey(name), 'collecting_until', secondsAfter(new Date(), 60).toISOString());
    const call = {
      params: { project_id: project.id },
      token: admin.token,
      headers: { 'x-idempotency-key': newId() },
    };
    const intent = await world.call('POST /api/v1/projects/{project_id}/app-artifacts/publish-intents', {
      ...call,
      body: { app_slug, app_version: '1.0.0', artifact_name: 'runtime' },
    });
    expect(intent.body).toMatchObject({ code: 'artifact.collected', retryable: true });
    const file = await scene.file(project, { app_slug });
    const { app_version, artifact_name, artifact_kind, source_type, source_uri, digest } = file;
    const registration = await world.call('POST /api/v1/projects/{project_id}/app-artifacts', {
      ...call,
      body: { app_slug, app_version, artifact_name, artifact_kind, source_type, source_uri, digest },
    });
    expect(registration.body).toMatchObject({ code: 'artifact.collected', retryable: true });
  });

  test('another sweep leaves it alone', async () => {
    const image = await pushImage();
    const until = secondsAfter(new Date(), EIGHT_DAYS + 60).toISOString();
    await world.set(repositoryKey(name), 'collecting_until', until);
    await collectGarbage(later(), await repository());
    expect(await present()).toEqual([image]);
  });

  test('a registration that began before still finds it taken a moment later', async () => {
    await pushImage();
    const ctx = later();
    await collectGarbage(ctx, await repository());
    const { collecting_until = '' } = await repository();
    expect(new Date(collecting_until).getTime()).toBeGreaterThan(secondsAfter(ctx.now(), 30).getTime());
  });
});

test('what a sweep that was cut off left behind was written down, and goes the next time', async () => {
  const images = [await pushImage(), await pushImage()].sort();
  ecr().middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'BatchDeleteImageCommand') throw new Error('cut off');
        return next(args);
      },
    { step: 'initialize', name: 'cutOff' },
  );
  await expect(collectGarbage(later(), await repository())).rejects.toThrow('cut off');
  ecr().middlewareStack.remove('cutOff');
  expect(await present()).toEqual(images);
  const [told] = await auditsOf();
  expect(told?.['after']).toMatchObject({ digests: expect.arrayContaining(images) });
  await world.set(repositoryKey(name), 'collecting_until', '2026-01-01T00:00:00.000Z');
  await collectGarbage(later(), await repository());
  expect(await present()).toEqual([]);
});

test('a sweep cleans every repository, and one that cannot be read keeps none waiting', async () => {
  const well = { name, image: await pushImage() };
  const { intent } = await announce(scene, project);
  ecr().middlewareStack.add(
    (next) => (args) => {
      if (JSON.stringify(args.input).includes(intent.repository)) throw new Error('unreadable');
      return next(args);
    },
    { step: 'initialize', name: 'unreadable' },
  );
  await runSweep(later(), repositorySweep);
  ecr().middlewareStack.remove('unreadable');
  expect(await listImages(well.name)).toEqual([]);
  const swept = [repositoryKey(well.name), repositoryKey(intent.repository)];
  for (const key of swept) expect(await world.get(key)).toHaveProperty('swept_at');
});
