import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findImageEvidence } from '../../functions/content/image-evidence.ts';
import { logIn } from '../../functions/storage/own-registry-login.ts';
import type { ArtifactView } from '../../functions/artifacts/artifact.ts';
import type { Project } from '../../functions/identity/project.ts';
import { newId } from '../../functions/platform/ids.ts';
import { attach } from '../../sdk/signing/attach.ts';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { signDescriptor } from '../../sdk/signing/notation.ts';
import { openRegistry } from '../../sdk/signing/registry-access.ts';
import { keySigner } from '../../sdk/signing/signer.ts';
import { openScene, type Person, type Scene } from '../api/scene.ts';
import { openWorld, type World } from '../api/world.ts';
import { OciClient } from '../local/registry/oci-client.ts';
import {
  describeContent,
  digestOf,
  DOCKER_LIST,
  DOCKER_MANIFEST,
  OCI_INDEX,
  OCI_MANIFEST,
  onPlatform,
  planConfig,
  planIndex,
  planManifest,
} from './planned-image.ts';

// Against a real registry, with credentials got the way everybody gets them.

const ARTIFACTS = '/api/v1/projects/{project_id}/app-artifacts';
const LAYER = 'a layer';

const DOCKER_IMAGE = planConfig({ User: 'docker' });

/** As docker pushes it. */
const dockerImage = (): string =>
  planManifest(DOCKER_IMAGE, {
    mediaType: DOCKER_MANIFEST,
    config: describeContent('application/vnd.docker.container.image.v1+json', DOCKER_IMAGE),
    layers: [describeContent('application/vnd.docker.image.rootfs.diff.tar.gzip', LAYER)],
  });

let world: World;
let scene: Scene;
let project: Project;
let admin: Person;
let app_slug: string;
let repository: string;
let publisher: OciClient;

interface Shown extends ArtifactView {
  code?: string;
  detail?: string;
  next_cursor: string | null;
  items: ArtifactView[];
}

const ask = async (
  route: string,
  more: object,
): Promise<{ status: number; location?: string; body: Shown }> => {
  const { status, headers, body } = await world.call(route, {
    params: { project_id: project.id },
    token: admin.token,
    headers: { 'x-idempotency-key': newId() },
    ...more,
  });
  return { status, location: headers['location'], body: body as Shown };
};

const register = (body: object) =>
  ask(`POST ${ARTIFACTS}`, { body: { app_slug, app_version: '1.0.0', artifact_name: 'runtime', ...body } });

/** A credential for the app's repository, unwrapped, as a client takes it. */
async function publish(slug: string): Promise<{ client: OciClient; username: string; password: string }> {
  const wanted = { app_slug: slug, app_version: '1.0.0', artifact_name: 'runtime' };
  const { body } = await ask(`POST ${ARTIFACTS}/publish-intents`, { body: wanted });
  const { id, wrapping_token } = body as unknown as { id: string; wrapping_token: string };
  const unwrapped = await ask(`POST ${ARTIFACTS}/publish-intents/{intent_id}/unwrap`, {
    params: { project_id: project.id, intent_id: id },
    body: { wrapping_token },
  });
  const { username, password } = unwrapped.body as unknown as { username: string; password: string };
  const { url } = world.services.registry;
  const client = new OciClient(url, `gpuaas/apps/${project.slug}/${slug}`, password);
  return { client, username, password };
}

/** The digest under which it was pushed. */
async function push(manifest: string, blobs: string[], mediaType = OCI_MANIFEST): Promise<string> {
  for (const blob of blobs) expect((await publisher.pushBlob(blob)).status).toBe(201);
  const digest = digestOf(manifest);
  const answer = await publisher.call('PUT', `/manifests/${digest}`, manifest, { 'content-type': mediaType });
  expect(answer.status, await answer.text()).toBe(201);
  return digest;
}

async function pushImage(config = planConfig(), more: object = {}): Promise<string> {
  return push(planManifest(config, more), [config, LAYER]);
}

const registered = async (): Promise<number> =>
  (await world.items('ARTIFACT#')).filter(({ sk }) => sk === 'ARTIFACT').length;

beforeAll(async () => {
  world = await openWorld({ registry: 'real' });
  scene = openScene(world);
  ({ project, admin } = await scene.place());
  app_slug = scene.slug();
  repository = `gpuaas/apps/${project.slug}/${app_slug}`;
  publisher = (await publish(app_slug)).client;
});

afterAll(() => world.close());

describe('an image that was pushed', () => {
  test('is registered by its digest, with what it is', async () => {
    const config = planConfig();
    const digest = await pushImage(config);
    const { status, location, body } = await register({
      repository,
      digest,
      tag: 'dev-latest',
      media_type: OCI_MANIFEST,
    });
    expect(status).toBe(201);
    expect(location).toBe(`/api/v1/projects/${project.id}/app-artifacts/${body.id}`);
    expect(body).toEqual({
      id: expect.any(String),
      project_id: project.id,
      app_slug,
      app_version: '1.0.0',
      artifact_name: 'runtime',
      artifact_kind: 'oci',
      source_type: 'oci_registry',
      repository,
      source_uri: `oci://${repository}@${digest}`,
      digest,
      media_type: OCI_MANIFEST,
      size_bytes: planManifest(config).length,
      tag: 'dev-latest',
      channel: 'dev',
      platforms: [
        {
          platform: 'linux/amd64',
          digest,
          size_bytes: config.length + LAYER.length,
          user: '1000:1000',
          exposed_ports: ['8888/tcp'],
        },
      ],
      referrers: [],
      lifecycle_state: 'draft',
      trust_state: 'unverified',
      registered_by: `user:${admin.id}`,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    const shown = await ask(`GET ${ARTIFACTS}/{artifact_id}`, {
      params: { project_id: project.id, artifact_id: body.id },
    });
    expect(shown.body).toEqual(body);
  });

  test('is registered once under one name, and may have several', async () => {
    const digest = await pushImage(planConfig({ User: 'once' }));
    const first = await register({ digest });
    const again = await register({ digest, tag: 'other' });
    expect(again).toMatchObject({ status: 409, body: { code: 'artifact.exists' } });
    expect(again.body.detail).toContain(first.body.id);
    // 1.0 is another spelling of the same version.
    expect((await register({ digest, app_version: '1.0' })).body.code).toBe('artifact.exists');
    expect((await register({ digest, variant: 'cpu' })).status).toBe(201);
    expect((await register({ digest, app_version: '1.0.1' })).status).toBe(201);
  });

  test.each([
    [DOCKER_MANIFEST, dockerImage()],
    [
      DOCKER_LIST,
      planIndex([{ ...onPlatform(dockerImage()), mediaType: DOCKER_MANIFEST }], { mediaType: DOCKER_LIST }),
    ],
  ])('as %s is registered as what it is, and under no other name', async (media_type, manifest) => {
    await push(dockerImage(), [DOCKER_IMAGE, LAYER], DOCKER_MANIFEST);
    const digest = await push(manifest, [], media_type);
    const refused = await register({ digest, media_type: OCI_MANIFEST });
    expect(refused).toMatchObject({ status: 422, body: { code: 'artifact.mismatched' } });
    expect(refused.body.detail).toContain(`The media type of the content is ${media_type}.`);
    for (const named of [{ artifact_name: 'omitted' }, { artifact_name: 'stated', media_type }])
      expect(await register({ digest, ...named })).toMatchObject({
        status: 201,
        body: { media_type, digest },
      });
  });

  test('for several platforms is registered with each of them', async () => {
    const arm = planConfig({ User: 'arm' }, { architecture: 'arm64', variant: 'v8' });
    const images = { amd64: await pushImage(), arm64: await pushImage(arm) };
    const index = planIndex([
      onPlatform(planManifest()),
      onPlatform(planManifest(arm), { os: 'linux', architecture: 'arm64', variant: 'v8' }),
      onPlatform(planManifest(), { os: 'unknown', architecture: 'unknown' }),
    ]);
    const digest = await push(index, [], OCI_INDEX);
    const { body } = await register({ digest });
    expect(body).toMatchObject({ media_type: OCI_INDEX, size_bytes: index.length });
    expect(body.platforms).toMatchObject([
      { platform: 'linux/amd64', digest: images.amd64, user: '1000:1000' },
      { platform: 'linux/arm64/v8', digest: images.arm64, user: 'arm' },
    ]);
  });
});

describe('nothing is registered', () => {
  const PRELOADED = planConfig({ Env: ['LD_PRELOAD=/a/secret.so'] });

  async function expectRefused(body: object, code: string): Promise<string> {
    const before = await registered();
    const answer = await register(body);
    expect(answer.body.code, JSON.stringify(answer.body)).toBe(code);
    expect(await registered()).toBe(before);
    return answer.body.detail ?? '';
  }

  test('that is not there', async () => {
    await expectRefused({ digest: digestOf('nothing') }, 'artifact.absent');
    await expectRefused({ app_slug: scene.slug(), digest: digestOf('nothing') }, 'artifact.absent');
  });

  test.each([
    ['a layer', LAYER],
    ['a config', planConfig({ User: 'part' })],
  ])('that is only a part of an image: %s', async (_, part) => {
    await pushImage(planConfig({ User: 'part' }));
    const detail = await expectRefused({ digest: digestOf(part) }, 'artifact.unfit');
    expect(detail).toBe(
      'This digest is of a layer or a config in the repository, not of an image manifest. Use the digest that docker push printed, or that skopeo inspect shows.',
    );
    // The same bytes in another repository are none of this one.
    const elsewhere = scene.slug();
    await publish(elsewhere);
    await expectRefused({ app_slug: elsewhere, digest: digestOf(part) }, 'artifact.absent');
  });

  test('that is a file and was called an image, or the other way round', async () => {
    const file = await scene.file(project, { app_slug });
    const { app_version, artifact_name, digest } = file;
    const detail = await expectRefused({ app_version, artifact_name, digest }, 'artifact.absent');
    expect(detail).toContain('A file is registered with the artifact_kind blob.');
    const image = await pushImage(planConfig({ User: 'kind' }));
    const asFile = { artifact_kind: 'blob', digest: image };
    expect(await expectRefused({ ...asFile, artifact_name: 'elsewhere' }, 'artifact.absent')).toContain(
      'An image is registered with the artifact_kind oci.',
    );
    const beside = await expectRefused({ ...asFile, artifact_name, app_version }, 'artifact.mismatched');
    expect(beside).toBe(`The stored file has the digest ${digest}.`);
  });

  test('that is something else than was said', async () => {
    const digest = await pushImage(planConfig({ User: 'else' }));
    expect(await expectRefused({ digest, media_type: OCI_INDEX }, 'artifact.mismatched')).toBe(
      `The media type of the content is ${OCI_MANIFEST}. Omit media_type from the request, or send this one.`,
    );
    await expectRefused({ digest, repository: `${repository}-2` }, 'artifact.foreign_source');
    const uri = `oci://${repository}@${digestOf('x')}`;
    await expectRefused({ digest, source_uri: uri }, 'artifact.foreign_source');
    await expectRefused({ digest, source_type: 'artifact_store' }, 'request.invalid');
    await expectRefused({ digest: 'dev-latest' }, 'request.invalid');
  });

  test('that the platform does not run', async () => {
    const detail = await expectRefused({ digest: await pushImage(PRELOADED) }, 'artifact.unfit');
    expect(detail).toContain('LD_PRELOAD');
    expect(detail).not.toContain('secret');
    const signature = { artifactType: 'application/vnd.cncf.notary.signature' };
    await expectRefused({ digest: await pushImage(planConfig(), signature) }, 'artifact.unfit');
  });

  test('when one image of several is not to be run', async () => {
    await pushImage(PRELOADED);
    const digest = await push(planIndex([onPlatform(planManifest(PRELOADED))]), [], OCI_INDEX);
    await expectRefused({ digest }, 'artifact.unfit');
  });

  test('for somebody else’s app, or in an archived project', async () => {
    const digest = await pushImage(planConfig({ User: 'theirs' }));
    const theirs = await scene.app((await scene.place()).project);
    await expectRefused({ digest, app_slug: theirs.slug }, 'app.slug_taken');
    const place = await scene.place();
    await scene.archive(place.project);
    const answer = await ask(`POST ${ARTIFACTS}`, {
      params: { project_id: place.project.id },
      token: place.admin.token,
      body: { app_slug, app_version: '1.0.0', artifact_name: 'runtime', digest },
    });
    expect(answer.body.code).toBe('project.archived');
  });
});

describe('what is attached to an image', () => {
  const signer = keySigner(createDevelopmentChain({ organisation: 'Example' }));

  /** Signs it with the library, with a credential of its own. */
  async function sign(manifest: string, provenance?: Buffer): Promise<Buffer> {
    const { username, password } = await publish(app_slug);
    const registry = openRegistry({
      host: world.services.registry.host,
      credentials: { username, password },
    });
    const subject = describeContent(OCI_MANIFEST, manifest);
    const signature = await signDescriptor(subject, signer, { signedAt: new Date() });
    await attach({ registry, repository, subject, signature, provenance });
    return signature;
  }

  const evidenceOf = async (digest: string) => findImageEvidence({ repository, digest }, await logIn());

  test('is found with its bytes: signatures and provenance', async () => {
    const config = planConfig({ User: 'signed' });
    const digest = await pushImage(config);
    expect(await evidenceOf(digest)).toEqual({ signatures: [], provenances: [] });
    const provenance = Buffer.from('{"payload":""}');
    const signature = await sign(planManifest(config), provenance);
    const found = await evidenceOf(digest);
    expect(found.signatures.map(({ mediaType }) => mediaType)).toEqual(['application/jose+json']);
    expect(Buffer.from(found.signatures[0]?.bytes ?? [])).toEqual(signature);
    expect(Buffer.from(found.provenances[0]?.bytes ?? [])).toEqual(provenance);
    const { body } = await register({ digest });
    expect(body.referrers?.map(({ artifact_type }) => artifact_type).toSorted()).toEqual([
      'application/vnd.cncf.notary.signature',
      'application/vnd.in-toto+json',
    ]);
  });

  test('is recorded as far as it can be, whatever else the list says', async () => {
    const config = planConfig({ User: 'junk' });
    const digest = await pushImage(config);
    const listed = describeContent(OCI_MANIFEST, planManifest(config));
    await list(digest, [
      { ...listed, artifactType: 'y'.repeat(500_000) },
      ...Array.from({ length: 100 }, () => listed),
    ]);
    const { status, body } = await register({ digest });
    expect(status).toBe(201);
    expect(body.referrers).toHaveLength(50);
    expect(body.referrers?.[0]).toEqual({ digest, artifact_type: 'y'.repeat(255) });
  });

  /** The list a client keeps, written by hand. */
  async function list(digest: string, referrers: object[]): Promise<void> {
    const answer = await publisher.call(
      'PUT',
      `/manifests/${digest.replace(':', '-')}`,
      planIndex(referrers),
      {
        'content-type': OCI_INDEX,
      },
    );
    expect(answer.status, await answer.text()).toBe(201);
  }

  test('is no evidence when it was made for another image, is two things, or nothing', async () => {
    const [config, other] = [planConfig({ User: 'target' }), planConfig({ User: 'foreign' })];
    const digest = await pushImage(config);
    const foreign = await pushImage(other);
    const envelope = 'an envelope';
    const attached = (subject: string, layers: number) =>
      planManifest(planConfig(), {
        artifactType: 'application/vnd.cncf.notary.signature',
        subject: describeContent(OCI_MANIFEST, subject),
        layers: Array.from({ length: layers }, () => describeContent('application/jose+json', envelope)),
      });
    const forOther = attached(planManifest(other), 1);
    const twofold = attached(planManifest(config), 2);
    const right = attached(planManifest(config), 1);
    for (const manifest of [forOther, twofold, right]) await push(manifest, [planConfig(), envelope]);
    const referrer = (manifest: string) => describeContent(OCI_MANIFEST, manifest);
    await list(digest, [referrer(forOther), referrer(twofold), referrer(planManifest(other))]);
    expect(await evidenceOf(digest)).toEqual({ signatures: [], provenances: [] });
    await list(digest, [referrer(forOther), referrer(right)]);
    expect((await evidenceOf(digest)).signatures).toMatchObject([{ mediaType: 'application/jose+json' }]);
    expect((await evidenceOf(foreign)).signatures).toEqual([]);
  });

  test('is nothing where somebody wrote something else in place of the list', async () => {
    const digest = await pushImage(planConfig({ User: 'listless' }));
    await publisher.putManifest(digest.replace(':', '-'), planManifest());
    expect(await evidenceOf(digest)).toEqual({ signatures: [], provenances: [] });
  });

  test('cannot be found when the image is gone', async () => {
    expect(await evidenceOf(digestOf('gone'))).toMatchObject({ isContentAbsent: true });
    const gone = await findImageEvidence(
      { repository: `${repository}-gone`, digest: digestOf('gone') },
      await logIn(),
    );
    expect(gone).toMatchObject({ isContentAbsent: true });
  });
});
