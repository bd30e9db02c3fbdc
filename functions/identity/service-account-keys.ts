// Pure, because the CDK app reads it too: the function's role reaches these partitions and no others. The account
// itself lies where authorization reads it, under SERVICE_ACCOUNT_PARTITIONS of the kernel.

import type { Key } from '../platform/data/table.ts';
import type { ProjectId } from '../platform/ids.ts';
import type { AccountSlug } from '../platform/name.ts';

/** Assertions that were used, until they expire. */
export const ASSERTION_PARTITIONS = 'JTI#*';

/** A project's accounts, in gsi1, by age. */
export const projectAccounts = (projectId: ProjectId): string => `PROJECT#${projectId}#SERVICE_ACCOUNTS`;

/** Held while an account of the project has the slug. */
export const slugKey = (projectId: ProjectId, slug: AccountSlug): Key => ({
  pk: `SERVICE_ACCOUNT#SLUG#${projectId}#${slug}`,
  sk: 'SLUG',
});

export const assertionKey = (claimantId: string, jtiHash: string): Key => ({
  pk: `JTI#${claimantId}#${jtiHash}`,
  sk: 'JTI',
});
