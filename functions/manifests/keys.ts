// Where submissions are kept; what they lead to is the catalogue's. Pure, because the CDK app reads it too.

import type { Key } from '../platform/data/table.ts';
import type { ProjectId, SubmissionId } from '../platform/ids.ts';

export const SUBMISSION_PARTITIONS = 'SUBMISSION#*';
/** What waits for a reviewer, oldest first. */
export const OPEN_SUBMISSIONS = 'SUBMISSIONS#OPEN';
/** In gsi1. */
export const PROJECT_SUBMISSIONS_PARTITIONS = 'SUBMISSIONS#*';

export const submissionKey = (id: SubmissionId): Key => ({ pk: `SUBMISSION#${id}`, sk: 'SUBMISSION' });
export const submissionManifestKey = (id: SubmissionId): Key => ({ pk: `SUBMISSION#${id}`, sk: 'MANIFEST' });
export const openSubmissionKey = (id: SubmissionId): Key => ({ pk: OPEN_SUBMISSIONS, sk: id });
/** A project's submissions, in gsi1, by age. */
export const projectSubmissionsPartition = (projectId: ProjectId): string => `SUBMISSIONS#${projectId}`;
