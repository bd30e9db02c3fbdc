// Where repositories are kept. Pure, because the CDK app reads it too.

import type { Key } from '../platform/data/table.ts';

/** Repositories that were made for projects, one row each. */
export const REPOSITORY_PARTITION = 'REPOSITORIES';

export const repositoryKey = (name: string): Key => ({ pk: REPOSITORY_PARTITION, sk: name });
