// Where submissions are kept; what they lead to is the catalogue's. Pure, because the CDK app reads it too.

import type { Key } from '../platform/data/table.ts';

export const SUBMISSION_PARTITIONS = 'SUBMISSION#*';
/** What waits for a reviewer, oldest first. */
export const OPEN_SUBMISSIONS = 'SUBMISSIONS#OPEN';
/** In gsi1. */
export const PROJECT_SUBMISSIONS_PARTITIONS = 'SUBMISSIONS#*';

export const submissionKey = (id: string): Key => ({ pk: `SUBMISSION#${id}`, sk: 'SUBMISSION' });
export const submissionManifestKey = (id: string): Key => ({ pk: `SUBMISSION#${id}`, sk: 'MANIFEST' });
export const openSubmissionKey = (id: string): Key => ({ pk: OPEN_SUBMISSIONS, sk: id });
/** A project's submissions, in gsi1, by age. */
export const projectSubmissionsPartition = (projectId: string): string => `SUBMISSIONS#${projectId}`;
