import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CreateRepositoryCommand, DeleteRepositoryCommand, ListImagesCommand } from '@aws-sdk/client-ecr';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { startDocker } from '../../../lib/local/engines/docker.ts';
import type { AwsCredentials } from '../../../lib/local/iam/principals.ts';
import { dockerCli, importBusybox } from '../engines/container-image.ts';
import { openEcrWorld, PULL, PUSH, type EcrWorld } from './ecr-world.ts';
import { basic, digestOf, MANIFEST_TYPE, OciClient } from './oci-client.ts';

let world: EcrWorld;
let scratch: string;

beforeAll(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'registry-'));
  world = await openEcrWorld();
  world.ecr.putRepository({ name: 'team-a/app', tagMutability: 'MUTABLE' });
  world.ecr.putRepository({ name: 'team-a/fixed', tagMutability: 'IMMUTABLE' });
  world.ecr.putRepository({ name: 'team-b/app', tagMutability: 'MUTABLE' });
});

afterEach(() => vi.useRealTimers());

afterAll(async () => {
  await world.close();
  rmSync(scratch, { recursive: true, force: true });
});

const login = async (credentials: AwsCredentials, repository: string) =>
  new OciClient(world.registry.url, repository, await world.password(credentials));

const operator = (repository: string) => login(world.principals.operator(), repository);

const skopeo = async (...args: string[]) =>
  (await promisify(execFile)('skopeo', ['--insecure-policy', ...args])).stdout;

describe('real clients', () => {
  test('skopeo copies an image from one repository to another with the tokens of their owners', async () => {
    const { digest } = await (await operator('team-a/app')).push('from', 'skopeo');
    const teamA = await world.password(world.session(PULL, ['team-a/*']));
    const teamB = await world.password(world.session([...PULL, ...PUSH], ['team-b/*']));
    await skopeo(
      'copy',
      '--preserve-digests',
      '--src-tls-verify=false',
      `--src-creds=AWS:${teamA}`,
      '--dest-tls-verify=false',
      `--dest-creds=AWS:${teamB}`,
      `docker://${world.registry.host}/team-a/app:from`,
      `docker://${world.registry.host}/team-b/app:to`,
    );
    const { imageIds } = await world.operator.send(new ListImagesCommand({ repositoryName: 'team-b/app' }));
    expect(imageIds).toEqual([{ imageDigest: digest, imageTag: 'to' }]);
  });

  test('docker logs in, pushes and pulls, and may not push to a repository of others', async () => {
    const docker = await startDocker({
      dataDir: join(scratch, 'docker'),
      insecureRegistry: world.registry.host,
    });
    if ('unavailable' in docker) throw new Error(`No container engine: ${docker.unavailable}`);
    try {
      const cli = dockerCli(docker.host, join(scratch, 'docker-config'));
      const password = await world.password(world.session([...PULL, ...PUSH], ['team-a/*']));
      await cli('login', '--username', 'AWS', '--password', password, world.registry.host);
      const image = `${world.registry.host}/team-a/app:docker`;
      await importBusybox(cli, image);
      await cli('push', image);
      const pushed = await cli('inspect', '--format', '{{index .RepoDigests 0}}', image);
      await cli('rmi', image);
      await cli('pull', pushed);
      expect(await cli('run', '--rm', '--network=none', pushed, '/bin/busybox', 'echo', 'pulled')).toBe(
        'pulled',
      );

      await cli('tag', pushed, `${world.registry.host}/team-b/app:docker`);
      await expect(cli('push', `${world.registry.host}/team-b/app:docker`)).rejects.toThrow(
        'denied: User: arn:aws:sts:',
      );
      await expect(cli('pull', `${world.registry.host}/team-b/app:to`)).rejects.toThrow(
        'is not authorized to perform: ecr:BatchGetImage',
      );

      // It offers to mount the layers that it has just pushed next door; they are uploaded instead.
      await cli('tag', pushed, `${world.registry.host}/team-a/fixed:docker`);
      await cli('push', `${world.registry.host}/team-a/fixed:docker`);
    } finally {
      await docker.stop();
    }
  });

  test('containerd and crane ask before they push', async () => {
    const pusher = await login(world.session(PUSH, ['team-a/app']), 'team-a/app');
    const digest = await pusher.pushAskingFirst('asked', 'asking first');
    expect(await pusher.pushAskingFirst('asked', 'asking first')).toBe(digest);
    const found = await pusher.call('HEAD', '/manifests/asked', undefined, { accept: MANIFEST_TYPE });
    expect(found.headers.get('docker-content-digest')).toBe(digest);
  });

  test('they push nothing where they may not ask', async () => {
    const blind = world.session(without('ecr:BatchGetImage'), ['team-a/app']);
    const pusher = await login(blind, 'team-a/app');
    await expect(pusher.pushAskingFirst('blind', 'asking first')).rejects.toThrow(
      'unexpected status from /v2/team-a/app/manifests/blind: 403',
    );
  });
});

const without = (permission: string): string[] => PUSH.filter((each) => each !== permission);

const errorsOf = async (answer: Response): Promise<unknown> =>
  ((await answer.json()) as { errors: unknown }).errors;

describe('what a caller may do', () => {
  test('a stranger is asked for the password of ECR', async () => {
    const answer = await fetch(`${world.registry.url}/v2/team-a/app/manifests/v1`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe(
      `Basic realm="${world.registry.url}/",service="ecr.amazonaws.com"`,
    );
  });

  test('pushing to a sibling repository is refused, and so is reading there', async () => {
    const teamA = world.session([...PULL, ...PUSH], ['team-a/app']);
    expect((await (await login(teamA, 'team-a/app')).push('mine', 'a')).status).toBe(201);
    const sibling = await login(teamA, 'team-a/fixed');
    expect((await sibling.push('mine', 'a')).status).toBe(403);
    expect((await sibling.call('HEAD', '/manifests/v1')).status).toBe(403);
    expect(await errorsOf(await sibling.call('GET', '/manifests/v1'))).toEqual([
      {
        code: 'DENIED',
        message: expect.stringMatching(
          /^User: arn:aws:sts::\d{12}:assumed-role\/\S+ is not authorized to perform: ecr:BatchGetImage on resource: arn:aws:ecr:\S+:repository\/team-a\/fixed because /,
        ) as string,
      },
    ]);
  });

  test('a repository that was not created can not be pushed to, whatever the policy says', async () => {
    const { status, answer } = await (await operator('team-a/new')).push('v1', 'a');
    expect(status).toBe(404);
    expect(answer).toContain("The repository with name 'team-a/new' does not exist");
  });

  test('whether a repository was created is told only to who may read it', async () => {
    const reader = world.session(PULL, ['team-b/*']);
    const read = async (repository: string) =>
      (await (await login(reader, repository)).call('GET', '/manifests/v1')).status;
    expect(await read('team-b/new')).toBe(404);
    expect(await read('team-a/app')).toBe(403);
    expect(await read('team-a/new')).toBe(403);
  });

  test('whoever may only pull can not push, and whoever may only push reads manifests and no layer', async () => {
    const puller = await login(world.session(PULL, ['team-a/app']), 'team-a/app');
    const pusher = await login(world.session(PUSH, ['team-a/app']), 'team-a/app');
    expect((await pusher.push('one-way', 'there')).status).toBe(201);
    expect((await puller.push('one-way', 'back')).status).toBe(403);
    const read = async (client: OciClient, path: string) =>
      (await client.call('GET', path, undefined, { accept: MANIFEST_TYPE })).status;
    const layer = `/blobs/${digestOf('there')}`;
    expect([await read(puller, '/manifests/one-way'), await read(puller, layer)]).toEqual([200, 200]);
    expect([await read(pusher, '/manifests/one-way'), await read(pusher, layer)]).toEqual([200, 403]);
    expect(await read(pusher, '/tags/list')).toBe(403);
  });

  test('no layer is mounted out of another repository: the offer begins an upload', async () => {
    await (await operator('team-b/app')).push('secret', 'secret layer');
    const mount = async (credentials: AwsCredentials) => {
      const client = await login(credentials, 'team-a/app');
      return client.call('POST', `/blobs/uploads/?mount=${digestOf('secret layer')}&from=team-b/app`);
    };
    expect((await mount(world.session(PUSH, ['team-a/app']))).status).toBe(202);
    expect((await mount(world.session([...PULL, ...PUSH], ['team-*/app']))).status).toBe(202);
    const teamA = await login(world.session(PUSH, ['team-a/app']), 'team-a/app');
    expect((await teamA.call('HEAD', `/blobs/${digestOf('secret layer')}`)).status).toBe(404);
    await teamA.pushAskingFirst('not-mounted', 'secret layer', 'team-b/app');
  });

  test('a password does not outlive the repository it was for', async () => {
    world.ecr.putRepository({ name: 'team-a/short', tagMutability: 'MUTABLE' });
    const client = await operator('team-a/short');
    await world.operator.send(new DeleteRepositoryCommand({ repositoryName: 'team-a/short' }));
    const { status, answer } = await client.push('v1', 'late');
    expect(status).toBe(404);
    expect(answer).toContain("The repository with name 'team-a/short' does not exist");
  });
});

describe('passwords', () => {
  /** As `docker login` tries one. */
  const tryOut = (password: string, user?: string): Promise<Response> =>
    fetch(`${world.registry.url}/v2/`, { headers: { authorization: basic(password, user) } });

  test('garbage, a changed password and another user are refused', async () => {
    const password = await world.password(world.principals.operator());
    const changed = `${password.slice(0, -2)}${password.endsWith('AA') ? 'BB' : 'AA'}`;
    const statuses = await Promise.all(
      ['', 'garbage', changed, password].map(async (each) => (await tryOut(each)).status),
    );
    expect(statuses).toEqual([400, 400, 400, 200]);
    expect((await tryOut(password, 'somebody')).status).toBe(401);
  });

  test('a password ends after twelve hours', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const password = await world.password(world.principals.operator());
    vi.setSystemTime(Date.now() + 11.9 * 3_600_000);
    expect((await tryOut(password)).status).toBe(200);
    vi.setSystemTime(Date.now() + 0.2 * 3_600_000);
    const late = await tryOut(password);
    expect(late.status).toBe(403);
    expect(await errorsOf(late)).toMatchObject([
      { code: 'DENIED', message: expect.stringContaining('has expired') as string },
    ]);
  });

  test('a password ends with the session it was made in', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const session = world.session(PULL, ['team-a/app'], { expiresAt: new Date(Date.now() + 900_000) });
    const password = await world.password(session);
    expect((await tryOut(password)).status).toBe(200);
    vi.setSystemTime(Date.now() + 901_000);
    expect((await tryOut(password)).status).toBe(403);
  });

  test('a session cut to a time pushes until then and not after, though the session itself goes on', async () => {
    const ends = new Date(Date.now() + 60_000);
    const client = await login(world.session(PUSH, ['team-a/app'], { until: ends }), 'team-a/app');
    expect((await client.push('in-time', 'in time')).status).toBe(201);
    vi.useFakeTimers({ toFake: ['Date'], now: ends.getTime() });
    expect(await client.push('too-late', 'in time')).toMatchObject({
      status: 403,
      answer: expect.stringContaining('is not authorized to perform: ecr:PutImage') as string,
    });
  });
});

/** What fetch never sends: `PUT http://host/path HTTP/1.1`, as one would to a forward proxy. */
async function putToWholeUrl(repository: string, tag: string, manifest: string): Promise<number | undefined> {
  const authorization = basic(await world.password(world.principals.operator()));
  const put = request({
    port: world.registry.port,
    host: '127.0.0.1',
    method: 'PUT',
    path: `${world.registry.url}/v2/${repository}/manifests/${tag}`,
    headers: { authorization, 'content-type': MANIFEST_TYPE },
  });
  put.end(manifest);
  const [answer] = (await once(put, 'response')) as [IncomingMessage];
  answer.resume();
  return answer.statusCode;
}

describe('immutable tags', () => {
  test('but those a repository excludes stay where they point', async () => {
    const repositoryName = 'team-a/signed';
    await world.operator.send(
      new CreateRepositoryCommand({
        repositoryName,
        imageTagMutability: 'IMMUTABLE_WITH_EXCLUSION',
        imageTagMutabilityExclusionFilters: [{ filterType: 'WILDCARD', filter: 'sha256-*' }],
      }),
    );
    const client = await operator(repositoryName);
    const push = async (tag: string, content: string) => (await client.push(tag, content)).status;
    expect(await push('v1', 'one')).toBe(201);
    expect(await push('v1', 'two')).toBe(400);
    expect(await push('xsha256-1', 'one')).toBe(201);
    expect(await push('xsha256-1', 'two')).toBe(400);
    expect(await push('sha256-1', 'one')).toBe(201);
    expect(await push('sha256-1', 'two')).toBe(201);
  });

  test('stay where they point: another image is refused, the same one is not', async () => {
    const client = await operator('team-a/fixed');
    const first = await client.push('v1', 'one');
    const other = await client.push('v1', 'two');
    expect(other).toMatchObject({ status: 400, answer: expect.stringContaining('TAG_INVALID') });
    expect(other.answer).toContain('cannot be overwritten because the repository is immutable');
    expect((await client.push('v1', 'one')).status).toBe(201);
    const now = await client.call('HEAD', '/manifests/v1', undefined, { accept: MANIFEST_TYPE });
    expect(now.headers.get('docker-content-digest')).toBe(first.digest);
  });

  test('can not be moved through another spelling of the path', async () => {
    const client = await operator('team-a/fixed');
    const first = await client.push('v2', 'one');
    await client.push('other', 'two');
    const two = await (
      await client.call('GET', '/manifests/other', undefined, { accept: MANIFEST_TYPE })
    ).text();
    expect((await client.putManifest('v%32', two)).status).toBe(400);
    expect(await putToWholeUrl('team-a/fixed', 'v2', two)).toBe(400);
    const now = await client.call('HEAD', '/manifests/v2', undefined, { accept: MANIFEST_TYPE });
    expect(now.headers.get('docker-content-digest')).toBe(first.digest);
  });

  test('of several pushes of a new tag at the same time one wins', async () => {
    const client = await operator('team-a/fixed');
    const contents = ['north', 'south', 'east', 'west'];
    // The layers first, so that the manifests arrive together.
    for (const content of contents) await client.push(`warm-${content}`, content);
    const pushes = await Promise.all(contents.map((content) => client.push('race', content)));
    expect(pushes.map(({ status }) => `${status}`).sort()).toEqual(['201', '400', '400', '400']);
    const now = await client.call('HEAD', '/manifests/race', undefined, { accept: MANIFEST_TYPE });
    expect(now.headers.get('docker-content-digest')).toBe(
      pushes.find(({ status }) => status === 201)?.digest,
    );
  });
});

test('killed, the registry comes back with its images, and meanwhile asks its clients to wait', async () => {
  const client = await operator('team-a/app');
  const { digest } = await client.push('kept', 'kept');
  const answers = new Set<string>();
  process.kill(world.registry.pid() ?? 0, 'SIGKILL');
  await vi.waitFor(
    async () => {
      const answer = await client.call('HEAD', '/manifests/kept', undefined, { accept: MANIFEST_TYPE });
      answers.add(`${answer.status} ${answer.headers.get('retry-after')}`);
      expect(answer.headers.get('docker-content-digest')).toBe(digest);
    },
    { timeout: 10_000, interval: 10 },
  );
  expect([...answers]).toEqual(['503 1', '200 null']);
});
