import { ACCOUNT, AwsError } from '../wire/aws.ts';

const PAGE_DEFAULT = 100;
const PAGE_MAX = 1000;
const IMAGE_IDS_MAX = 100;
const EXCLUSIONS_MAX = 5;
const WILDCARDS_MAX = 2;
const REPOSITORY_NAME = /^(?:[a-z0-9]+(?:[._-][a-z0-9]+)*\/)*[a-z0-9]+(?:[._-][a-z0-9]+)*$/;

export type TagMutability = 'MUTABLE' | 'IMMUTABLE' | 'IMMUTABLE_WITH_EXCLUSION';

/** Which tags of an immutable repository may move all the same. */
interface TagExclusion {
  filterType?: string;
  filter?: string;
}

export interface ImageId {
  imageDigest?: string;
  imageTag?: string;
}

/** The union of what the served operations take; each reads its own part, through the checks below. */
export interface EcrInput {
  repositoryName?: string;
  repositoryNames?: string[];
  imageTagMutability?: string;
  imageTagMutabilityExclusionFilters?: TagExclusion[];
  imageIds?: ImageId[];
  filter?: { tagStatus?: 'TAGGED' | 'UNTAGGED' | 'ANY' };
  force?: boolean;
  maxResults?: number;
  nextToken?: string;
}

export function repositoryName(name: string | undefined): string {
  if (typeof name === 'string' && name.length >= 2 && name.length <= 256 && REPOSITORY_NAME.test(name))
    return name;
  throw invalid('repositoryName', `must satisfy regular expression '${REPOSITORY_NAME.source.slice(1, -1)}'`);
}

/** How the tags of a repository behave; the filters come with the one kind that has exclusions, and with no other. */
export function tagRule({ imageTagMutability = 'MUTABLE', imageTagMutabilityExclusionFilters }: EcrInput): {
  tagMutability: TagMutability;
  exclusions: string[];
} {
  const filters = imageTagMutabilityExclusionFilters ?? [];
  if (imageTagMutability === 'MUTABLE' || imageTagMutability === 'IMMUTABLE') {
    if (filters.length === 0) return { tagMutability: imageTagMutability, exclusions: [] };
    throw invalid('imageTagMutabilityExclusionFilters', `must be left out with ${imageTagMutability}`);
  }
  if (imageTagMutability !== 'IMMUTABLE_WITH_EXCLUSION')
    throw invalid('imageTagMutability', 'must be MUTABLE, IMMUTABLE or IMMUTABLE_WITH_EXCLUSION');
  if (filters.length === 0 || filters.length > EXCLUSIONS_MAX)
    throw invalid('imageTagMutabilityExclusionFilters', `must have 1 to ${EXCLUSIONS_MAX} members`);
  return { tagMutability: imageTagMutability, exclusions: filters.map(exclusion) };
}

function exclusion({ filterType, filter = '' }: TagExclusion): string {
  const isPattern = /^[0-9a-zA-Z._*-]{1,128}$/.test(filter) && filter.split('*').length - 1 <= WILDCARDS_MAX;
  if (filterType === 'WILDCARD' && isPattern) return filter;
  throw invalid('imageTagMutabilityExclusionFilters', `must be wildcards with at most ${WILDCARDS_MAX} *`);
}

export function imageIds(ids: ImageId[] | undefined): ImageId[] {
  if (ids === undefined || ids.length === 0 || ids.length > IMAGE_IDS_MAX) {
    throw invalid('imageIds', `must have 1 to ${IMAGE_IDS_MAX} members`);
  }
  if (ids.some((id) => id.imageDigest === undefined && id.imageTag === undefined)) {
    throw invalid('imageIds', 'each must name a digest or a tag');
  }
  return ids;
}

/** One page of things ordered by their key; the key of the last one leads to the next. */
export function page<T>(
  all: T[],
  key: (item: T) => string,
  input: EcrInput,
): { items: T[]; nextToken?: string } {
  const { maxResults = PAGE_DEFAULT, nextToken = '' } = input;
  if (!(maxResults >= 1 && maxResults <= PAGE_MAX)) throw invalid('maxResults', `must be 1 to ${PAGE_MAX}`);
  const rest = all.filter((item) => key(item) > nextToken);
  const items = rest.slice(0, maxResults);
  const last = items.at(-1);
  return rest.length > items.length && last !== undefined ? { items, nextToken: key(last) } : { items };
}

export function repositoryNotFound(name: string): AwsError {
  const message = `The repository with name '${name}' does not exist in the registry with id '${ACCOUNT}'`;
  return new AwsError('RepositoryNotFoundException', message);
}

function invalid(parameter: string, constraint: string): AwsError {
  const message = `Invalid parameter at '${parameter}' failed to satisfy constraint: '${constraint}'`;
  return new AwsError('InvalidParameterException', message);
}
