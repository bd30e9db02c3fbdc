import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { type DockerCli, dockerCli, importBusybox } from '../local/engines/container-image.ts';
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

const pushWithSkopeo = (image: string, { username, password }: Credential): Promise<string> =>
  skopeo(
    'copy',
    '--dest-tls-verify=false',
    `--dest-creds=${username}:${password}`,
    `docker-archive:${archive}`,
    `docker://${image}`,
  );

async function pushWithDocker(image: string): Promise<string> {
  await docker('tag', LOCAL, image);
  return docker('push', image);
}

const logIn = ({ username, password, registry_host }: Credential): Promise<string> =>
  docker('login', '--username', username, '--password', password, registry_host);

const DENIED = /denied|unauthorized|authentication required/;

beforeAll(async () => {
  if (docker_host === null) throw new Error('The platform has no Docker engine here.');
  place = await createPlace('artifact-push');
  [credential, sibling] = [await obtain('pushed'), await obtain('sibling')];
  docker = dockerCli(docker_host, joinPath(scratch, 'docker'));
  await importBusybox(docker, LOCAL);
  await docker('save', '--output', archive, LOCAL);
});

afterAll(async () => {
  for (const image of [LOCAL, credential.image, sibling.image, `${credential.image}-docker`])
    await docker('rmi', '--force', image).catch(() => undefined);
  rmSync(scratch, { recursive: true, force: true });
});

describe('the credential of a publish intent', () => {
  test('lets skopeo push to its repository', async () => {
    await pushWithSkopeo(credential.image, credential);
  });

  test('lets docker push to it, and what it pushed is registered by its digest', async () => {
    await logIn(credential);
    const image = `${credential.image}-docker`;
    await pushWithDocker(image);
    const pushed = await docker('inspect', '--format', '{{index .RepoDigests 0}}', image);
    const digest = pushed.slice(pushed.indexOf('@') + 1);
    const registered = await done<{ digest: string; trust_state: string; platforms: object[] }>(
      'POST',
      artifacts(),
      {
        as: 'admin',
        body: {
          app_slug: 'pushed',
          app_version: '1.0.0',
          artifact_name: 'runtime',
          repository: credential.repository,
          digest,
          tag: 'dev-latest',
          media_type: 'application/vnd.docker.distribution.manifest.v2+json',
        },
      },
    );
    expect(registered).toMatchObject({ digest, lifecycle_state: 'draft', trust_state: 'unverified' });
    expect(registered.platforms).toHaveLength(1);
  });

  test('lets nobody push to a sibling repository', async () => {
    await expect(pushWithSkopeo(sibling.image, credential)).rejects.toThrow(DENIED);
    await logIn(credential);
    await expect(pushWithDocker(sibling.image)).rejects.toThrow(DENIED);
  });

  test('lets nobody pull, not even what was pushed with it', async () => {
    await logIn(credential);
    await expect(docker('pull', credential.image)).rejects.toThrow(DENIED);
    const creds = `--creds=${credential.username}:${credential.password}`;
    await expect(
      skopeo('inspect', '--tls-verify=false', creds, `docker://${credential.image}`),
    ).rejects.toThrow(DENIED);
  });

  test('does not move a tag that was pushed', async () => {
    const other = `${LOCAL}-other`;
    await docker('tag', LOCAL, other);
    const container = await docker('create', '--label', 'other=1', LOCAL, '/bin/sh');
    await docker('commit', container, other);
    await docker('rm', container);
    await logIn(credential);
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
