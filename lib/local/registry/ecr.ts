import { ACCOUNT, AwsError, jsonAnswer, jsonBody, jsonOperation } from '../wire/aws.ts';
import type { Access, AwsRequest, Service } from '../wire/aws.ts';
import type { Registry } from './registry.ts';
import type { Journal } from '../journal/journal.ts';
import { ECR_USER, repositoryArn, type RegistryTokens } from './registry-tokens.ts';
import { Images } from './ecr-images.ts';
import { page, repositoryName, repositoryNotFound, tagRule, type EcrInput } from './ecr-input.ts';
import { Repositories, type Repository } from './ecr-repositories.ts';

/** What stands for the registry's host where the machine has none. */
export const NO_REGISTRY = 'registry.invalid';

export interface EcrService extends Service {
  /** For the provisioner: the repository exists afterwards, with this mutability, whatever was before. */
  putRepository(repository: { name: string; tagMutability: 'MUTABLE' | 'IMMUTABLE' }): void;
}

export interface EcrOptions {
  journal: Journal;
  /** Without a registry on this machine repositories can be made and listed, but hold nothing. */
  registry: Registry | undefined;
  tokens: RegistryTokens;
}

export function createEcrService({ journal, registry, tokens }: EcrOptions): EcrService {
  const repositories = new Repositories(journal);
  const images = registry && new Images(registry, tokens);

  const existing = (name: string | undefined): Repository => {
    const repository = repositories.get(repositoryName(name));
    if (repository === undefined) throw repositoryNotFound(repositoryName(name));
    return repository;
  };
  const view = ({ name, tagMutability, exclusions, createdAtMs }: Repository) => ({
    repositoryArn: repositoryArn(name),
    registryId: ACCOUNT,
    repositoryName: name,
    repositoryUri: `${registry?.host ?? NO_REGISTRY}/${name}`,
    createdAt: createdAtMs / 1000,
    imageTagMutability: tagMutability,
    ...(exclusions.length > 0 && {
      imageTagMutabilityExclusionFilters: exclusions.map((filter) => ({ filterType: 'WILDCARD', filter })),
    }),
  });

  const operations: Record<string, (input: EcrInput, request: AwsRequest) => unknown> = {
    GetAuthorizationToken(_, request) {
      const proxyEndpoint = needed(registry).url;
      const { password, expiresAt } = tokens.passwordFor(signerOf(request));
      const authorizationToken = Buffer.from(`${ECR_USER}:${password}`).toString('base64');
      return {
        authorizationData: [{ authorizationToken, expiresAt: expiresAt.getTime() / 1000, proxyEndpoint }],
      };
    },

    CreateRepository(input) {
      const name = repositoryName(input.repositoryName);
      const repository = { name, ...tagRule(input), createdAtMs: Date.now() };
      if (repositories.insert(repository)) return { repository: view(repository) };
      const message = `The repository with name '${name}' already exists in the registry with id '${ACCOUNT}'`;
      throw new AwsError('RepositoryAlreadyExistsException', message);
    },

    DescribeRepositories(input) {
      const named = input.repositoryNames?.map(existing);
      const { items, nextToken } = page(named ?? repositories.list(), ({ name }) => name, input);
      return { repositories: items.map(view), nextToken };
    },

    DeleteRepository(input) {
      const repository = existing(input.repositoryName);
      if (input.force !== true && images?.isEmpty(repository.name) === false) {
        const message = `The repository with name '${repository.name}' in registry with id '${ACCOUNT}' cannot be deleted because it still contains images`;
        throw new AwsError('RepositoryNotEmptyException', message);
      }
      // First the row: from then on nothing more can be pushed there.
      repositories.delete(repository.name);
      images?.deleteAll(repository.name);
      return { repository: view(repository) };
    },

    ListImages: (input) => needed(images).list(existing(input.repositoryName).name, input),
    DescribeImages: (input) => needed(images).describe(existing(input.repositoryName).name, input),
    BatchGetImage: (input) => needed(images).get(existing(input.repositoryName).name, input),
    BatchDeleteImage: (input) => needed(images).delete(existing(input.repositoryName).name, input),
  };

  const operationOf = (request: AwsRequest) => {
    const name = jsonOperation(request);
    const run = Object.hasOwn(operations, name) ? operations[name] : undefined;
    if (run === undefined)
      throw new AwsError('UnknownOperationException', `There is no ECR operation ${name} here.`);
    return { name, run };
  };

  return {
    scope: 'ecr',
    protocol: 'json-1.1',
    access: (request) => accessTo(operationOf(request).name, jsonBody<EcrInput>(request)),
    handle: async (request) =>
      jsonAnswer(await operationOf(request).run(jsonBody<EcrInput>(request), request)),
    putRepository({ name, tagMutability }) {
      const rule = { name: repositoryName(name), tagMutability, exclusions: [] };
      if (!repositories.insert({ ...rule, createdAtMs: Date.now() })) repositories.setTagRule(rule);
    },
  };
}

/** The session goes into the password; the front door has checked that the request is signed with it. */
function signerOf({ headers }: AwsRequest): { accessKeyId: string; sessionToken?: string } {
  const [, accessKeyId] = /Credential=([^/]+)\//.exec(headers['authorization'] ?? '') ?? [];
  if (accessKeyId === undefined)
    throw new AwsError('MissingAuthenticationTokenException', 'Sign the request.');
  return { accessKeyId, sessionToken: headers['x-amz-security-token'] };
}

function accessTo(operation: string, input: EcrInput): Access[] {
  const action = `ecr:${operation}`;
  if (operation === 'GetAuthorizationToken') return [{ action, resource: '*' }];
  const names =
    operation === 'DescribeRepositories' ? (input.repositoryNames ?? ['*']) : [input.repositoryName ?? ''];
  return names.map((name) => ({ action, resource: repositoryArn(name) }));
}

function needed<T>(part: T | undefined): T {
  if (part !== undefined) return part;
  const message =
    'There is no OCI registry on this machine: install docker-registry and start the platform again.';
  throw new AwsError('ServerException', message, 503);
}
