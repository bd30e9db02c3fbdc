import type { Refusal } from '../platform/errors.ts';
import * as v from 'valibot';
import { put, replace, putNew, remove, type Write } from '../platform/data/commit.ts';
import { lowerCased, type ProjectId, type SubmissionId } from '../platform/ids.ts';
import { encodeCursor, type PageOf } from '../platform/page.ts';
import { decodeId, type PageAsked, readGathered, readItems } from '../platform/data/rows.ts';
import { type Item, queryPage, readItem } from '../platform/data/table.ts';
import {
  OPEN_SUBMISSIONS,
  openSubmissionKey,
  projectSubmissionsPartition,
  submissionKey,
  submissionManifestKey,
} from './keys.ts';
import type { Manifest } from './manifest.ts';
import type { Registered } from './registration.ts';
import { parseRegistered, registeredKeys } from './registration-store.ts';
import { Submission } from './submission.ts';
import { parseManifestRow } from '../catalog/find-version.ts';
import { refuse } from './problems.ts';

interface FoundSubmission {
  submission: Submission;
  manifest: Manifest;
}

/** Without a project, any project's: for reviewers. Another project's is as unknown as one that never was. */
export async function findSubmission(id: SubmissionId, projectId?: ProjectId): Promise<Submission> {
  return requireOf(projectId, await readItem(submissionKey(lowerCased(id))));
}

/** With its manifest, by one request. */
export async function findSubmissionInFull(
  id: SubmissionId,
  projectId?: ProjectId,
): Promise<FoundSubmission> {
  const key = lowerCased(id);
  const [item, manifest] = await readItems([submissionKey(key), submissionManifestKey(key)]);
  const submission = requireOf(projectId, item);
  return { submission, manifest: parseManifestRow(manifest, submission.manifest_digest) as Manifest };
}

/** With what stands under the names of the manifest that is to take the place of its own, by one request. */
export async function findSubmissionAndRegistered(
  id: SubmissionId,
  projectId: ProjectId,
  manifest: Manifest,
): Promise<{ submission: Submission; registered: Registered[] }> {
  const [item, ...rows] = await readItems([submissionKey(lowerCased(id)), ...registeredKeys([manifest])]);
  return { submission: requireOf(projectId, item), registered: parseRegistered([manifest], rows) };
}

function requireOf(projectId: ProjectId | undefined, item: Record<string, unknown> | undefined): Submission {
  if (!item || (projectId !== undefined && item['project_id'] !== projectId))
    throw refuse('submission.unknown');
  return v.parse(Submission, item);
}

export async function listSubmissionsOf(projectId: ProjectId, page: PageAsked): Promise<PageOf<Submission>> {
  const { items, next_cursor } = await readGathered(
    projectSubmissionsPartition(projectId),
    submissionKey,
    page,
  );
  return { items: items.map((item) => v.parse(Submission, item)), next_cursor };
}

/** What waits for a reviewer, oldest first. */
export async function listWaitingSubmissions({ limit, cursor }: PageAsked): Promise<PageOf<Submission>> {
  const after = decodeId(cursor);
  const { items, next } = await queryPage({
    condition: 'pk = :open',
    values: { ':open': OPEN_SUBMISSIONS },
    limit,
    from: after === undefined ? undefined : { ...openSubmissionKey(after) },
    consistent: true,
  });
  return {
    items: items.map((item) => v.parse(Submission, item)),
    next_cursor: encodeCursor(next?.['sk'] as string | undefined),
  };
}

export function insertSubmission(submission: Submission, manifest: Manifest): Write[] {
  return [putNew(rowOf(submission)), putManifest(submission, manifest), putWaiting(submission)];
}

/** In place of the one that was read; with another manifest, where it was revised. */
export function saveSubmission(
  before: Submission,
  after: Submission,
  stale: Refusal | undefined,
  manifest?: Manifest,
): Write[] {
  return [
    replace(rowOf(after), { version: before.version }, stale),
    ...(manifest ? [putManifest(after, manifest)] : []),
    ...saveWaiting(before, after),
  ];
}

/** The queue of reviewers holds a copy of each submission that waits for one, so that it is one read. */
function saveWaiting(before: Submission, after: Submission): Write[] {
  if (after.status === 'submitted') return [putWaiting(after)];
  if (before.status !== 'submitted') return [];
  const key = openSubmissionKey(before.id);
  return [remove(key, { condition: 'attribute_exists(pk)' })];
}

const rowOf = (submission: Submission): Item => ({
  ...submissionKey(submission.id),
  ...submission,
  gsi1pk: projectSubmissionsPartition(submission.project_id),
  gsi1sk: submission.id,
});

const putWaiting = (submission: Submission): Write =>
  put({ ...openSubmissionKey(submission.id), ...submission });

const putManifest = ({ id, manifest_digest }: Submission, manifest: Manifest): Write =>
  put({ ...submissionManifestKey(id), digest: manifest_digest, manifest });
