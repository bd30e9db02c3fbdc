import { rmSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BatchDeleteImageCommand,
  BatchGetImageCommand,
  CreateRepositoryCommand,
  DeleteRepositoryCommand,
  DescribeImagesCommand,
  DescribeRepositoriesCommand,
  GetAuthorizationTokenCommand,
  ListImagesCommand,
  type ECRClient,
} from '@aws-sdk/client-ecr';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { AwsError } from '../../../lib/local/wire/aws.ts';
import { openJournal } from '../../../lib/local/journal/journal.ts';
import { createEcrService } from '../../../lib/local/registry/ecr.ts';
import { openEcrWorld, type EcrWorld } from './ecr-world.ts';
import { MANIFEST_TYPE, OciClient, digestOf } from './oci-client.ts';

let world: EcrWorld;
let ecr: ECRClient;
let names = 0;

beforeAll(async () => {
  world = await openEcrWorld();
  ecr = world.operator;
});

afterAll(() => world.close());

async function repository(): Promise<{ repositoryName: string; images: OciClient }> {
  const repositoryName = `team/app-${++names}`;
  await ecr.send(new CreateRepositoryCommand({ repositoryName }));
  const password = await world.password(world.principals.operator());
  return {
    repositoryName,
    images: new OciClient(world.registry.url, repositoryName, password),
  };
}

describe('repositories', () => {
  test('a new repository says where its images go and how its tags behave', async () => {
    const name = 'gpuaas/apps/example';
    await ecr.send(new CreateRepositoryCommand({ repositoryName: name, imageTagMutability: 'IMMUTABLE' }));
    const { repositories } = await ecr.send(new DescribeRepositoriesCommand({ repositoryNames: [name] }));
    expect(repositories).toMatchObject([
      {
        repositoryName: name,
        repositoryArn: `arn:aws:ecr:us-east-1:000000000000:repository/${name}`,
        repositoryUri: `127.0.0.1:${world.registry.port}/${name}`,
        imageTagMutability: 'IMMUTABLE',
        createdAt: expect.any(Date),
      },
    ]);
  });

  test('an immutable one may exclude tags, by patterns', async () => {
    const repositoryName = 'gpuaas/apps/excluding';
    const filters = [{ filterType: 'WILDCARD' as const, filter: 'sha256-*' }];
    await ecr.send(
      new CreateRepositoryCommand({
        repositoryName,
        imageTagMutability: 'IMMUTABLE_WITH_EXCLUSION',
        imageTagMutabilityExclusionFilters: filters,
      }),
    );
    const { repositories } = await ecr.send(
      new DescribeRepositoriesCommand({ repositoryNames: [repositoryName] }),
    );
    expect(repositories).toMatchObject([
      {
        imageTagMutability: 'IMMUTABLE_WITH_EXCLUSION',
        imageTagMutabilityExclusionFilters: filters,
      },
    ]);
  });

  test.each([
    ['IMMUTABLE_WITH_EXCLUSION', []],
    ['IMMUTABLE_WITH_EXCLUSION', ['a*b*c*']],
    ['IMMUTABLE_WITH_EXCLUSION', ['no blanks']],
    ['IMMUTABLE_WITH_EXCLUSION', ['1', '2', '3', '4', '5', '6']],
    ['IMMUTABLE', ['sha256-*']],
    ['MUTABLE_WITH_EXCLUSION', ['sha256-*']],
  ] as const)('%s with the exclusions %j is refused', async (imageTagMutability, filters) => {
    const created = ecr.send(
      new CreateRepositoryCommand({
        repositoryName: 'team/excluding',
        imageTagMutability,
        imageTagMutabilityExclusionFilters: filters.map((filter) => ({ filterType: 'WILDCARD', filter })),
      }),
    );
    await expect(created).rejects.toMatchObject({ name: 'InvalidParameterException' });
  });

  test('a name is given once', async () => {
    const { repositoryName } = await repository();
    const again = ecr.send(new CreateRepositoryCommand({ repositoryName }));
    await expect(again).rejects.toMatchObject({ name: 'RepositoryAlreadyExistsException' });
  });

  test.each(['a', 'Upper', 'a//b', '/a', 'a/', 'a..b', 'under_', '../../etc', 'a'.repeat(257)])(
    'the name %j is refused',
    async (repositoryName) => {
      const created = ecr.send(new CreateRepositoryCommand({ repositoryName }));
      await expect(created).rejects.toMatchObject({ name: 'InvalidParameterException' });
    },
  );

  test('one that does not exist is not found', async () => {
    const described = ecr.send(new DescribeRepositoriesCommand({ repositoryNames: ['no/such'] }));
    await expect(described).rejects.toMatchObject({
      name: 'RepositoryNotFoundException',
      message: "The repository with name 'no/such' does not exist in the registry with id '000000000000'",
    });
  });

  test('pages hold every repository once, in order', async () => {
    await repository();
    await repository();
    const { repositories: all = [] } = await ecr.send(new DescribeRepositoriesCommand({}));
    const paged: (string | undefined)[] = [];
    let nextToken: string | undefined;
    do {
      const page = await ecr.send(new DescribeRepositoriesCommand({ maxResults: 2, nextToken }));
      expect(page.repositories?.length).toBeLessThanOrEqual(2);
      paged.push(...(page.repositories ?? []).map((each) => each.repositoryName));
      nextToken = page.nextToken;
    } while (nextToken);
    expect(paged).toEqual(all.map((each) => each.repositoryName));
  });

  test('one with images goes only by force, and takes them along, but not those of a repository below it', async () => {
    const { repositoryName, images } = await repository();
    const below = `${repositoryName}/below`;
    await ecr.send(new CreateRepositoryCommand({ repositoryName: below }));
    const password = await world.password(world.principals.operator());
    await new OciClient(world.registry.url, below, password).push('v1', 'below');
    await images.push('v1', 'above');

    const gentle = ecr.send(new DeleteRepositoryCommand({ repositoryName }));
    await expect(gentle).rejects.toMatchObject({ name: 'RepositoryNotEmptyException' });
    await ecr.send(new DeleteRepositoryCommand({ repositoryName, force: true }));
    await ecr.send(new CreateRepositoryCommand({ repositoryName }));

    expect((await ecr.send(new ListImagesCommand({ repositoryName }))).imageIds).toEqual([]);
    expect((await ecr.send(new ListImagesCommand({ repositoryName: below }))).imageIds).toHaveLength(1);
  });

  test('what a template declares is there after it was applied twice, with the last mutability', async () => {
    world.ecr.putRepository({ name: 'from/template', tagMutability: 'MUTABLE' });
    world.ecr.putRepository({ name: 'from/template', tagMutability: 'IMMUTABLE' });
    const described = await ecr.send(new DescribeRepositoriesCommand({ repositoryNames: ['from/template'] }));
    expect(described.repositories).toMatchObject([{ imageTagMutability: 'IMMUTABLE' }]);
  });
});

describe('images', () => {
  test('a pushed image is described as the registry holds it', async () => {
    const { repositoryName, images } = await repository();
    const { digest } = await images.push('v1', 'content');
    await images.push('latest', 'content');
    const { imageDetails } = await ecr.send(
      new DescribeImagesCommand({ repositoryName, imageIds: [{ imageTag: 'v1' }] }),
    );
    expect(imageDetails).toMatchObject([
      {
        imageDigest: digest,
        imageTags: ['latest', 'v1'],
        imageManifestMediaType: MANIFEST_TYPE,
        artifactMediaType: 'application/vnd.oci.image.config.v1+json',
        imageSizeInBytes: expect.any(Number),
        imagePushedAt: expect.any(Date),
      },
    ]);
  });

  test('an image that lost its tag to another is listed as untagged', async () => {
    const { repositoryName, images } = await repository();
    const first = await images.push('dev', 'one');
    const second = await images.push('dev', 'two');
    const list = async (tagStatus: 'TAGGED' | 'UNTAGGED') =>
      (await ecr.send(new ListImagesCommand({ repositoryName, filter: { tagStatus } }))).imageIds;
    expect(await list('TAGGED')).toEqual([{ imageDigest: second.digest, imageTag: 'dev' }]);
    expect(await list('UNTAGGED')).toEqual([{ imageDigest: first.digest }]);
  });

  test('the manifest comes back byte by byte, by tag or by digest, and the absent ones are named', async () => {
    const { repositoryName, images } = await repository();
    const { digest } = await images.push('v1', 'content');
    const answer = await ecr.send(
      new BatchGetImageCommand({
        repositoryName,
        imageIds: [{ imageTag: 'v1' }, { imageDigest: digest }, { imageTag: 'v2' }],
      }),
    );
    expect(answer.images?.map((image) => digestOf(image.imageManifest ?? ''))).toEqual([digest, digest]);
    expect(answer.failures).toMatchObject([{ imageId: { imageTag: 'v2' }, failureCode: 'ImageNotFound' }]);
  });

  test('a tag and a digest that do not belong together name no image', async () => {
    const { repositoryName, images } = await repository();
    await images.push('v1', 'one');
    const { digest } = await images.push('v2', 'two');
    const described = ecr.send(
      new DescribeImagesCommand({ repositoryName, imageIds: [{ imageTag: 'v1', imageDigest: digest }] }),
    );
    await expect(described).rejects.toMatchObject({ name: 'ImageNotFoundException' });
  });

  test('deleting a tag keeps the image for its other tags, deleting the last one does not', async () => {
    const { repositoryName, images } = await repository();
    const { digest } = await images.push('v1', 'content');
    await images.push('latest', 'content');
    const remove = (imageTag: string) =>
      ecr.send(new BatchDeleteImageCommand({ repositoryName, imageIds: [{ imageTag }] }));
    const list = async () => (await ecr.send(new ListImagesCommand({ repositoryName }))).imageIds;

    await remove('latest');
    expect(await list()).toEqual([{ imageDigest: digest, imageTag: 'v1' }]);
    await remove('v1');
    expect(await list()).toEqual([]);
    expect((await images.call('GET', `/manifests/${digest}`)).status).toBe(404);
    expect((await remove('v1')).failures).toMatchObject([{ failureCode: 'ImageNotFound' }]);
  });

  test('an image deleted by digest can be pushed again', async () => {
    const { repositoryName, images } = await repository();
    const { digest } = await images.push('v1', 'content');
    await images.push('v2', 'content');
    await ecr.send(new BatchDeleteImageCommand({ repositoryName, imageIds: [{ imageDigest: digest }] }));
    expect((await ecr.send(new ListImagesCommand({ repositoryName }))).imageIds).toEqual([]);
    expect((await images.push('v1', 'content')).status).toBe(201);
    expect((await images.call('GET', '/manifests/v1', undefined, { accept: MANIFEST_TYPE })).status).toBe(
      200,
    );
  });
});

describe('rights', () => {
  test('a call needs its own action on that very repository', async () => {
    await repository();
    const mine = world.client(
      world.session(['ecr:CreateRepository', 'ecr:DescribeRepositories'], ['mine/*']),
    );
    await mine.send(new CreateRepositoryCommand({ repositoryName: 'mine/app' }));
    await mine.send(new DescribeRepositoriesCommand({ repositoryNames: ['mine/app'] }));
    const denied = (action: string, resource: string) => ({
      name: 'AccessDeniedException',
      message: expect.stringContaining(
        `is not authorized to perform: ecr:${action} on resource: arn:aws:ecr:us-east-1:000000000000:repository/${resource}`,
      ),
    });
    await expect(
      mine.send(new CreateRepositoryCommand({ repositoryName: 'other/app' })),
    ).rejects.toMatchObject(denied('CreateRepository', 'other/app'));
    await expect(mine.send(new ListImagesCommand({ repositoryName: 'mine/app' }))).rejects.toMatchObject(
      denied('ListImages', 'mine/app'),
    );
    await expect(mine.send(new DescribeRepositoriesCommand({}))).rejects.toMatchObject(
      denied('DescribeRepositories', '*'),
    );
  });

  test('the authorization token names the registry and lasts twelve hours', async () => {
    const { authorizationData } = await ecr.send(new GetAuthorizationTokenCommand({}));
    const [data] = authorizationData ?? [];
    expect(data?.proxyEndpoint).toBe(world.registry.url);
    expect(Buffer.from(data?.authorizationToken ?? '', 'base64').toString()).toMatch(/^AWS:.{40,}$/);
    const hours = ((data?.expiresAt?.getTime() ?? 0) - Date.now()) / 3_600_000;
    expect(hours).toBeCloseTo(12, 1);
  });
});

test('without a registry repositories can be declared, and a token is refused with the reason', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'ecr-'));
  const journal = openJournal(folder);
  const service = createEcrService({ journal, registry: undefined, tokens: world.tokens });
  service.putRepository({ name: 'team/app', tagMutability: 'MUTABLE' });
  const request = (operation: string, body: unknown) => ({
    method: 'POST',
    path: '/',
    search: '',
    query: new URLSearchParams(),
    headers: {
      'x-amz-target': `AmazonEC2ContainerRegistry_V20150921.${operation}`,
      authorization: 'AWS4-HMAC-SHA256 Credential=AKIA/x',
    },
    body: Buffer.from(JSON.stringify(body)),
    principal: { kind: 'operator' as const, arn: 'arn:aws:iam::000000000000:user/operator' },
  });
  const described = await service.handle(request('DescribeRepositories', {}));
  expect(JSON.parse(String(described.body))).toMatchObject({
    repositories: [{ repositoryName: 'team/app' }],
  });
  const refused = await service.handle(request('GetAuthorizationToken', {})).catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(AwsError);
  expect(refused).toMatchObject({ status: 503, message: expect.stringContaining('install docker-registry') });
  journal.close();
  rmSync(folder, { recursive: true, force: true });
});
