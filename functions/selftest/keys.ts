// Pure, because the CDK app reads it too: a function's role reaches these partitions and no others.

import type { Key } from '../platform/data/table.ts';
import type { SelftestId } from '../platform/ids.ts';

export const SELFTEST_PARTITIONS = 'SELFTEST#*';

/** Runs that have not ended, in gsi1, by deadline. An ended run leaves the index. */
export const OPEN_SELFTESTS = 'SELFTESTS#OPEN';

export const runKey = (id: SelftestId): Key => ({ pk: `SELFTEST#${id}`, sk: 'RUN' });

export const taskTokenKey = (id: SelftestId): Key => ({ pk: `SELFTEST#${id}`, sk: 'TASK_TOKEN' });
