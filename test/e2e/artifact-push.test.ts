import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createDevelopmentChain } from '../../sdk/signing/certificates.ts';
import { type DockerCli, dockerCli, importBusybox } from '../local/engines/container-image.ts';
import { digestOf, MANIFEST_TYPE, OciClient } from '../local/registry/oci-client.ts';
import { until } from '../until.ts';
import { call, createPlace, done, type Place } from './people.ts';
import { findShownSecrets } from './planted-secrets.ts';

// Pushing with the clients people have, and the credential the platform gives them: what it lets them do, and what not.

interface Credential {
  image: string;
  registry_host: string;
  repository: string;
  username: string;
  password: string;
  expires_at: string;
  intent: string;
  wrapping_token: string;
}

const { docker_host } = inject('platform');
const run = promisify(execFile);
const scratch = mkdtempSync(joinPath(tmpdir(), 'artifact-push-'));
const archive = joinPath(scratch, 'image.tar');
const LOCAL = 'artifact-push:local';

let place: Place;
let docker: DockerCli;
let credential: Credential;
let sibling: Credential;

const artifacts = (): string => `/api/v1/projects/${place.project_id}/app-artifacts`;

async function obtain(app_slug: string): Promise<Credential> {
  const body = { app_slug, app_version: '1.0.0', artifact_name: 'runtime' };
  const intent = await done<Credential & { id: string; unwrap_path: string }>(
    'POST',
    `${artifacts()}/publish-intents`,
    { as: 'admin', body },
  );
  const { wrapping_token, unwrap_path } = intent;
  const unwrapped = await done<Credential>('POST', unwrap_path, { as: 'admin', body: { wrapping_token } });
  return { ...intent, ...unwrapped, intent: unwrap_path };
}

const skopeo = async (...args: string[]): Promise<string> =>
  (await run('skopeo', ['--insecure-policy', ...args])).stdout;

async function pushWithSkopeo(image: string, { username, password }: Credential): Promise<string> {
  const digestFile = joinPath(scratch, 'digest');
  await skopeo(
    'copy',
    '--dest-tls-verify=false',
    `--dest-creds=${username}:${password}`,
    `--digestfile=${digestFile}`,
    `docker-archive:${archive}`,
    `docker://${image}`,
  );
  return readFileSync(digestFile, 'utf8');
}

async function pushWithDocker(image: string, credential: Credential): Promise<string> {
  await logIn(credential);
  await docker('tag', LOCAL, image);
  await docker('push', image);
  const digests = await docker('inspect', '--format', '{{join .RepoDigests "\\n"}}', image);
  const pushed = digests.split('\n').find((each) => each.startsWith(`${image.replace(/:[^:/]+$/, '')}@`));
  return pushed?.split('@')[1] ?? 'none';
}

const clientOf = ({ registry_host, password }: Credential, repository: string): OciClient =>
  new OciClient(`http://${registry_host}`, repository, password);

const pushAskingFirst = (image: string, credential: Credential): Promise<string> =>
  clientOf(credential, credential.repository).pushAskingFirst(
    image.slice(image.lastIndexOf(':') + 1),
    'layer',
  );

const logIn = ({ username, password, registry_host }: Credential): Promise<string> =>
  docker('login', '--username', username, '--password', password, registry_host);

const DENIED = /denied|403/;
const DOCKER_TYPE = 'application/vnd.docker.distribution.manifest.v2+json';

const chain = createDevelopmentChain({ organisation: 'Pushed' });

async function trustSigner(): Promise<void> {
  const policy = {
    repository_pattern: credential.repository,
    roots: [chain.rootPem],
    identities: ['O=Pushed'],
  };
  await done('PUT', '/api/v1/admin/artifacts/trust-policies/pushed', { as: 'admin', body: policy });
}

/** With the command people have, which takes the password from its standard input. */
async function sign(digest: string): Promise<void> {
  const { registry_host, repository, username, password } = credential;
  const [key, certificates] = [joinPath(scratch, 'key.pem'), joinPath(scratch, 'chain.pem')];
  writeFileSync(key, chain.keyPem);
  writeFileSync(certificates, chain.chainPem);
  const image = `${registry_host}/${repository}@${digest}`;
  const keys = ['--key', key, '--chain', certificates];
  const login = ['--registry-user', username, '--registry-password-stdin'];
  const signing = run('npx', ['gpuaas', 'artifact', 'sign', image, ...keys, ...login]);
  signing.child.stdin?.end(password);
  await signing;
}

beforeAll(async () => {
  if (docker_host === null) throw new Error('The platform has no Docker engine here.');
  place = await createPlace('artifact-push');
  [credential, sibling] = [await obtain('pushed'), await obtain('sibling')];
  docker = dockerCli(docker_host, joinPath(scratch, 'docker'));
  await importBusybox(docker, LOCAL);
  await docker('save', '--output', archive, LOCAL);
});

afterAll(async () => {
  const tagged = ['', '-docker', '-docker-signed'].map((end) => `${credential.image}${end}`);
  for (const image of [LOCAL, sibling.image, ...tagged])
    await docker('rmi', '--force', image).catch(() => undefined);
  rmSync(scratch, { recursive: true, force: true });
});

describe('the credential of a publish intent', () => {
  test.each([
    ['skopeo', pushWithSkopeo],
    ['docker', pushWithDocker],
    ['a client that asks first', pushAskingFirst],
  ])(
    'lets %s push to its repository, and what it pushed is registered by its digest',
    async (client, push) => {
      const name = client.replaceAll(' ', '-');
      const digest = await push(`${credential.image}-${name}`, credential);
      const { id, ...registered } = await done<{ id: string; platforms: object[] }>('POST', artifacts(), {
        as: 'admin',
        body: {
          app_slug: 'pushed',
          app_version: '1.0.0',
          artifact_name: `runtime-${name}`,
          repository: credential.repository,
          digest,
          tag: 'dev-latest',
        },
      });
      expect(registered).toMatchObject({ digest, lifecycle_state: 'draft', trust_state: 'unverified' });
      expect(registered.platforms).toHaveLength(1);
      expect(await done('GET', `${artifacts()}/${id}`, { as: 'admin' })).toMatchObject({ id, digest });
    },
  );

  test('lets an image of docker’s be registered as what it is, signed, verified and promoted', async () => {
    const image = `${credential.image}-docker-signed`;
    const digest = await pushWithDocker(image, credential);
    const named = { app_slug: 'pushed', app_version: '1.0.0', artifact_name: 'signed', digest };
    const register = (change: object) =>
      call('POST', artifacts(), { as: 'admin', body: { ...named, ...change } });

    const refused = await register({ media_type: MANIFEST_TYPE });
    expect([refused.status, refused.body['code']]).toEqual([422, 'artifact.mismatched']);
    expect(refused.body['detail']).toBe(
      `The media type of the content is ${DOCKER_TYPE}. Omit media_type from the request, or send this one.`,
    );
    // What docker images shows is the digest of the config.
    const config = await docker('inspect', '--format', '{{.Id}}', image);
    const ofConfig = await register({ digest: config.trim() });
    expect([ofConfig.status, ofConfig.body['code']]).toEqual([422, 'artifact.unfit']);
    expect(ofConfig.body['detail']).toContain('a layer or a config');
    await expect(sign(config.trim())).rejects.toThrow('is a layer or a config');

    await trustSigner();
    await sign(digest);
    const { id } = await done<{ id: string }>('POST', artifacts(), { as: 'admin', body: named });
    const path = `${artifacts()}/${id}`;
    expect(await done('POST', `${path}/verify`, { as: 'admin' })).toMatchObject({
      media_type: DOCKER_TYPE,
      trust_state: 'verified',
    });
    const body = { target: 'active', reason: 'It was tried.' };
    await done('POST', `${path}/promote`, { as: 'admin', body });
    await until(async () => {
      const { status, error } = await done<{ status: string; error?: object }>('GET', `${path}/promotion`, {
        as: 'admin',
      });
      if (status === 'failed') throw new Error(JSON.stringify(error));
      return status === 'succeeded';
    }, 'the image to be active');
    expect(await done('GET', path, { as: 'admin' })).toMatchObject({ lifecycle_state: 'active' });
  }, 120_000);

  test('lets its holder read the manifests there, but no layer, and nothing in another repository', async () => {
    const content = 'a layer to read';
    const digest = await clientOf(credential, credential.repository).pushAskingFirst('to-read', content);
    await clientOf(sibling, sibling.repository).pushAskingFirst('to-read', content);
    const paths = ['/manifests/to-read', `/manifests/${digest}`, `/blobs/${digestOf(content)}`, '/tags/list'];
    const statuses = (repository: string) => {
      const client = clientOf(credential, repository);
      const ask = async (method: string, path: string) =>
        (await client.call(method, path, undefined, { accept: MANIFEST_TYPE })).status;
      return Promise.all([ask('HEAD', '/manifests/to-read'), ...paths.map((path) => ask('GET', path))]);
    };
    expect(await statuses(credential.repository)).toEqual([200, 200, 200, 403, 403]);
    expect(await statuses(sibling.repository)).toEqual([403, 403, 403, 403, 403]);
  });

  test('lets nobody push to a sibling repository', async () => {
    await expect(pushWithSkopeo(sibling.image, credential)).rejects.toThrow(DENIED);
    await expect(pushWithDocker(sibling.image, credential)).rejects.toThrow(DENIED);
    const client = clientOf(credential, sibling.repository);
    await expect(client.pushAskingFirst('theirs', 'layer')).rejects.toThrow(DENIED);
  });

  test('lets nobody pull, not even what was pushed with it', async () => {
    const image = `${credential.image}-pull`;
    await pushAskingFirst(image, credential);
    await logIn(credential);
    await expect(docker('pull', image)).rejects.toThrow('ecr:GetDownloadUrlForLayer');
    const creds = `--creds=${credential.username}:${credential.password}`;
    await expect(skopeo('inspect', '--tls-verify=false', creds, `docker://${image}`)).rejects.toThrow(DENIED);
  });

  test('lets docker push layers that another repository has already', async () => {
    await pushWithDocker(sibling.image, sibling);
  });

  test('does not move a tag that was pushed', async () => {
    const other = `${LOCAL}-other`;
    await docker('tag', LOCAL, other);
    const container = await docker('create', '--label', 'other=1', LOCAL, '/bin/sh');
    await docker('commit', container, other);
    await docker('rm', container);
    await pushWithDocker(credential.image, credential);
    await docker('tag', other, credential.image);
    await expect(docker('push', credential.image)).rejects.toThrow(/immutable|TAG_INVALID|tag invalid/i);
    await docker('rmi', '--force', other);
  });

  test('is unwrapped once; the second try is refused, and in the audit', async () => {
    const { intent, wrapping_token } = credential;
    const again = await call<{ code: string }>('POST', intent, { as: 'admin', body: { wrapping_token } });
    expect([again.status, again.body.code]).toEqual([409, 'intent.unwrapped']);
    const { items } = await done<{ items: { action: string; after?: { refused?: string } }[] }>(
      'GET',
      `/api/v1/projects/${place.project_id}/audit`,
      { as: 'admin' },
    );
    const unwraps = items.filter(({ action }) => action === 'artifacts.intent.unwrap');
    expect(unwraps.filter(({ after }) => after?.refused === 'intent.unwrapped')).toHaveLength(1);
  });

  test('is shown nowhere: not in a log, an event or the table', async () => {
    expect(await findShownSecrets()).toEqual([]);
  });
});
