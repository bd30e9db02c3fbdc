// Pure, because the CDK app reads it too: a function's role reaches these partitions and no others.

import type { Key } from '../platform/data/table.ts';

export const SELFTEST_PARTITIONS = 'SELFTEST#*';

/** Runs that have not ended, in gsi1, by deadline. An ended run leaves the index. */
export const OPEN_SELFTESTS = 'SELFTESTS#OPEN';

export const runKey = (id: string): Key => ({ pk: `SELFTEST#${id}`, sk: 'RUN' });

export const taskTokenKey = (id: string): Key => ({ pk: `SELFTEST#${id}`, sk: 'TASK_TOKEN' });
